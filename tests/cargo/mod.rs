//! The workspace as cargo sees it.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// A file of the workspace.
pub(crate) fn read(file: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
}

/// What cargo prints in the workspace's folder.
pub(crate) fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{messages}");
    String::from_utf8(output.stdout).unwrap()
}

/// The packages that `cargo metadata` lists with these arguments: those of the lock file, for whatever platform, unless they
/// say otherwise.
pub(crate) fn packages(arguments: &[&str]) -> Vec<Value> {
    let fixed = ["metadata", "--format-version", "1", "--locked"];
    let mut metadata: Value =
        serde_json::from_str(&cargo(&[&fixed[..], arguments].concat())).unwrap();
    serde_json::from_value(metadata["packages"].take()).unwrap()
}

/// The three parts of a version, such as `1.85`.
pub(crate) fn version(text: &str) -> [u64; 3] {
    let mut parts = text.split('.').map(|part| part.parse().unwrap());
    std::array::from_fn(|_| parts.next().unwrap_or(0))
}

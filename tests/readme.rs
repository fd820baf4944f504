//! What README.md tells its readers to paste compiles in a project that holds nothing else.

#![allow(clippy::unwrap_used, reason = "this is test code")]

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn the_snippets_compile_in_an_empty_project() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let mut dependencies = blocks(&readme, "toml");
    // The profiles for tests are no dependencies.
    dependencies.retain(|block| block.contains("kneepoint = "));
    let snippets = blocks(&readme, "rust");
    assert_eq!(dependencies.len(), 1, "one block of dependencies");
    assert!(!snippets.is_empty());

    let project = Path::new(env!("CARGO_TARGET_TMPDIR")).join("readme");
    fs::create_dir_all(project.join("src")).unwrap();
    let manifest = manifest(&dependencies[0], root);
    fs::write(project.join("Cargo.toml"), manifest).unwrap();
    // The versions that are tested and already there, so that nothing has to be looked up.
    fs::copy(root.join("Cargo.lock"), project.join("Cargo.lock")).unwrap();
    let mut library = String::new();
    for (number, snippet) in snippets.iter().enumerate() {
        fs::write(project.join(format!("src/snippet_{number}.rs")), snippet).unwrap();
        writeln!(library, "pub mod snippet_{number};").unwrap();
    }
    fs::write(project.join("src/lib.rs"), library).unwrap();

    let output = Command::new(env!("CARGO"))
        .args(["check", "--offline", "--quiet"])
        .current_dir(&project)
        // Not the directory that a test run may have been given: it is locked by none, and stays small.
        .env("CARGO_TARGET_DIR", project.join("target"))
        .output()
        .unwrap();
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{messages}");
}

/// The fenced blocks of a language.
fn blocks(markdown: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    let rest = markdown.split(&fence).skip(1);
    rest.map(|rest| rest.split("```").next().unwrap().to_owned())
        .collect()
}

/// The manifest that a reader has, with this checkout for what is published, and with the features of quinn that the lock
/// file has dependencies for.
fn manifest(dependencies: &str, root: &Path) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let mut manifest = String::from(
        "[package]\nname = \"readme\"\nedition = \"2024\"\n\n# Not a member of the workspace around it.\n[workspace]\n\n",
    );
    for line in dependencies.lines() {
        let line = match line.split_once(" = ") {
            Some(("kneepoint", asked)) => {
                // The repository, or a version once there is one.
                let repository = format!("{{ git = \"{}\" }}", env!("CARGO_PKG_REPOSITORY"));
                let is_version = version.starts_with(asked.trim_matches('"'));
                assert!(asked == repository || is_version, "{asked}");
                // A literal string: paths of Windows have backslashes.
                format!("kneepoint = {{ path = '{}' }}", root.display())
            }
            Some(("quinn", asked)) => format!(
                "quinn = {{ version = {asked}, default-features = false, features = [\"rustls-ring\", \"runtime-tokio\"] }}"
            ),
            Some(other) => {
                panic!("README.md has a dependency that the test does not know: {other:?}")
            }
            None => line.to_owned(),
        };
        writeln!(manifest, "{line}").unwrap();
    }
    manifest
}

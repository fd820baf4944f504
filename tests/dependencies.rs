//! A change of Cargo.lock must not bring in a dependency that needs a newer Rust than we promise, another licence, or a
//! second version of a crate. docs/DEPENDENCIES.md is cargo's output.

#![allow(clippy::unwrap_used, reason = "this is test code")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn read(file: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
}

fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{messages}");
    String::from_utf8(output.stdout).unwrap()
}

/// All packages of the lock file, for whatever platform.
fn packages() -> Vec<Value> {
    let metadata = cargo(&["metadata", "--format-version", "1", "--locked"]);
    let mut metadata: Value = serde_json::from_str(&metadata).unwrap();
    let packages: Vec<Value> = serde_json::from_value(metadata["packages"].take()).unwrap();
    assert!(packages.len() > 50);
    packages
}

fn name(package: &Value) -> String {
    format!("{} {}", package["name"], package["version"]).replace('"', "")
}

#[test]
fn no_dependency_needs_a_newer_rust() {
    let version = |text: &str| -> Vec<u64> {
        let parts = text.split('.').map(|part| part.parse().unwrap());
        parts.chain([0, 0, 0]).take(3).collect()
    };
    let promised = env!("CARGO_PKG_RUST_VERSION");
    for package in packages() {
        if let Some(needed) = package["rust_version"].as_str() {
            assert!(
                version(needed) <= version(promised),
                "{}: {needed}",
                name(&package)
            );
        }
    }
}

#[test]
fn every_licence_is_allowed() {
    let allowed = strings_of("allow = [");
    assert!(allowed.contains("MIT"));
    // "/" is the old way to write OR. AND binds closer, and parentheses are around ORs that are part of an AND.
    let holds = |expression: &str| {
        let any = |licences: &str| {
            let alternatives = licences.split(" OR ");
            alternatives
                .map(str::trim)
                .any(|licence| allowed.contains(licence))
        };
        match expression.contains(" AND ") {
            true => expression
                .split(" AND ")
                .all(|part| any(part.trim_matches(['(', ')']))),
            false => any(expression),
        }
    };
    for package in packages() {
        let licence = package["license"].as_str().unwrap_or("none");
        assert!(
            holds(&licence.replace('/', " OR ")),
            "{}: {licence}",
            name(&package)
        );
    }
}

#[test]
fn only_known_packages_are_there_twice() {
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in packages() {
        let version = package["version"].as_str().unwrap().to_owned();
        let versions = versions.entry(package["name"].as_str().unwrap().to_owned());
        versions.or_default().insert(version);
    }
    let twice = versions.iter().filter(|(_, versions)| versions.len() > 1);
    let twice: BTreeSet<&str> = twice.map(|(name, _)| name.as_str()).collect();
    let skipped = strings_of("skip = [");
    let skipped = skipped.iter().map(|skip| skip.split('@').next().unwrap());
    assert_eq!(twice, skipped.collect());
}

/// The strings of one list of deny.toml.
fn strings_of(list: &str) -> BTreeSet<String> {
    let file = read("deny.toml");
    let begin = file.split(list).nth(1).unwrap();
    let lines = begin.lines().take_while(|line| *line != "]");
    let strings = lines.filter(|line| !line.trim_start().starts_with('#'));
    strings
        .filter_map(|line| line.split('"').nth(1).map(str::to_owned))
        .collect()
}

#[test]
fn the_documented_tree_is_cargos() {
    let tree = cargo(&[
        "tree",
        "--package",
        "kneepoint",
        "--edges",
        "normal",
        "--target",
        "x86_64-unknown-linux-gnu",
        "--format",
        "{lib}",
        "--locked",
    ]);
    let documented = read("docs/DEPENDENCIES.md");
    let documented = documented.split("```text\n").nth(1).unwrap();
    assert_eq!(documented.split("```").next().unwrap(), tree);
}

//! A change of Cargo.lock must not bring in a dependency that needs a newer Rust than we promise, another licence, or a
//! second version of a crate. docs/DEPENDENCIES.md is cargo's output.

#![allow(clippy::unwrap_used, reason = "this is test code")]

mod cargo;

use std::collections::{BTreeMap, BTreeSet};

use cargo::{cargo, read, version};
use serde_json::Value;

/// What the tests and benches of the workspace need, because of statrs. tests/packages.rs has what the packages need.
const RUST: &str = "1.89";

/// All packages of the lock file, for whatever platform.
fn packages() -> Vec<Value> {
    let packages = cargo::packages(&[]);
    assert!(packages.len() > 50);
    packages
}

fn name(package: &Value) -> String {
    format!("{} {}", package["name"], package["version"]).replace('"', "")
}

#[test]
fn no_dependency_needs_a_newer_rust() {
    for package in packages() {
        if let Some(needed) = package["rust_version"].as_str() {
            assert!(
                version(needed) <= version(RUST),
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

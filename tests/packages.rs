//! What is published: each package's fields, licences and README, and the Rust that it promises to compile with.

#![allow(clippy::unwrap_used, reason = "this is test code")]

mod cargo;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use cargo::{cargo, packages, read, version};
use serde_json::Value;

/// The packages of the workspace by name.
fn members() -> BTreeMap<String, Value> {
    let members = packages(&["--no-deps"]);
    assert_eq!(members.len(), 8);
    let named = |member: Value| (text(&member, "name").to_owned(), member);
    members.into_iter().map(named).collect()
}

fn text<'a>(package: &'a Value, field: &str) -> &'a str {
    let text = package[field].as_str();
    text.unwrap_or_else(|| panic!("{}: no {field}", package["name"]))
}

/// The folder of a package.
fn folder(package: &Value) -> &Path {
    let manifest = Path::new(text(package, "manifest_path"));
    manifest.parent().unwrap()
}

fn is_published(package: &Value) -> bool {
    package["publish"].is_null()
}

#[test]
fn every_package_has_the_fields_that_a_registry_shows() {
    for (name, package) in members() {
        for field in ["description", "license", "repository", "rust_version"] {
            assert!(!text(&package, field).is_empty(), "{name}: {field}");
        }
        assert_eq!(text(&package, "license"), "MIT OR Apache-2.0", "{name}");
        assert_eq!(text(&package, "readme"), "README.md", "{name}");
        if !is_published(&package) {
            continue;
        }
        // The command's documentation is its help.
        let all_features = &package["metadata"]["docs"]["rs"]["all-features"];
        assert!(name == "kneepoint-lab" || *all_features == true, "{name}");
        let words = |field: &str| -> Vec<String> {
            serde_json::from_value(package[field].clone()).unwrap()
        };
        let (keywords, categories) = (words("keywords"), words("categories"));
        assert!((1..=5).contains(&keywords.len()), "{name}: {keywords:?}");
        assert!(
            (1..=5).contains(&categories.len()),
            "{name}: {categories:?}"
        );
        // The registry takes no longer ones.
        assert!(
            keywords.iter().all(|word| word.len() <= 20),
            "{name}: {keywords:?}"
        );
    }
}

#[test]
fn every_package_holds_its_licences_and_a_readme() {
    for (name, package) in members() {
        let list = cargo(&[
            "package",
            "--list",
            "--allow-dirty",
            "--locked",
            "--package",
            &name,
        ]);
        for file in ["LICENSE-MIT", "LICENSE-APACHE", "README.md"] {
            assert!(list.lines().any(|line| line == file), "{name}: no {file}");
            if cfg!(unix) && file.starts_with("LICENSE") {
                // A link, of which cargo packages the content.
                let packaged = fs::read_to_string(folder(&package).join(file)).unwrap();
                assert_eq!(packaged, read(file), "{name}: {file}");
            }
        }
    }
}

#[test]
fn the_address_stands_in_one_place() {
    let members = members();
    let address = text(&members["kneepoint"], "repository");
    for (name, package) in &members {
        assert_eq!(text(package, "repository"), address, "{name}");
    }
    let git = format!("git = \"{address}\"");
    assert!(read("README.md").contains(&git), "README.md has no {git}");
}

/// The workspace's own packages ask for the features of all crates, so that no other test sees what a user of one package has.
#[test]
fn networks_and_hosts_are_read_with_the_features_of_one_package() {
    let tree = cargo(&[
        "tree",
        "--locked",
        "--package",
        "kneepoint",
        "--features",
        "emulator,serde",
        "--edges",
        "normal",
        "--format",
        "{p} {f}",
    ]);
    let mut lines = tree.lines();
    let emulator = lines.find(|line| line.contains("kneepoint-emulator"));
    assert!(emulator.unwrap().contains("serde"), "{tree}");
}

#[test]
fn the_version_to_cite_is_this_one() {
    let line = format!("version: {}", env!("CARGO_PKG_VERSION"));
    let citation = read("CITATION.cff");
    assert!(citation.lines().any(|cited| cited == line), "no {line}");
}

#[test]
fn no_dependency_of_a_library_needs_a_newer_rust() {
    let rust: BTreeMap<String, String> = packages(&[])
        .iter()
        .filter_map(|package| {
            let rust = package["rust_version"].as_str()?.to_owned();
            let (name, version) = (text(package, "name"), text(package, "version"));
            Some((format!("{name} v{version}"), rust))
        })
        .collect();
    for (name, package) in &members() {
        let promised = text(package, "rust_version");
        let tree = cargo(&[
            "tree",
            "--locked",
            "--package",
            name,
            "--all-features",
            "--edges",
            "normal,build",
            "--target",
            "all",
            "--prefix",
            "none",
            "--format",
            "{p}",
        ]);
        assert!(tree.lines().count() > 1);
        for line in tree.lines() {
            // What follows is a path, or the mark of a repetition.
            let package: Vec<&str> = line.split(' ').take(2).collect();
            let needed = rust.get(&package.join(" "));
            assert!(
                needed.is_none_or(|needed| version(needed) <= version(promised)),
                "{name} promises {promised}, and {line} needs {needed:?}"
            );
        }
    }
}

//! The built command: what the tests of its contract share.
//!
//! Test crates share this module: `mod command;` in `tests/NAME.rs`. Arguments are words with one space between them.

#![allow(dead_code, reason = "each test crate uses a part of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// The command, which nobody types to.
pub(crate) fn kneepoint(directory: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kneepoint"));
    command
        .current_dir(directory)
        .args(arguments.split(' ').filter(|word| !word.is_empty()))
        .stdin(Stdio::null());
    command
}

/// Where tests that write nothing run.
pub(crate) fn anywhere() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

/// An empty directory of a test's own, with these files.
pub(crate) fn directory(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let path = anywhere().join(name);
    if path.exists() {
        fs::remove_dir_all(&path).expect("the directory can be emptied");
    }
    fs::create_dir_all(&path).expect("the directory can be made");
    for (name, text) in files {
        fs::write(path.join(name), text).expect("the file can be written");
    }
    path
}

/// What a successful command prints. Nothing may go to stderr, which is no terminal here.
pub(crate) fn stdout(directory: &Path, arguments: &str) -> String {
    let output = output(directory, arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments}: {errors}");
    assert_eq!(errors, "", "{arguments}");
    String::from_utf8(output.stdout).expect("the output is UTF-8")
}

/// What a successful command prints with `--format json`: one value on each line.
pub(crate) fn json(directory: &Path, arguments: &str) -> Vec<Value> {
    stdout(directory, &format!("{arguments} --format json"))
        .lines()
        .map(|line| serde_json::from_str(line).expect("every line is one JSON value"))
        .collect()
}

/// The one line of a command that blames its input. It has all of these parts.
pub(crate) fn refused(directory: &Path, arguments: &str, parts: &[&str]) {
    let output = output(directory, arguments);
    let message = String::from_utf8(output.stderr).expect("the message is UTF-8");
    assert_eq!(output.status.code(), Some(2), "{arguments}: {message}");
    assert_eq!(output.stdout, b"", "{arguments}");
    assert_eq!(message.lines().count(), 1, "{arguments}: {message}");
    assert!(message.starts_with("kneepoint: "), "{message}");
    assert!(!message.trim_end().contains(char::is_control), "{message}");
    for part in parts {
        assert!(message.contains(part), "{part} is missing in: {message}");
    }
}

/// Every line is `ARGUMENTS => PART | PART`: a command, and parts of the one line that [blames](refused) its input.
pub(crate) fn all_refused(directory: &Path, cases: &str) {
    for case in cases.trim().lines() {
        let (arguments, parts) = case.split_once(" => ").expect("a command and parts");
        refused(
            directory,
            arguments,
            &parts.split(" | ").collect::<Vec<_>>(),
        );
    }
}

fn output(directory: &Path, arguments: &str) -> Output {
    let mut command = kneepoint(directory, arguments);
    command.output().expect("the command starts")
}

//! The command's exit codes, as docs/OPERATING.md lists them, and who is blamed.

#![cfg(unix)]

mod command;

use std::fs;
use std::path::Path;
use std::process::Stdio;

use command::{all_refused, anywhere, directory, kneepoint};

/// The exit code, what was printed, and the message on stderr.
fn ended(directory: &Path, arguments: &str) -> (Option<i32>, String, String) {
    let output = kneepoint(directory, arguments).output();
    let output = output.expect("the command starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_a_failure_and_a_wrong_name_is_refused() {
    let directory = directory("exit-codes", &[("a.trace", "1\n2\n")]);
    let compare = "compare --rate 5Mbps --duration 1s --controllers cubic";
    let relay = "relay --listen 127.0.0.1:0 --to 127.0.0.1:9 --duration 10ms --stats off";
    for (command, option) in [
        ("trace convert a.trace", "--out"),
        ("trace generate --profile 3g --duration 1s", "--out"),
        (compare, "--html"),
        (relay, "--json"),
    ] {
        let (code, _, errors) = ended(&directory, &format!("{command} {option} /dev/full"));
        assert_eq!(code, Some(1), "{command}: {errors}");
        let reason = format!("kneepoint: {option}: cannot write /dev/full: No space left");
        let last = errors.lines().last().unwrap_or_default();
        assert!(last.starts_with(&reason), "{errors}");
        let (code, _, errors) = ended(&directory, &format!("{command} {option} absent/x"));
        assert_eq!(code, Some(2), "{command}: {errors}");
        let reason = format!("kneepoint: {option}: cannot write absent/x: No such file");
        assert!(errors.starts_with(&reason), "{errors}");
    }
}

/// The summary is what the run was for.
#[test]
#[cfg(target_os = "linux")]
fn a_summary_that_cannot_be_written_is_printed_all_the_same() {
    let relay = "relay --listen 127.0.0.1:0 --to 127.0.0.1:9 --duration 10ms --stats off";
    let (code, printed, errors) = ended(anywhere(), &format!("{relay} --json /dev/full"));
    assert_eq!(code, Some(1), "{errors}");
    assert!(printed.contains("up: 0 packets received"), "{printed}");
}

#[test]
#[cfg(target_os = "linux")]
fn output_that_nobody_can_read_is_a_failure_and_a_reader_that_has_gone_is_none() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full");
    let status = kneepoint(anywhere(), "controllers")
        .stdout(full.expect("there is such a device"))
        .stderr(Stdio::null())
        .status();
    assert_eq!(status.expect("it starts").code(), Some(1));
    let mut command = kneepoint(anywhere(), "controllers")
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    drop(command.stdout.take());
    assert_eq!(command.wait().expect("it ends").code(), Some(0));
}

#[test]
fn a_file_of_two_options_is_refused() {
    let directory = directory("exit-codes-shared", &[("old.json", "{}")]);
    fs::create_dir(directory.join("sub")).expect("it can be made");
    let relay = "relay --listen 127.0.0.1:0 --to 127.0.0.1:9 --duration 10ms";
    let cases = format!(
        "{relay} --pcap x --json x => --json | --pcap writes x too
{relay} --pcap x --json sub/../x => --json | --pcap writes sub/../x too
{relay} --pcap old.json --json ./old.json => --json | --pcap writes ./old.json too
{relay} --log x --pcap x.up => --pcap | --log writes x.up too
{relay} --log x --json x.down => --json | --log writes x.down too"
    );
    all_refused(&directory, &cases);
    assert_eq!(fs::read(directory.join("old.json")).expect("it is"), b"{}");
    assert_eq!(fs::read_dir(&directory).expect("it is there").count(), 2);
    let (code, _, errors) = ended(
        &directory,
        &format!("{relay} --pcap /dev/null --json /dev/null"),
    );
    assert_eq!(code, Some(0), "{errors}");
}

#[test]
fn the_help_lists_them() {
    let (_, help, _) = ended(anywhere(), "--help");
    for part in [
        "Exit codes:",
        "1    failed",
        "2    refused",
        "130  interrupted",
    ] {
        assert!(help.contains(part), "{part}: {help}");
    }
}

//! The qlog files of `compare` and of `kneepoint qlog`, as qvis reads them.

mod command;

use std::fs;
use std::path::Path;

use command::{all_refused, anywhere, directory, kneepoint, stdout};
use serde_json::Value;

const SEPARATOR: char = '\u{1e}';

fn records(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("the file was written");
    text.split(SEPARATOR)
        .filter(|record| !record.trim().is_empty())
        .map(|record| serde_json::from_str(record).expect("a record is JSON"))
        .collect()
}

fn named<'a>(records: &'a [Value], name: &str) -> Vec<&'a Value> {
    records
        .iter()
        .filter(|record| record["name"] == name)
        .collect()
}

/// qvis' congestion diagram counts packets that have `raw.length`, draws the metrics in milliseconds, and shows a group at a time.
#[test]
fn qvis_finds_packets_times_and_one_group() {
    let directory = directory("qlog-for-qvis", &[]);
    stdout(
        &directory,
        "compare --controllers knee --rate 10Mbps --rtt 40ms --duration 2s --qlog logs",
    );
    let records = records(&directory.join("logs/10Mbps-knee-seed1-flow1.sqlog"));
    assert_eq!(records[0]["qlog_version"], "0.3");
    assert_eq!(records[0]["qlog_format"], "JSON-SEQ");
    assert_eq!(records[0]["trace"]["vantage_point"]["type"], "client");
    let sent = named(&records, "transport:packet_sent");
    assert!(sent.len() > 500, "{}", sent.len());
    for packet in sent {
        let size = packet["data"]["raw"]["length"].as_u64();
        assert!(size.is_some_and(|size| size > 0), "{packet}");
    }
    let last = named(&records, "recovery:metrics_updated")
        .into_iter()
        .rev()
        .find_map(|event| event["data"]["min_rtt"].as_f64());
    assert!(
        last.is_some_and(|rtt| (40.0..45.0).contains(&rtt)),
        "{last:?}"
    );
    assert!(records.iter().all(|record| record["group_id"].is_null()));
    let times: Vec<f64> = records
        .iter()
        .filter_map(|record| record["time"].as_f64())
        .collect();
    assert!(times.is_sorted(), "qvis warns of events out of order");
}

/// On a full disk.
#[test]
#[cfg(target_os = "linux")]
fn a_qlog_that_is_cut_off_is_an_error() {
    let directory = directory("qlog-full", &[]);
    let file = "logs/5Mbps-knee-seed1-flow1.sqlog";
    fs::create_dir(directory.join("logs")).expect("it can be made");
    std::os::unix::fs::symlink("/dev/full", directory.join(file)).expect("it can be linked");
    let arguments = "compare --controllers knee --rate 5Mbps --duration 1s --qlog logs";
    let output = kneepoint(&directory, arguments).output();
    let output = output.expect("the command starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    for part in ["--qlog", file, "No space left"] {
        assert!(errors.contains(part), "{part}: {errors}");
    }
}

/// Only a qlog that is complete has its name, and an old one stays until then.
#[test]
#[cfg(unix)]
fn an_interrupted_run_leaves_no_qlog_that_looks_complete() {
    let directory = directory("qlog-interrupted", &[]);
    fs::create_dir(directory.join("logs")).expect("it can be made");
    let name = "50Mbps-knee-seed1-flow1.sqlog";
    fs::write(directory.join("logs").join(name), "old").expect("it can be written");
    let arguments = "compare --controllers knee --rate 50Mbps --duration 600s --qlog logs";
    let mut command = kneepoint(&directory, arguments)
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("the command starts");
    let names = || -> Vec<String> {
        let files = fs::read_dir(directory.join("logs")).expect("it is there");
        let names = files.filter_map(Result::ok).map(|file| file.file_name());
        names
            .map(|name| name.to_string_lossy().into_owned())
            .collect()
    };
    while names().len() < 2 && command.try_wait().expect("it can be asked").is_none() {
        std::thread::yield_now();
    }
    command.kill().expect("it still runs");
    command.wait().expect("it ends");
    let other = names().into_iter().find(|other| other != name);
    let other = other.expect("a file was begun");
    assert!(
        other.starts_with(name) && other.ends_with(".part"),
        "{other}"
    );
    let old = fs::read_to_string(directory.join("logs").join(name)).expect("it is there");
    assert_eq!(old, "old");
}

#[test]
fn a_file_of_quinns_is_mended_in_place_and_only_once() {
    let plain = "\u{1e}{\"qlog_version\":\"0.3\",\"qlog_format\":\"JSON-SEQ\",\"trace\":{}}\n\
                 \u{1e}{\"time\":0,\"name\":\"recovery:metrics_updated\",\"data\":{\"min_rtt\":0.04}}\n";
    let directory = directory("qlog-mended", &[("a.sqlog", plain), ("b.txt", "no qlog\n")]);
    for _ in 0..2 {
        stdout(&directory, "qlog a.sqlog --out a.sqlog");
        let records = records(&directory.join("a.sqlog"));
        assert_eq!(records[1]["data"]["min_rtt"], 40.0);
    }
    all_refused(
        &directory,
        "qlog b.txt --out c.sqlog => kneepoint: b.txt:1: | qlog_version
qlog a.sqlog --out nowhere/c.sqlog => --out | nowhere",
    );
    all_refused(anywhere(), "qlog absent.sqlog --out x => absent.sqlog");
    assert!(!directory.join("c.sqlog").exists());
}

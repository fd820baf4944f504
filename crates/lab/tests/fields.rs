//! docs/FIELDS.md lists the fields that the command writes: all of them, in their order, and no others.

mod command;

use std::fs;
use std::net::UdpSocket;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use command::{anywhere, directory, json, kneepoint, stdout};
use serde_json::Value;

/// The names in the first cells of the table below this heading, or below this sentence.
fn listed(place: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/FIELDS.md");
    let page = fs::read_to_string(path).expect("the page exists");
    let (_, rest) = page.split_once(place).expect("the page has the place");
    let table: Vec<&str> = rest
        .lines()
        .skip_while(|line| !line.starts_with('|'))
        .take_while(|line| line.starts_with('|'))
        .skip(2)
        .collect();
    assert!(!table.is_empty(), "{place}");
    table
        .iter()
        .filter_map(|row| row.split('|').nth(1))
        .flat_map(|cell| cell.split(','))
        .map(|name| name.trim().trim_matches('`').to_owned())
        .collect()
}

/// An object's fields, sorted as [`listed`] are for a comparison: parsed JSON does not keep its order.
fn fields(value: &Value) -> Vec<String> {
    let object = value.as_object().expect("an object");
    let mut names: Vec<String> = object.keys().cloned().collect();
    names.sort();
    names
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names
}

#[test]
fn those_of_compare_are_listed() {
    let arguments = "compare --controllers knee --rate 5Mbps --duration 1s";
    let rows = json(anywhere(), arguments);
    assert_eq!(fields(&rows[0]), sorted(listed("## Compare: a run")));
    let flow = listed("## Compare: a flow of a run");
    assert_eq!(fields(&rows[0]["flows"][0]), sorted(flow));

    let csv = stdout(anywhere(), &format!("{arguments} --format csv"));
    let mut columns = listed("## Compare: a run");
    columns.retain(|name| name != "flows");
    assert_eq!(csv.lines().next(), Some(columns.join(",").as_str()));
}

#[test]
fn those_of_several_seeds_are_listed() {
    let arguments = "compare --controllers knee --rate 5Mbps --duration 1s --seeds 2";
    let rows = json(anywhere(), arguments);
    let names = listed("## Compare with several seeds");
    assert_eq!(fields(&rows[0]), sorted(names));
    let estimate = listed("## An estimate");
    assert_eq!(fields(&rows[0]["utilization"]), sorted(estimate.clone()));
    let csv = stdout(anywhere(), &format!("{arguments} --format csv"));
    let header = csv.lines().next().expect("a header");
    for name in estimate {
        assert!(header.contains(&format!("utilization_{name}")), "{header}");
    }
}

#[test]
fn those_of_series_are_listed() {
    let directory = directory("fields-of-series", &[]);
    stdout(
        &directory,
        "compare --controllers knee --rate 5Mbps --duration 1s --series series",
    );
    for (place, end) in [
        ("`LINK-CONTROLLER.csv`", "-knee.csv"),
        ("`LINK-CONTROLLER-windows.csv`", "-windows.csv"),
        ("`LINK-scatter.csv`", "-scatter.csv"),
    ] {
        let file = fs::read_dir(directory.join("series"))
            .expect("the directory was made")
            .filter_map(Result::ok)
            .find(|file| file.file_name().to_string_lossy().ends_with(end))
            .expect("the file was written");
        let text = fs::read_to_string(file.path()).expect("it can be read");
        let header = text.lines().next();
        assert_eq!(header, Some(listed(place).join(",").as_str()), "{place}");
    }
}

/// The record of the first run that a sweep keeps.
fn record(name: &str, arguments: &str) -> Value {
    let directory = directory(name, &[]);
    stdout(&directory, &format!("{arguments} --out runs"));
    let text = fs::read_to_string(directory.join("runs/runs.jsonl")).expect("runs were kept");
    let line = text.lines().next().expect("a run was kept");
    let mut line: Value = serde_json::from_str(line).expect("it is JSON");
    line["result"].take()
}

#[test]
fn those_of_frontier_are_listed() {
    let arguments = "frontier --controllers knee --family transfers --scenario 10kB";
    let record = record("fields-of-frontier", arguments);
    assert_eq!(fields(&record), sorted(listed("## Frontier: a run")));
}

#[test]
fn those_of_torture_are_listed() {
    let arguments = "torture --controllers cubic --faults blackouts --scenario 0.2s --host ideal";
    let record = record("fields-of-torture", arguments);
    assert_eq!(fields(&record), sorted(listed("## Torture: a run")));
}

#[test]
fn those_of_the_relay_are_listed() {
    let directory = directory("fields-of-the-relay", &[]);
    let relay = "relay --listen 127.0.0.1:0 --to 127.0.0.1:9 --duration 10ms --stats off";
    let ended = kneepoint(&directory, &format!("{relay} --json end.json")).output();
    assert!(ended.expect("it runs").status.success());
    let text = fs::read_to_string(directory.join("end.json")).expect("there is a file");
    let summary: Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(fields(&summary), sorted(listed("## Relay: a run")));
    let lane = listed("the links to and from the server");
    assert_eq!(fields(&summary["up"]), sorted(lane));
    let drops = listed("| `lateness_us`, `waited_us` |");
    assert_eq!(fields(&summary["up"]["drops"]), sorted(drops));
}

/// Half of what comes to the link is lost.
#[test]
#[expect(clippy::disallowed_methods, reason = "processes run in real time")]
fn those_of_the_relays_log_are_listed() {
    let directory = directory("fields-of-the-log", &[]);
    let relay = "relay --to 127.0.0.1:9 --duration 400ms --stats off --up-loss 50% --up 1Mbps";
    for format in ["csv", "json"] {
        // A port that was free a moment ago.
        let listen = UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
        let listen = listen.expect("there is a port");
        let log = format!("{relay} --listen {listen} --log {format} --log-format {format}");
        let mut running = kneepoint(&directory, &log)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the command starts");
        let socket = UdpSocket::bind("127.0.0.1:0").expect("there is a socket");
        while running.try_wait().expect("it can be asked").is_none() {
            // Nobody may listen yet.
            let _ = socket.send_to(b"hello", listen);
            thread::sleep(Duration::from_millis(5));
        }
    }
    let csv = fs::read_to_string(directory.join("csv.up")).expect("there is a log");
    let columns = listed("With `--log-format csv`");
    assert_eq!(csv.lines().next(), Some(columns.join(",").as_str()));
    let json = fs::read_to_string(directory.join("json.up")).expect("there is a log");
    let events = json.lines().map(serde_json::from_str);
    let events: Vec<Value> = events.collect::<Result<_, _>>().expect("lines are JSON");
    let mut names: Vec<String> = events.iter().flat_map(fields).collect();
    names.sort();
    names.dedup();
    assert_eq!(names, sorted(listed("With `--log-format json`")));
}

#[test]
fn those_of_the_list_of_controllers_are_listed() {
    let list = json(anywhere(), "controllers");
    let names = listed("## The list of controllers");
    assert_eq!(fields(&list[0]), sorted(names));
}

#[test]
fn those_of_statistics_are_listed() {
    let log = "# base timestamp: 0\n0 # 1504\n0 + 1504\n1 - 1504 1\n1 # 1504\n";
    let directory = directory(
        "fields-of-statistics",
        &[("a.trace", "1\n2\n"), ("a.log", log)],
    );
    let trace = json(&directory, "trace stats a.trace");
    assert_eq!(fields(&trace[0]), sorted(listed("## Trace statistics")));
    let log = json(&directory, "log stats a.log");
    assert_eq!(fields(&log[0]), sorted(listed("## Log statistics")));
}

//! `kneepoint torture`: the recommended controllers keep to their bounds after faults, beside each other and over long paths.

use std::fs;
use std::path::Path;

use kneepoint_emulator::host::HostConfig;
use kneepoint_lab::cli::{CliError, run};
use kneepoint_lab::sweep::make_all;
use kneepoint_lab::torture::pairs::min_share;
use kneepoint_lab::torture::transfers::transfers;
use kneepoint_lab::torture::{Fault, Job, Record, cases};
use serde_json::Value;

const RECOMMENDED: [&str; 3] = ["knee", "cubic", "bbr3"];

fn kneepoint(arguments: &[&str]) -> Result<String, CliError> {
    let mut out = Vec::new();
    let arguments = ["kneepoint", "torture"].iter().chain(arguments);
    run(arguments.map(Into::into), &mut out)?;
    Ok(String::from_utf8(out).expect("text"))
}

/// What became of each recommended controller in the cases of these names.
fn records(fault: Fault, names: &[&str]) -> Vec<Record> {
    let mut cases = cases();
    cases.retain(|case| case.fault == fault && names.contains(&case.name.as_str()));
    assert_eq!(cases.len(), names.len());
    let host = HostConfig::ideal();
    let job = |case| {
        let host = &host;
        RECOMMENDED.map(move |controller| Job {
            case,
            host,
            controller,
        })
    };
    let jobs: Vec<Job<'_>> = cases.iter().flat_map(job).collect();
    make_all(&jobs, &|_| ()).expect("they run")
}

#[test]
fn a_link_that_comes_back_is_full_again() {
    let records = records(Fault::Blackouts, &["5s held", "5s dropped"]);
    assert_eq!(records.len(), 6);
    for record in records {
        assert_eq!(
            (record.kept, &record.closed),
            (Some(true), &None),
            "{record:?}"
        );
    }
}

/// The buffer holds 100 of the slow link's BDP. `cubic` fills whatever buffer there is. `bbr3` forgets a rate after two cycles, each of
/// which has rounds of 4 s then. Both keep the queue, by design.
#[test]
fn a_rate_that_changes_by_a_hundred_is_followed() {
    for record in records(Fault::Rate, &["1Mbps to 100Mbps", "100Mbps to 1Mbps"]) {
        let by_design = record.controller != "knee" && record.scenario == "100Mbps to 1Mbps";
        assert_eq!(record.kept, Some(!by_design), "{record:?}");
        assert_eq!(record.closed, None, "{record:?}");
    }
}

/// Trap: what a path of 600 ms held is a queue once the path has 10 ms, and no packet shows that while the window is full.
#[test]
fn a_path_that_becomes_shorter_has_no_queue_in_the_end() {
    for record in records(Fault::Rtt, &["10 to 600ms and back, 20Mbps"]) {
        // `cubic` fills the buffer. `bbr3` has its queue to the end of the run as well.
        let short = record.calm_rtts.is_some();
        assert_eq!(short, record.controller == "knee", "{record:?}");
    }
}

#[test]
fn neighbours_leave_each_other_a_share() {
    let pairs = [("knee", "quinn-cubic"), ("knee", "cubic"), ("knee", "bbr3")];
    for pair in make_all(&pairs, &|_| ()).expect("they run") {
        let (first, second) = (pair.first.as_str(), pair.second.as_str());
        assert_eq!(pair.closed, None);
        assert!(pair.first_share >= min_share(first, second), "{pair:?}");
        assert!(pair.second_share >= min_share(second, first), "{pair:?}");
    }
}

/// 100 Mb/s and 100 ms with a buffer of four BDP: slow start without an end overshoots by thousands of packets.
#[test]
fn transfers_over_a_long_path_arrive() {
    let path = transfers().into_iter().find(|transfer| {
        transfer.large && transfer.name().starts_with("100Mbps 100ms 4bdp") && transfer.streams == 1
    });
    let path = path.expect("it is in the sweep");
    let jobs = RECOMMENDED.map(|name| (path, name));
    for arrival in make_all(&jobs, &|_| ()).expect("they run") {
        assert!(arrival.done_ms.is_some(), "{arrival:?}");
    }
}

#[test]
fn the_same_command_prints_and_keeps_the_same() {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("torture");
    let kept = || fs::read_to_string(out.join("runs.jsonl")).unwrap();
    let command = ["--faults", "blackouts,address", "--scenario", "0.2s"];
    let command = [&command[..], &["--controllers", "cubic,noq:knee"]].concat();
    let command = [
        &command[..],
        &["--fresh", "--out", out.to_str().expect("UTF-8")],
    ]
    .concat();
    let printed = kneepoint(&command).unwrap();
    let records = kept();
    assert_eq!(kneepoint(&command).unwrap(), printed);
    assert_eq!(kept(), records);
    for part in ["0.2s held, busy hosts", "noq:knee", "all faults", "to 90 %"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    let records: Vec<Value> = records
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(records.len(), 8);
    for record in records {
        assert!(record["result"]["regain_ms"].is_f64(), "{record}");
    }
}

#[test]
fn refusals_name_the_value() {
    for (arguments, parts) in [
        (
            &["--faults", "weather"][..],
            &["'weather'", "blackouts"][..],
        ),
        (&["--controllers", "tahoe"], &["'tahoe'"]),
        (&["--host", "toaster"], &["toaster"]),
        (
            &["--host", "ideal,busy,ideal"],
            &["--host", "ideal is given twice"],
        ),
        (&["--scenario", "nowhere"], &["--scenario"]),
        (&["--pairs", "--faults", "rate"], &["--pairs", "--faults"]),
    ] {
        let error = kneepoint(arguments).unwrap_err();
        let message = error.to_string();
        assert_eq!(error.exit_code(), 2, "{message}");
        for part in parts {
            assert!(message.contains(part), "{arguments:?}: {message}");
        }
    }
}

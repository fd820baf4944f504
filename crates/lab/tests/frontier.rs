//! `kneepoint frontier`: what it prints, keeps and refuses.

use std::fs;
use std::path::{Path, PathBuf};

use kneepoint_lab::cli::{CliError, run};
use serde_json::Value;

fn kneepoint(arguments: &[&str]) -> Result<String, CliError> {
    let mut out = Vec::new();
    let arguments = ["kneepoint", "frontier"].iter().chain(arguments);
    run(arguments.map(Into::into), &mut out)?;
    Ok(String::from_utf8(out).expect("text"))
}

fn place(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

#[test]
fn the_same_command_prints_and_keeps_the_same() {
    let small = ["--family", "transfers,jitter", "--scenario", "20Mbps 40ms"];
    let both = ["--controllers", "quinn-cubic,knee", "--runs"];
    let [first, second] = ["one", "two"].map(|name| {
        let (kept, svg) = (place(name), place(&format!("{name}.svg")));
        let files = ["--fresh", "--out", text(&kept), "--svg", text(&svg)];
        let printed = kneepoint(&[&small[..], &both, &files].concat()).unwrap();
        (
            printed,
            fs::read_to_string(kept.join("runs.jsonl")).unwrap(),
            fs::read_to_string(svg).unwrap(),
        )
    });
    assert_eq!(first, second);
    let (printed, records, drawing) = first;
    assert!(
        drawing.starts_with("<svg") && drawing.contains("knee"),
        "{drawing}"
    );
    let records: Vec<Value> = records
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["result"].take())
        .collect();
    assert_eq!(records.len(), 14);
    for record in &records {
        assert_eq!(record["unfinished"], Value::Null, "{record}");
        assert!(record["rtt_ratio"].as_f64().unwrap() >= 0.9, "{record}");
        let transfer = record["family"] == "transfers";
        assert_eq!(record["message_mean_ms"].is_f64(), transfer, "{record}");
    }
    for part in ["transfers\n", "jitter\n", "all families\n", "held", "CUBIC"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    // The records of one controller stand beside new ones of the other, and are not run again.
    let (kept, reference) = (place("three"), place("one"));
    let files = ["--out", text(&kept), "--reference", text(&reference)];
    let again = kneepoint(&[&small[..], &both, &files].concat()).unwrap();
    assert_eq!(fs::read_to_string(kept.join("runs.jsonl")).unwrap(), "");
    assert_eq!(again, printed);
}

#[test]
fn a_list_runs_nothing() {
    let list = kneepoint(&["--list", "--family", "competition"]).unwrap();
    assert!(
        list.lines()
            .all(|line| line.starts_with("competition/beside") || line.contains("leaves"))
    );
    let traces = place("frontier-traces");
    fs::create_dir_all(&traces).unwrap();
    fs::write(traces.join("every-10ms.trace"), "10\n").unwrap();
    fs::write(traces.join("notes.txt"), "none").unwrap();
    let list = kneepoint(&["--list", "--family", "traces", "--traces", text(&traces)]).unwrap();
    assert_eq!(list, "traces/every-10ms\n");
}

#[test]
fn refusals_name_the_value() {
    let nothing = place("nothing.jsonl");
    fs::write(&nothing, "{}\n").unwrap();
    let empty = place("no-runs");
    fs::create_dir_all(&empty).unwrap();
    for (arguments, parts) in [
        (&["--family", "weather"][..], &["'weather'", "jitter"][..]),
        (&["--controllers", "tahoe"], &["'tahoe'"]),
        (&["--shard", "3/2"], &["3/2", "I/N"]),
        (&["--shard", "1/2"], &["--shard", "--out"]),
        (&["--family", "traces"], &["--traces"]),
        (&["--traces", "/no/where"], &["--traces", "/no/where"]),
        (
            &["--reference", text(&nothing)],
            &["--reference", "nothing.jsonl:1"],
        ),
        (
            &["--reference", text(&empty)],
            &["--reference", "no run of frontier in ", text(&empty)],
        ),
        (&["--seeds", "0"], &["--seeds"]),
        (&["--seeds", "some"], &["'some'", "from 1 to 100"]),
        (&["--drawn", "-1"], &["'-1'", "from 0 to 100000"]),
        (
            &["--controllers", "knee,bbr,knee:tuned"],
            &["'knee' and 'knee:tuned' are one controller"],
        ),
    ] {
        let error = kneepoint(arguments).unwrap_err();
        let message = error.to_string();
        assert_eq!(error.exit_code(), 2, "{message}");
        for part in parts {
            assert!(message.contains(part), "{arguments:?}: {message}");
        }
    }
}

#[test]
fn informed_senders_are_told_of_traces_and_of_nothing_else() {
    let options = ["--scenario", "3g", "--controllers", "knee", "--informed"];
    let printed = kneepoint(&[&["--family", "generated"], &options[..]].concat()).unwrap();
    let (_, tables) = printed.split_once("generated: informed senders").unwrap();
    // The queue targets, and the controller beside them.
    let row = |start: &str| {
        let mut lines = tables.lines().map(str::trim_start);
        lines
            .find(|line| line.starts_with(start))
            .unwrap()
            .to_owned()
    };
    assert_eq!(row("50 ").split_whitespace().count(), 5);
    assert_eq!(row("knee ").split_whitespace().count(), 5);
    let refused = kneepoint(&["--family", "jitter", "--informed"]).unwrap_err();
    assert!(
        refused.to_string().contains("--informed needs"),
        "{refused}"
    );
}

//! The contract of `kneepoint compare` and `kneepoint trace generate`, checked on the built command.

mod command;

use std::fs;

use command::{all_refused, anywhere, directory, json, refused, stdout};
use serde_json::Value;

#[test]
fn bad_input_is_blamed_in_one_line() {
    let cases = r#"
--rtt 40 => --rtt | '40' | unit is missing
--rtt -40ms => --rtt | '-40ms'
--rate 10MB/s => --rate | '10MB/s' | 'MB/s'
--rate 0Mbps => --rate | out of range
--queue big => --queue | 'big'
--queue => --queue | value is required
--queue 1kB => --queue | '1kB' | 1252 bytes
--up 10 => --up | '10' | 10Mbps
--up 1Mbps --up-queue 1kB => --up-queue | '1kB' | 1252 bytes
--duration 0s => --duration | out of range
--loss 2 => --loss | probability
--loss nan => --loss | 'nan'
--flows 0 => --flows | 1..=1000
--flows -1 => --flows | '-1'
--flows bbr,tahoe => --flows | 'tahoe'
--flows bbr,,bbr => --flows | ''
--flows bbr,cubic --controllers vegas => --flows | 'bbr,cubic' | --controllers
--flows 3 --start-gap 30s => --start-gap | flow 3 | 60s
--start-gap 2 => --start-gap | unit is missing
--workload rpc:100@1s => --workload | size '100' | unit is missing
--workload web => --workload | 'web' | rpc:SIZE@TIME
--flow-control none => --flow-control | 'none' | stock
--seed -1 => --seed | '-1'
--seed 18446744073709551614 --seeds 3 => --seeds | 18446744073709551614 | --seed
--controllers noq:knee,noq:bbr3 --qlog logs => --qlog | quinn
--host laptop => --host | laptop | server, busy, phone
--host no.toml => --host | cannot read host no.toml
--format xml => --format | xml | json
--controllers tahoe => --controllers | 'tahoe' | quinn-cubic
--controllers bbr:quick => --controllers | 'quick' | tuned
--controllers bbr,,bbr-s => --controllers | ''
--controllers bbr,bbr => --controllers | twice
--trace nowhere.trace => --trace | nowhere.trace
--trace . => --trace
--trace a --rate 1Mbps => --trace | --rate
--rate 1Mbps --rate 2Mbps => --rate | multiple times
--trac a => --trac | --trace
compare surplus => surplus
frobnicate => frobnicate
trace => command is missing
trace generate => --profile | --out
trace generate --profile lte --out x => --profile | lte-driving-fast
trace generate --profile 3g --out nowhere/x => --out | nowhere/x
trace generate --profile 3g --out x --duration 2h => --duration | out of range
"#;
    all_refused(anywhere(), cases);
    refused(
        anywhere(),
        "--duration 1s\n2s",
        &["--duration", "unknown unit"],
    );
}

#[test]
fn the_last_seeds_are_seeds() {
    let arguments = "--rate 10Mbps --controllers knee --duration 1s --seed 18446744073709551614";
    let row = json(anywhere(), &format!("{arguments} --seeds 2")).remove(0);
    let last = &row["seeds"][1];
    assert_eq!(last.as_u64(), Some(u64::MAX), "{row}");
}

/// Fault: over several seeds a workload's own figures were left out.
#[test]
fn several_seeds_have_messages_and_frames() {
    let short = "--rate 10Mbps --controllers knee --duration 2s --seeds 2";
    for (workload, shown, hidden) in [
        ("rpc:20kB@100ms", Some("message"), "frame"),
        ("media:1Mbps", Some("frame"), "message"),
        ("bulk", None, "message"),
    ] {
        let arguments = format!("{short} --workload {workload}");
        let table = stdout(anywhere(), &arguments);
        assert!(shown.is_none_or(|shown| table.contains(shown)), "{table}");
        assert!(!table.contains(hidden), "{table}");
        let summary = json(anywhere(), &arguments).remove(0);
        for (key, has) in [
            ("message_p95_ms", "message"),
            ("frame_delay_p95_ms", "frame"),
        ] {
            let mean = summary[key]["mean"].as_f64();
            assert_eq!(mean > Some(10.0), shown == Some(has), "{summary}");
        }
    }
}

#[test]
fn a_bad_trace_is_blamed_with_its_line_and_value() {
    let directory = directory("bad-traces", &[]);
    for (name, text, parts) in [
        (
            "word.trace",
            "1\n2\nthree\n",
            &["word.trace", "3", "three"][..],
        ),
        ("back.trace", "5\n4\n", &["back.trace", "2", "4"]),
        ("gap.trace", "5\n\n7\n", &["gap.trace", "2", "empty"]),
        ("zero.trace", "0\n0\n", &["zero.trace", "0"]),
        ("empty.trace", "", &["empty.trace", "empty"]),
        ("binary.trace", "1\n\u{1b}[31m\n", &["binary.trace", "2"]),
    ] {
        fs::write(directory.join(name), text).expect("the trace can be written");
        refused(&directory, &format!("compare --trace {name}"), parts);
    }
}

#[test]
fn plots_that_cannot_be_written_are_refused_before_the_run() {
    let directory = directory("occupied", &[("file", "")]);
    refused(&directory, "--plots file/plots", &["--plots"]);
}

#[test]
fn json_has_one_object_per_trace_and_controller() {
    let trace = |gap: u32| (1..=200).map(|n| format!("{}\n", n * gap)).collect();
    let (slow, fast): (String, String) = (trace(5), trace(2));
    let directory = directory("json", &[("slow.trace", &slow), ("fast.trace", &fast)]);
    let rows = json(
        &directory,
        "compare --trace slow.trace --trace fast.trace --trace slow.trace --controllers quinn-cubic,quinn-new-reno \
         --duration 3s --queue 100p --rtt 20ms --seed 5",
    );
    let names: Vec<_> = rows
        .iter()
        .map(|row| (row["trace"].as_str(), row["controller"].as_str()))
        .collect();
    let both = |trace| {
        [
            (Some(trace), Some("quinn-cubic")),
            (Some(trace), Some("quinn-new-reno")),
        ]
    };
    assert_eq!(names, ["slow", "fast", "slow-2"].map(both).concat());
    for row in &rows {
        for key in [
            "utilization",
            "goodput_mbps",
            "rtt_mean_ms",
            "rtt_p95_ms",
            "rtt_p99_ms",
            "queue_delay_mean_ms",
            "queue_delay_p95_ms",
            "queue_delay_p99_ms",
            "loss_rate",
            "drops",
            "power",
            "capacity_mbps",
        ] {
            assert!(row[key].is_number(), "{key}: {row}");
        }
        for key in ["closed", "jain", "messages", "message_p50_ms", "frames"] {
            assert!(row.get(key).is_some_and(Value::is_null), "{key}: {row}");
        }
        assert_eq!(row["seed"], 5);
        assert_eq!(row["flow_count"], 1);
        assert_eq!(row["workload"], "bulk");
        let flows = row["flows"].as_array().expect("an array");
        assert_eq!(flows.len(), 1);
        assert_eq!(flows[0]["controller"], row["controller"]);
        assert_eq!(flows[0]["goodput_mbps"], row["goodput_mbps"]);
        assert_eq!(flows[0]["loss_rate"], row["loss_rate"]);
        let rtt = |value: &Value| value["rtt_mean_ms"].as_f64().expect("a number");
        assert!((rtt(&flows[0]) - rtt(row)).abs() < 1e-5, "{row}");
        assert_eq!(row["rtt_ms"], 20.0);
        assert_eq!(row["queue"], "100p");
        assert_eq!(row["duration_s"], 3.0);
        assert_eq!(row["loss"], 0.0);
        assert_eq!(row["host"], "ideal");
        let utilization = row["utilization"].as_f64();
        assert!(
            utilization.is_some_and(|value| (0.7..=1.0).contains(&value)),
            "{row}"
        );
    }
    // 1504 bytes every 5 and every 2 milliseconds.
    assert_eq!(rows[0]["capacity_mbps"], 2.4064);
    assert_eq!(rows[2]["capacity_mbps"], 6.016);
    assert_eq!(rows[0]["rtt_mean_ms"], rows[4]["rtt_mean_ms"]);
}

#[test]
fn the_same_seed_prints_the_same_bytes_and_another_seed_does_not() {
    let run = |seed| {
        let arguments = "compare --rate 8Mbps --duration 3s --loss 1% --flows 2 --format json";
        stdout(anywhere(), &format!("{arguments} --seed {seed}"))
    };
    let first = run(1);
    assert_eq!(first, run(1));
    assert_ne!(first, run(2));
}

#[test]
fn several_flows_have_a_fairness_index_and_losses_are_counted() {
    let rows = json(
        anywhere(),
        "--rate 20Mbps --duration 4s --flows 3 --loss 0.02 --controllers quinn-new-reno --queue inf",
    );
    assert_eq!(rows.len(), 1);
    let jain = rows[0]["jain"].as_f64();
    assert!(
        jain.is_some_and(|jain| (1.0 / 3.0..=1.0).contains(&jain)),
        "{rows:?}"
    );
    let loss = rows[0]["loss_rate"].as_f64();
    assert!(
        loss.is_some_and(|loss| (0.01..0.03).contains(&loss)),
        "{rows:?}"
    );
}

#[test]
fn a_link_that_loses_everything_is_a_result() {
    let arguments = "--rate 1Mbps --duration 2s --loss 1 --controllers quinn-cubic";
    let row = json(anywhere(), arguments).remove(0);
    assert!(row["rtt_mean_ms"].is_null(), "{row}");
    assert_eq!(row["goodput_mbps"], 0.0);
    assert_eq!(row["power"], 0.0);
    assert_eq!(row["loss_rate"], 1.0);
}

#[test]
fn a_closed_connection_is_a_result() {
    // Longer than the idle timeout: nothing ever answers.
    let arguments = "--rate 1Mbps --duration 40s --loss 100% --controllers quinn-cubic";
    let row = json(anywhere(), arguments).remove(0);
    assert_eq!(row["closed"], "handshake failed: timed out", "{row}");
}

#[test]
fn csv_has_a_header_and_the_fields_of_json() {
    let arguments = "--rate 5Mbps --duration 3s --controllers quinn-cubic,quinn-bbr";
    let text = stdout(anywhere(), &format!("{arguments} --format csv"));
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().expect("there is a header").clone();
    let records: Vec<_> = reader
        .records()
        .collect::<Result<_, _>>()
        .expect("every record has the header's length");
    let rows = json(anywhere(), arguments);
    assert_eq!(records.len(), 2);
    for (record, row) in records.iter().zip(&rows) {
        for (key, field) in header.iter().zip(record) {
            let same = match &row[key] {
                Value::String(text) => field == text,
                Value::Null => field.is_empty(),
                number => field.parse().ok() == number.as_f64(),
            };
            assert!(same, "{key}: {field} is not {}", row[key]);
        }
        // The flows have no place in a record.
        assert!(header.iter().all(|key| key != "flows"));
        assert_eq!(
            row.as_object().map(|object| object.len()),
            Some(header.len() + 1)
        );
    }
}

#[test]
fn without_a_command_there_is_a_table_and_plots() {
    let directory = directory("plain", &[]);
    let arguments = "--duration 3s --controllers quinn-cubic,quinn-bbr";
    let text = stdout(&directory, arguments);
    assert!(
        text.starts_with("lte-driving-fast: mean capacity "),
        "{text}"
    );
    assert!(
        text.contains("RTT 40ms, queue 3MB, 1 flow, 3s, seed 1"),
        "{text}"
    );
    assert!(text.ends_with("plots: target/kneepoint\n"), "{text}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 120),
        "{text}"
    );
    for name in ["quinn-cubic", "quinn-bbr", "scatter"] {
        for extension in ["svg", "png"] {
            let name = format!("target/kneepoint/lte-driving-fast-{name}.{extension}");
            let size = fs::metadata(directory.join(&name)).map(|file| file.len());
            assert!(size.is_ok_and(|size| size > 5_000), "{name}");
        }
    }
}

#[test]
fn compare_draws_only_on_request_and_json_stays_json() {
    let directory = directory("requested", &[]);
    let quick = "--rate 5Mbps --duration 2s --controllers quinn-cubic";
    stdout(&directory, &format!("compare {quick}"));
    json(&directory, quick);
    assert_eq!(fs::read_dir(&directory).map(Iterator::count).ok(), Some(0));

    let drawn = json(&directory, &format!("compare --plots here {quick}"));
    assert_eq!(drawn.len(), 1);
    assert!(directory.join("here/5Mbps-quinn-cubic.svg").exists());
}

#[test]
fn a_generated_trace_is_repeatable_and_can_be_followed() {
    let directory = directory("generated", &[]);
    let generate = |seed, out| {
        let arguments =
            format!("trace generate --profile lte-walking --seed {seed} --duration 3s --out {out}");
        assert_eq!(stdout(&directory, &arguments), "");
        fs::read(directory.join(out)).expect("the trace was written")
    };
    let first = generate("3", "a.trace");
    assert_eq!(first, generate("3", "b.trace"));
    assert_ne!(first, generate("4", "c.trace"));
    assert!(first.ends_with(b"\n3000\n"));
    let arguments = "--trace a.trace --duration 2s --controllers quinn-cubic";
    assert_eq!(json(&directory, arguments)[0]["trace"], "a");
}

#[test]
fn help_and_version_succeed() {
    for argument in ["--help", "--version"] {
        assert!(stdout(anywhere(), argument).contains("kneepoint"));
    }
}

//! The contracts of `kneepoint loopback` and `kneepoint host`, checked on the built command.
//!
//! Nothing here depends on how fast the machine is.

mod command;

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use command::{all_refused, anywhere, directory, json, kneepoint, stdout};
use kneepoint_emulator::host::HostConfig;
use kneepoint_emulator::time::Nanos;
use serde_json::Value;

fn rows(arguments: &str) -> Vec<Value> {
    json(anywhere(), &format!("loopback {arguments}"))
}

/// A time that no transfer of these needs, however busy the machine is.
const PATIENT: &str = "--timeout 60s";

/// There are no files left for the sockets of the measurement.
#[test]
#[cfg(target_os = "linux")]
fn an_old_host_stays_if_there_is_no_new_one() {
    let directory = directory("old-host", &[("host.toml", "old")]);
    let output = Command::new("sh")
        .args(["-c", "ulimit -n 5; exec \"$@\"", "sh"])
        .args([env!("CARGO_BIN_EXE_kneepoint"), "host", "measure"])
        .args(["--duration", "100ms", "--out", "host.toml"])
        .current_dir(&directory)
        .output()
        .expect("there is a shell");
    assert!(!output.status.success(), "{output:?}");
    let host = fs::read_to_string(directory.join("host.toml")).expect("it is there");
    assert_eq!(host, "old");
    assert_eq!(fs::read_dir(directory).expect("it is there").count(), 1);
}

#[test]
fn bad_input_is_blamed_in_one_line() {
    let cases = r#"
loopback --controllers tahoe => tahoe
loopback --controllers bbr,bbr => named twice
loopback --size 0B => out of range
loopback --size inf => number of bytes
loopback --size 3p => number of bytes
loopback --socket-buffer 1 => the unit is missing | 100kB
loopback --rtt 0,1ms,1000us => --rtt | 1ms is given twice
loopback --rate 10Mbps,1Gbps,10Mbps => --rate | 10Mbps is given twice
loopback --controllers bbr,bbr:paper => 'bbr' and 'bbr:paper' are one controller
loopback --size 1000GB => 100GB
loopback --runs 0 => --runs
loopback --runs many => --runs | 'many' | a whole number from 1 to 1000
loopback --seed -1 => --seed | '-1' | a whole number from 0 to 18446744073709551615
loopback --rtt 5 => the unit is missing
loopback --rtt 0,-1ms => --rtt
loopback --rate 0Mbps => out of range
loopback --processes 3 => --processes
loopback --busy => --busy | no relay without --rtt or --rate
loopback --queue 100kB --rtt 1ms => --rate
loopback --socket-buffer 2GB => --socket-buffer
loopback --timeout 0s => out of range
loopback --format csv => csv
host => a command is missing
host measure --duration 1ms => at least 100ms
host measure --load -1 => --load
host measure --out missing-directory/host.toml => missing-directory
"#;
    all_refused(anywhere(), cases);
}

#[test]
fn transfers_in_two_processes_have_all_fields() {
    let controllers = ["quinn-cubic", "knee", "noq:bbr"];
    let rows = rows(&format!(
        "--size 2MB --runs 2 --controllers {} {PATIENT}",
        controllers.join(",")
    ));
    let named: Vec<&str> = rows
        .iter()
        .filter_map(|row| row["controller"].as_str())
        .collect();
    assert_eq!(named, controllers);
    for row in &rows {
        assert_eq!(row["size_bytes"], 2_000_000);
        assert_eq!(
            (&row["processes"], &row["finished"]),
            (&2.into(), &2.into())
        );
        assert_eq!(
            (&row["path_rtt_ms"], &row["path_rate_mbps"]),
            (&0.0.into(), &Value::Null)
        );
        for field in [
            "goodput_mbps",
            "goodput_min_mbps",
            "goodput_max_mbps",
            "goodput_of_stock",
            "rtt_mean_ms",
            "rtt_p50_ms",
            "rtt_p95_ms",
            "window_median_bytes",
            "window_max_bytes",
            "processors",
        ] {
            assert!(
                row[field].as_f64().is_some_and(|value| value > 0.0),
                "{field}: {row}"
            );
        }
        let loss = row["loss_rate"].as_f64().expect("it is a number");
        assert!((0.0..1.0).contains(&loss), "{row}");
        let runs = row["runs"].as_array().expect("there are runs");
        assert_eq!(runs.len(), 2);
        for run in runs {
            assert_eq!(
                (&run["end"], &run["received_bytes"]),
                (&"finished".into(), &2_000_000.into())
            );
            assert_eq!(run["relay_late_p99_us"], Value::Null);
        }
        if cfg!(target_os = "linux") {
            for field in [
                "sender_cpu_s_per_gb",
                "receiver_cpu_s_per_gb",
                "processor_share_min",
            ] {
                assert!(
                    row[field].as_f64().is_some_and(|value| value > 0.0),
                    "{field}: {row}"
                );
            }
        }
    }
    assert_eq!(rows[0]["goodput_of_stock"], 1.0);
}

#[test]
fn transfers_in_one_process_cross_the_relay() {
    let rows = rows(&format!(
        "--size 2MB --runs 1 --processes 1 --rtt 0,2ms --rate 200Mbps --controllers bbr {PATIENT}"
    ));
    assert_eq!(rows.len(), 2);
    for (row, rtt) in rows.iter().zip([0.0, 2.0]) {
        assert_eq!(
            (&row["path_rtt_ms"], &row["path_rate_mbps"]),
            (&rtt.into(), &200.0.into())
        );
        assert_eq!(
            (&row["processes"], &row["finished"]),
            (&1.into(), &1.into())
        );
        assert_eq!(row["goodput_of_stock"], Value::Null);
        // The link holds them up by so much, whatever else does.
        assert!(
            row["rtt_p50_ms"]
                .as_f64()
                .is_some_and(|median| median >= rtt),
            "{row}"
        );
        let rate = row["goodput_max_mbps"].as_f64().expect("it is a number");
        // Without headers, and the first queue is free.
        assert!(rate < 220.0, "{row}");
        assert!(row["runs"][0]["relay_late_p99_us"].is_number(), "{row}");
    }
}

#[test]
fn a_transfer_that_does_not_finish_is_a_result() {
    for processes in [1, 2] {
        let arguments = format!(
            "--size 50MB --runs 1 --processes {processes} --rate 1Mbps --timeout 400ms --controllers quinn-cubic"
        );
        let text = stdout(anywhere(), &format!("loopback {arguments}"));
        assert!(text.contains("  quinn-cubic: unfinished at "), "{text}");
        assert!(text.contains(" %: timed out\n"), "{text}");
        assert!(text.contains("machine: "), "{text}");
        let rows = rows(&arguments);
        assert_eq!(
            (&rows[0]["finished"], &rows[0]["runs"][0]["end"]),
            (&0.into(), &"timed out".into())
        );
        let received = rows[0]["runs"][0]["received_bytes"]
            .as_u64()
            .expect("it is a number");
        assert!(received < 1_000_000, "{received}");
    }
}

/// A signal that comes before the command listens ends it: then another one has to come later.
#[test]
#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "processes run in real time")]
fn what_was_measured_before_a_signal_is_printed() {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;

    let arguments = "loopback --size 1MB --runs 1000 --controllers cubic --format json";
    for wait in [2, 5, 20, 60] {
        let command = kneepoint(anywhere(), arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        thread::sleep(Duration::from_secs(wait));
        let process = Pid::from_raw(command.id().cast_signed());
        kill(process, Signal::SIGTERM).expect("it still runs");
        let output = command.wait_with_output().expect("it ends");
        let errors = String::from_utf8_lossy(&output.stderr);
        let Some(row) = output.stdout.split(|&byte| byte == b'\n').next() else {
            continue;
        };
        let Ok(row) = serde_json::from_slice::<Value>(row) else {
            continue;
        };
        assert_eq!(output.status.code(), Some(130), "{errors}");
        let runs = row["runs"].as_array().expect("there are runs").len();
        // One before them is not measured.
        let told = format!(
            "kneepoint: interrupted after {} of 1001 transfers",
            runs + 1
        );
        assert!(errors.starts_with(&told), "{errors}");
        assert!(runs > 0 && row["finished"] == runs, "{row}");
        return;
    }
    panic!("nothing was measured in a minute");
}

#[test]
fn the_measured_host_is_written() {
    let report = stdout(
        anywhere(),
        "host measure --duration 600ms --out measured-host.toml",
    );
    for part in [
        "wake-up delay ",
        "timers rounded up to ",
        "cost of receiving ",
        "datagrams per burst ",
    ] {
        assert!(report.contains(part), "{part}: {report}");
    }
    let path = anywhere().join("measured-host.toml");
    let text = fs::read_to_string(&path).expect("it is written");
    assert!(text.contains("# wake-up delay "), "{text}");
    let host = HostConfig::load(&path).expect("it is a host");
    assert!(!host.receive.wakeup.is_zero(), "{text}");
    assert!(host.send.burst_datagrams >= 1, "{text}");
    let costs = &host.processor;
    assert!(
        costs.receive_datagram > Nanos::ZERO
            || costs.receive_byte_nanos > 0.0
            || costs.wakeup > Nanos::ZERO,
        "{text}"
    );
}

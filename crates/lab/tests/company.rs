//! The contract of what `kneepoint compare` adds to plain runs: competitors, seeds, queues, series and qlog.

mod command;

use std::fs;

use command::{all_refused, anywhere, directory, json, kneepoint, stdout};
use serde_json::Value;

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn bad_input_is_blamed_in_one_line() {
    let cases = r#"
--against tahoe => --against | 'tahoe' | quinn-cubic
--against quinn-cubic:0 => --against | '0' | 1..=1000
--against quinn-cubic:9999 => --against | '9999'
--against quinn-cubic:x => --against | 'quinn-cubic:x'
--against-workload bulk => --against
--against-first => --against
--against cubic --against-first => --start-gap
--against quinn-cubic --against-workload bulky => --against-workload | 'bulky'
--against cubic --flows knee,knee => --flows | 'knee,knee' | --against
--against cubic:30 --start-gap 2s => --start-gap | flow 31 | 60s
--seeds 0 => --seeds | '0'
--seeds 2000 => --seeds | '2000'
--aqm cake => --aqm | 'cake' | fq-codel
--aqm red --queue inf => --aqm | limit
--ecn => --aqm
--jitter 3 => --jitter | unit is missing
--up no-such-trace => --up | no-such-trace
--up-queue 5p => --up
--qlog file/q => --qlog
--series file/s => --series
"#;
    all_refused(&directory("company-bad", &[("file", "")]), cases);
}

/// The qlog of one of them does not fit on the disk.
#[test]
#[cfg(target_os = "linux")]
fn a_run_that_fails_does_not_take_the_results_of_the_others() {
    let directory = directory("company-failed", &[]);
    let file = directory.join("logs/5Mbps-cubic-seed1-flow1.sqlog");
    fs::create_dir(directory.join("logs")).expect("it can be made");
    std::os::unix::fs::symlink("/dev/full", file).expect("it can be linked");
    let arguments =
        "compare --rate 5Mbps --duration 1s --controllers knee,cubic,bbr --qlog logs --format csv";
    let output = kneepoint(&directory, arguments).output();
    let output = output.expect("the command starts");
    let rows = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(rows.lines().count(), 3, "{rows}");
    assert!(rows.contains(",knee,") && rows.contains(",bbr,"), "{rows}");
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("cubic on 5Mbps: "), "{errors}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_series_that_is_cut_off_is_blamed_with_its_file() {
    let directory = directory("series-full", &[]);
    fs::create_dir(directory.join("s")).expect("it can be made");
    for file in ["s/5Mbps-knee.csv", "s/5Mbps-cubic-windows.csv"] {
        std::os::unix::fs::symlink("/dev/full", directory.join(file)).expect("it can be linked");
    }
    for (controller, file) in [
        ("knee", "s/5Mbps-knee.csv"),
        ("cubic", "s/5Mbps-cubic-windows.csv"),
    ] {
        let arguments =
            format!("compare --rate 5Mbps --duration 1s --controllers {controller} --series s");
        let output = kneepoint(&directory, &arguments).output();
        let output = output.expect("the command starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{errors}");
        let reason = format!("kneepoint: --series: cannot write {file}: No space left");
        assert!(errors.starts_with(&reason), "{errors}");
    }
}

/// An application beside a download, which is what most of them have beside them.
#[test]
fn competitors_have_a_workload_of_their_own() {
    let run = "compare --rate 10Mbps --queue 50kB --duration 6s --workload rpc:10kB@200ms --controllers knee --against quinn-cubic";
    let download = format!("{run} --against-workload bulk");
    let (same, other) = (json(anywhere(), run), json(anywhere(), &download));
    let [same, other] = [&same[0], &other[0]];
    let requests = &same["workload"];
    assert_eq!(
        (&same["against_workload"], &other["against_workload"]),
        (requests, &"bulk".into())
    );
    assert_eq!(
        (requests, requests),
        (&other["workload"], &"rpc:10kB@200ms".into())
    );
    // 10 kB every 200 ms are 0.4 Mb/s.
    assert!(number(&same["against_goodput_mbps"]) < 0.5, "{same}");
    assert!(number(&other["against_goodput_mbps"]) > 7.0, "{other}");
    assert_eq!(same["messages"], other["messages"]);
    let table = stdout(anywhere(), &download);
    let caption = "2 flows, rpc:10kB@200ms, of which quinn-cubic:1 (bulk), 6s";
    assert!(table.contains(caption), "{table}");
    // Of 6 s the later one has 2 s, and ten requests.
    let later = format!("{download} --start-gap 4s");
    let table = stdout(anywhere(), &format!("{later} --against-first"));
    let caption = "of which quinn-cubic:1 (bulk), which start first, 6s";
    assert!(table.contains(caption), "{table}");
    let first = &json(anywhere(), &format!("{later} --against-first"))[0];
    let later = &json(anywhere(), &later)[0];
    let seen = |row: &Value| (row["messages"].clone(), row["against_first"].clone());
    assert_eq!(seen(first), (10.into(), true.into()));
    assert_eq!(seen(later), (30.into(), false.into()));
    assert!(number(&later["against_goodput_mbps"]) < number(&first["against_goodput_mbps"]) / 2.0);
}

/// Fault: media that began in the queue of a download gave way to it, as bulk data do, though they had been carried before: a frame in twenty was 0.4 to 4.4 s
/// late.
#[test]
fn media_keep_the_rate_that_they_had_beside_a_download() {
    let rows = json(
        anywhere(),
        "compare --rate 40Mbps --rtt 50ms --queue 500kB --duration 30s --workload media:8Mbps,i=200kB@2s --controllers knee \
         --against quinn-cubic --against-workload bulk --against-first --start-gap 3s --seeds 3",
    );
    let late = number(&rows[0]["frame_delay_p95_ms"]["max"]);
    assert!(late < 800.0, "{late} ms");
}

/// Fault: the last packets of a message, which leave while there is more to send, showed the rate of the whole link. Four connections kept 117 ms of 33.
#[test]
fn the_end_of_a_message_shows_nothing() {
    for controller in ["knee", "noq:knee"] {
        let run = "compare --rate 12300kbps --rtt 33ms --queue 405kB --workload rpc:345kB@1s --flows 4 --start-gap 1s --duration 20s --seeds 3";
        let rows = json(anywhere(), &format!("{run} --controllers {controller}"));
        let rtt = number(&rows[0]["rtt_mean_ms"]["mean"]);
        assert!(rtt < 92.0, "{controller}: {rtt} ms");
    }
}

#[test]
fn competitors_share_the_link() {
    let short = "compare --rate 10Mbps --duration 6s";
    let own = "--controllers knee,cubic --against quinn-cubic:2";
    let rows = json(anywhere(), &format!("{short} {own} --start-gap 100ms"));
    assert_eq!(rows.len(), 2);
    for row in &rows {
        assert_eq!(row["against"], "quinn-cubic:2");
        assert_eq!(row["flow_count"], 3);
        let flows = row["flows"].as_array().expect("an array");
        let names: Vec<&Value> = flows.iter().map(|flow| &flow["controller"]).collect();
        assert_eq!(
            names,
            [
                &row["controller"],
                &"quinn-cubic".into(),
                &"quinn-cubic".into()
            ]
        );
        let shares: Vec<f64> = flows
            .iter()
            .map(|flow| number(&flow["goodput_mbps"]))
            .collect();
        // A row has what its controller achieved, and what the others did.
        assert_eq!(number(&row["goodput_mbps"]), shares[0]);
        let others = number(&row["against_goodput_mbps"]);
        assert!((others - shares[1] - shares[2]).abs() < 1e-5, "{row}");
        assert!(others > 1.0, "{row}");
        let sum = shares.iter().sum::<f64>();
        assert!((7.0..10.0).contains(&sum), "{row}");
    }
    let alone = json(anywhere(), &format!("{short} --controllers knee"));
    assert!(alone[0]["against"].is_null());
    let seeds = format!("{short} {own} --seeds 2");
    for row in json(anywhere(), &seeds) {
        let others = number(&row["against_goodput_mbps"]["mean"]);
        assert!(others > 1.0, "{row}");
    }
    let table = stdout(anywhere(), &seeds);
    for part in [
        "others",
        "3 flows, of which quinn-cubic:2, 6s, seeds 1 to 2",
    ] {
        assert!(table.contains(part), "{part}: {table}");
    }
    let table = stdout(
        anywhere(),
        &format!("{short} --controllers knee --against quinn-cubic"),
    );
    for part in [
        "2 flows, of which quinn-cubic:1, 6s",
        "others",
        "1: knee",
        "2: quinn-cubic",
    ] {
        assert!(table.contains(part), "{part}: {table}");
    }
    assert!(
        table.lines().all(|line| line.chars().count() <= 120),
        "{table}"
    );
}

#[test]
fn several_seeds_have_means_and_intervals() {
    let arguments = "compare --rate 8Mbps --duration 3s --loss 2% --controllers quinn-cubic,knee";
    let rows = json(anywhere(), &format!("{arguments} --seeds 4 --seed 3"));
    assert_eq!(rows.len(), 2);
    for row in &rows {
        assert_eq!(row["seeds"], serde_json::json!([3, 4, 5, 6]));
        let runs = row["runs"].as_array().expect("an array");
        assert_eq!(runs.len(), 4);
        for key in [
            "goodput_mbps",
            "utilization",
            "rtt_mean_ms",
            "rtt_p95_ms",
            "loss_rate",
        ] {
            let values: Vec<f64> = runs.iter().map(|run| number(&run[key])).collect();
            let mean = values.iter().sum::<f64>() / 4.0;
            let estimate = &row[key];
            assert!(
                (number(&estimate["mean"]) - mean).abs() < 1e-5,
                "{key}: {row}"
            );
            let least = values.iter().copied().fold(f64::MAX, f64::min);
            let most = values.iter().copied().fold(f64::MIN, f64::max);
            assert_eq!(
                (number(&estimate["min"]), number(&estimate["max"])),
                (least, most)
            );
            // t(0.975, 3) of any table.
            let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
            let half = 3.182_446 * (squares / 3.0).sqrt() / 2.0;
            assert!(
                (number(&estimate["ci95"]) - half).abs() < 1e-4,
                "{key}: {row}"
            );
        }
        assert!(number(&row["loss_rate"]["ci95"]) > 0.0, "{row}");
    }
    // A run is what it is without the others.
    let alone = json(anywhere(), &format!("{arguments} --seed 5"));
    assert_eq!(alone[0]["goodput_mbps"], rows[0]["runs"][2]["goodput_mbps"]);

    let text = stdout(
        anywhere(),
        &format!("{arguments} --seeds 4 --seed 3 --format csv"),
    );
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().expect("there is a header").clone();
    let place = header.iter().position(|key| key == "goodput_mbps_ci95");
    let record = reader.records().next().expect("one").expect("a record");
    let field: f64 = record[place.expect("a column")].parse().expect("a number");
    assert_eq!(field, number(&rows[0]["goodput_mbps"]["ci95"]));

    let table = stdout(anywhere(), &format!("{arguments} --seeds 4 --seed 3"));
    let mean = number(&rows[0]["goodput_mbps"]["mean"]);
    let half = number(&rows[0]["goodput_mbps"]["ci95"]);
    assert!(table.contains(&format!("{mean:.2} ± {half:.2}")), "{table}");
    assert!(table.contains(", 3s, seeds 3 to 6\n"), "{table}");
    assert!(
        table.lines().all(|line| line.chars().count() <= 120),
        "{table}"
    );
}

#[test]
fn queues_are_managed_and_paths_vary() {
    let of = |controller: &str, more: &str| {
        let plain = format!("compare --rate 20Mbps --duration 4s --controllers {controller}");
        json(anywhere(), &format!("{plain} {more}")).remove(0)
    };
    let row = |more: &str| of("cubic", more);
    let plain = number(&row("")["rtt_p95_ms"]);
    for aqm in ["codel", "fq-codel", "pie", "red"] {
        let managed = row(&format!("--aqm {aqm} --queue 600kB"));
        assert_eq!(managed["queue"], format!("{aqm} 600kB"));
        assert!(number(&managed["rtt_p95_ms"]) < 0.8 * plain, "{managed}");
        assert!(number(&managed["drops"]) > 0.0, "{managed}");
        assert_eq!(managed["marks"], 0);
        let marked = row(&format!("--aqm {aqm} --queue 600kB --ecn"));
        assert!(number(&marked["marks"]) > 0.0, "{marked}");
    }
    let knee = of("knee", "--jitter 10ms");
    assert_eq!(knee["jitter_ms"], 10.0);
    let steady = of("knee", "");
    assert!(number(&knee["rtt_mean_ms"]) > number(&steady["rtt_mean_ms"]) + 4.0);
    // 20 Mb/s of full packets are acknowledged by more than 100 kb/s.
    let starved = row("--up 100kbps --up-queue 20p --up-loss 1%");
    assert_eq!(starved["up"], "100kbps queue 20p loss 0.01");
    assert!(
        number(&starved["goodput_mbps"]) < number(&row("")["goodput_mbps"]),
        "{starved}"
    );
}

#[test]
fn series_have_what_plots_draw() {
    let directory = directory("series", &[]);
    let arguments =
        "compare --rate 5Mbps --duration 2s --controllers knee,quinn-cubic --flows 2 --series out";
    let rows = json(&directory, arguments);
    let read = |name: &str| {
        let mut reader = csv::Reader::from_path(directory.join("out").join(name)).expect("a file");
        let header = reader.headers().expect("a header").clone();
        let records = reader.records().map(|record| record.expect("a record"));
        (header, records.collect::<Vec<_>>())
    };
    let (header, bins) = read("5Mbps-knee.csv");
    assert_eq!(&header[0], "time_s");
    assert_eq!(bins.len(), 20);
    let column = |name: &str| {
        header
            .iter()
            .position(|title| title == name)
            .expect("a column")
    };
    let mean = |name: &str| {
        let values = bins
            .iter()
            .map(|bin| bin[column(name)].parse::<f64>().expect("a number"));
        values.sum::<f64>() / 20.0
    };
    assert_eq!(mean("capacity_mbps"), 5.0);
    let utilization = mean("throughput_mbps") / 5.0;
    assert!((utilization - number(&rows[0]["utilization"])).abs() < 1e-3);
    let (_, windows) = read("5Mbps-quinn-cubic-windows.csv");
    assert!(
        windows
            .iter()
            .any(|point| &point[1] == "2" && &point[2] == "quinn-cubic")
    );
    let (_, scatter) = read("5Mbps-scatter.csv");
    assert_eq!(scatter.len(), 2);
    assert_eq!(scatter[0][3].parse().ok(), rows[0]["rtt_mean_ms"].as_f64());

    stdout(
        &directory,
        "compare --rate 5Mbps --duration 1s --controllers knee --seeds 2 --series seeds --plots plots",
    );
    for name in [
        "seeds/5Mbps-knee-seed1.csv",
        "seeds/5Mbps-knee-seed2.csv",
        "plots/5Mbps-knee.svg",
    ] {
        assert!(directory.join(name).exists(), "{name}");
    }
}

#[test]
fn a_qlog_shows_windows_over_virtual_time() {
    let directory = directory("qlog", &[]);
    let arguments = "compare --rate 5Mbps --duration 2s --controllers knee,noq:knee --against quinn-cubic --qlog logs";
    json(&directory, arguments);
    let names = fs::read_dir(directory.join("logs")).expect("a folder");
    let names = names.map(|file| file.expect("a file").file_name().into_string());
    let mut names: Vec<String> = names.map(|name| name.expect("it is UTF-8")).collect();
    names.sort();
    assert_eq!(
        names,
        [
            "5Mbps-knee-seed1-flow1.sqlog",
            "5Mbps-knee-seed1-flow2.sqlog",
            "5Mbps-noq+knee-seed1-flow2.sqlog"
        ]
    );
    let text = fs::read(directory.join("logs").join(&names[0])).expect("a file");
    // A JSON text sequence (RFC 7464): a record separator before each.
    let records = text
        .split(|byte| *byte == 0x1e)
        .filter(|record| !record.is_empty());
    let records: Vec<Value> = records
        .map(|record| serde_json::from_slice(record).expect("every record is JSON"))
        .collect();
    assert_eq!(records[0]["qlog_format"], "JSON-SEQ");
    assert_eq!(records[0]["title"], "5Mbps-knee-seed1-flow1");
    let windows: Vec<(f64, f64)> = records
        .iter()
        .filter_map(|event| {
            let window = event["data"]["congestion_window"].as_f64()?;
            Some((event["time"].as_f64()?, window))
        })
        .collect();
    assert!(windows.len() > 20, "{}", windows.len());
    // In milliseconds, of two virtual seconds.
    assert!(
        windows
            .iter()
            .all(|(time, _)| (0.0..=2000.0).contains(time))
    );
    assert!(windows.last().is_some_and(|(time, _)| *time > 500.0));
}

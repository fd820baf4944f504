//! The contract of `kneepoint log` and of `kneepoint trace stats`, `convert` and `plot`, checked on the built command.

mod command;

use std::fs;

use command::{all_refused, directory, json, refused, stdout};

const LOG: &str = "# queue: infinite\n# base timestamp: 1000\n1000 + 500\n1002 # 1504\n1002 - 500 2\n\
                   1006 + 1504\n1006 d 2 3008\n1010 # 1504\n1010 - 1504 4\n";

#[test]
fn a_log_in_numbers() {
    let directory = directory("log-stats", &[("a.log", LOG)]);
    let numbers = json(&directory, "log stats a.log").remove(0);
    for (key, value) in [
        ("duration_s", 0.01),
        ("capacity_mbps", 2.4064),
        ("throughput_mbps", 1.6032),
        ("utilization", 0.666223),
        ("queue_delay_p95_ms", 4.0),
        ("signal_delay_p95_ms", 9.0),
        ("departed_packets", 2.0),
        ("dropped_bytes", 3008.0),
    ] {
        assert_eq!(numbers[key].as_f64(), Some(value), "{key}: {numbers}");
    }
    let table = stdout(&directory, "log stats a.log");
    assert!(table.contains("utilization          66.62 %\n"), "{table}");
    assert!(
        table.contains("dropped              2 packets, 3008 bytes\n"),
        "{table}"
    );
}

#[test]
fn a_trace_in_numbers() {
    let directory = directory("trace-stats", &[("a.trace", "400\n2000\n")]);
    let numbers = json(&directory, "trace stats a.trace").remove(0);
    for (key, value) in [
        ("duration_s", 2.0),
        ("mean_mbps", 0.012032),
        ("outages", 2.0),
        ("longest_gap_ms", 1600.0),
        ("wrap_gap_ms", 400.0),
        ("wrap_coinciding", 0.0),
    ] {
        assert_eq!(numbers[key].as_f64(), Some(value), "{key}: {numbers}");
    }
    assert_eq!(numbers["rates_1s_mbps"]["p50"], 0.012032);
    let table = stdout(&directory, "trace stats a.trace");
    assert!(
        table.contains("2 longer than 300 ms; the longest gap is 1600 ms"),
        "{table}"
    );
}

#[test]
fn traces_are_converted() {
    let rates = "time_s,rate_mbps\n0,1.2032\n0.02,2.4064\n";
    let files = [("rates.CSV", rates), ("a.trace", "0\n5\n10\n20\n20\n30\n")];
    let directory = directory("convert", &files);
    let convert = |arguments: &str| {
        let all = format!("trace convert --out out.trace {arguments}");
        assert_eq!(stdout(&directory, &all), "");
        fs::read_to_string(directory.join("out.trace")).expect("the trace was written")
    };
    assert_eq!(convert("rates.CSV"), "10\n20\n25\n30\n35\n40\n");
    assert_eq!(convert("a.trace"), "0\n5\n10\n20\n20\n30\n");
    assert_eq!(convert("a.trace --from 5ms --to 20ms"), "5\n15\n15\n");
    assert_eq!(convert("a.trace --from 0s --to 10ms"), "0\n5\n10\n");
    assert_eq!(convert("a.trace --scale 0.5"), "5\n20\n30\n");
    assert_eq!(
        convert("a.trace --from 10ms --scale 2"),
        "10\n10\n10\n10\n20\n20\n"
    );
}

/// The file that is read is never lost, by whichever name it is written to.
#[test]
fn a_conversion_never_overwrites_what_it_reads() {
    let rates = "time_s,rate_mbps\n0,1.2032\n0.02,2.4064\n";
    let files = [("m.csv", rates), ("old.trace", "7\n")];
    let directory = directory("convert-in-place", &files);
    #[cfg(unix)]
    std::os::unix::fs::symlink("m.csv", directory.join("link.csv")).expect("it can be linked");
    let read = |name: &str| fs::read_to_string(directory.join(name)).expect("it is there");
    for out in ["m.csv", "./m.csv", "../convert-in-place/m.csv"]
        .into_iter()
        .chain(cfg!(unix).then_some("link.csv"))
    {
        let command = format!("trace convert m.csv --out {out}");
        refused(&directory, &command, &["--out", out]);
        assert_eq!(read("m.csv"), rates);
    }
    assert_eq!(
        stdout(&directory, "trace convert m.csv --out old.trace"),
        ""
    );
    assert_eq!(read("old.trace"), "10\n20\n25\n30\n35\n40\n");
    let left = fs::read_dir(&directory).expect("it is there").count();
    assert_eq!(left, 2 + usize::from(cfg!(unix)));
}

#[test]
fn plots_are_drawn() {
    let directory = directory("file-plots", &[("a.log", LOG), ("b.trace", "400\n2000\n")]);
    for (arguments, name) in [
        ("log plot a.log --out plots", "a"),
        ("trace plot b.trace --out plots", "b"),
    ] {
        assert_eq!(stdout(&directory, arguments), "");
        let file = |extension| fs::read(directory.join(format!("plots/{name}.{extension}")));
        let svg = String::from_utf8(file("svg").expect("there is an SVG")).expect("it is text");
        assert!(svg.starts_with("<svg") && svg.contains("(Mb/s)"), "{name}");
        assert!(file("png").expect("there is a PNG").starts_with(b"\x89PNG"));
    }
}

#[test]
fn bad_input_is_blamed_in_one_line() {
    let long = "# base timestamp: 0\n99999999999999 + 1\n";
    let files = [
        ("bad.log", "# base timestamp: 7\n9 + 1\n9 - one 1\n"),
        ("early.log", "# base timestamp: 7\n6 + 1\n"),
        ("long.log", long),
        ("a.log", LOG),
        ("a.trace", "5\n10\n"),
        ("bad.trace", "5\nx\n"),
        ("long.trace", "99999999999\n"),
        ("bad.csv", "time_s,rate_mbps\n1,2\n2,nothing\n"),
        ("inf.csv", "time_s,rate_mbps\n1,2\n2,inf\n"),
        ("none.csv", "time_s,rate_mbps\n1,0\n2,0\n"),
    ];
    let directory = directory("bad-files", &files);
    let cases = r#"
log => command is missing
log stats no.log => kneepoint: cannot read log no.log: 
log stats bad.log => bad.log:3 | "one"
log stats early.log => early.log:2 | 6 ms | 7 ms
log stats a.log --format csv => --format | csv
log plot a.log => --out
log plot a.log --out a.log => --out | a.log
log plot long.log --out x => kneepoint: long.log | 86400s
trace stats bad.trace => kneepoint: bad.trace:2 | "x"
trace plot long.trace --out x => long.trace
trace convert bad.csv --out x => kneepoint: bad.csv:3 | "nothing"
trace convert inf.csv --out x => inf.csv:3 | inf
trace convert none.csv --out x => none.csv | 0.000 bytes
trace convert a.trace --out x --scale 1e-300 => --scale | a.trace | 1e-300
trace convert a.trace --out no/x => --out | no/x
trace convert a.trace --out x --scale 0 => --scale | 0
trace convert a.trace --out x --scale -1 => --scale | -1
trace convert a.trace --out x --to 1s => --to | a.trace
trace convert a.trace --out x --from 10ms => --from | a.trace
trace convert a.trace --out x --to 1us => --to | millisecond
"#;
    all_refused(&directory, cases);
}

/// The logs of a run's two directions differ in their extensions only.
#[test]
fn each_log_has_a_plot_of_its_own() {
    let files = [("run.up", LOG), ("run.down", LOG), ("other.log", LOG)];
    let directory = directory("log-plots", &files);
    for (name, _) in files {
        stdout(&directory, &format!("log plot {name} --out plots"));
    }
    for plot in ["run.up.svg", "run.down.svg", "other.svg"] {
        let text = fs::read_to_string(directory.join("plots").join(plot));
        let text = text.unwrap_or_else(|error| panic!("{plot}: {error}"));
        let title = plot.strip_suffix(".svg").expect("it ends so");
        assert!(text.contains(title), "{plot} is titled otherwise");
    }
}

/// A device has no end, and a sparse file is made in no time: neither may take the memory.
#[test]
#[cfg(target_os = "linux")]
fn files_without_an_end_are_refused() {
    let directory = directory("endless", &[]);
    let sparse = fs::File::create(directory.join("sparse.csv")).expect("the file can be made");
    sparse.set_len(1 << 40).expect("the file can be sparse");
    std::os::unix::fs::symlink("/dev/zero", directory.join("zero.csv")).expect("it can be linked");
    for arguments in [
        "trace convert zero.csv --out out",
        "trace convert sparse.csv --out out",
        "trace stats /dev/zero",
        "compare --trace /dev/zero",
        "log stats /dev/zero",
    ] {
        refused(&directory, arguments, &["larger than"]);
    }
}

#[test]
fn a_rate_that_would_take_hours_is_refused() {
    let directory = directory("fast", &[]);
    refused(&directory, "compare --rate 1000Gbps", &["--duration"]);
}

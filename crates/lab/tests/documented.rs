//! The figures of the documents are those that the documented commands print, in virtual time.
//!
//! A row of a page is found by the controller's name in its first cell; the cells after that have to be the command's. What takes
//! longer than some seconds is ignored, and runs with `cargo test -p kneepoint-lab --test documented -- --ignored`.

mod command;

use std::fs;
use std::path::Path;

use command::{anywhere, json, stdout};
use serde_json::Value;

/// A page of the repository.
fn page(name: &str) -> String {
    fs::read_to_string(root().join(name)).expect("the page exists")
}

/// A figure of a row of JSON.
fn figure(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap_or(f64::NAN)
}

fn rate(row: &Value) -> String {
    format!("{:.2}", figure(row, "goodput_mbps"))
}

/// A share in per cent.
fn percent(share: f64, digits: usize) -> String {
    format!("{:.digits$} %", share * 100.0)
}

fn millis(row: &Value, key: &str) -> String {
    format!("{:.0} ms", figure(row, key))
}

/// Goodput, utilization, three round-trip times, loss: the columns that the command itself prints.
fn printed(row: &Value) -> Vec<String> {
    let loss = figure(row, "loss_rate");
    let loss = match loss * 100.0 {
        ..0.05 => "0 %".to_owned(),
        10.0.. => percent(loss, 0),
        _ => percent(loss, 1),
    };
    let [mean, p95, p99] = ["rtt_mean_ms", "rtt_p95_ms", "rtt_p99_ms"].map(|key| millis(row, key));
    let utilization = percent(figure(row, "utilization"), 1);
    vec![rate(row), utilization, mean, p95, p99, loss]
}

/// `97.4 %, 78 ms`.
fn share_and_rtt(row: &Value) -> String {
    let utilization = percent(figure(row, "utilization"), 1);
    format!("{utilization}, {}", millis(row, "rtt_mean_ms"))
}

/// `15.92, 78/139/181`.
fn rate_and_rtts(row: &Value) -> String {
    let [mean, p95, p99] = ["rtt_mean_ms", "rtt_p95_ms", "rtt_p99_ms"].map(|key| figure(row, key));
    format!("{}, {mean:.0}/{p95:.0}/{p99:.0}", rate(row))
}

/// `15.92, 78`.
fn rate_and_rtt(row: &Value) -> String {
    format!("{}, {:.0}", rate(row), figure(row, "rtt_mean_ms"))
}

/// The rows of the page that a controller's name begins, as cells. The name may have another one before it, as in `noq:NAME`.
fn rows<'a>(page: &'a str, name: &str) -> Vec<Vec<&'a str>> {
    let name = format!("`{name}`");
    let lines = page.lines().filter_map(|line| line.strip_prefix("| "));
    let cells = lines.map(|line| line.trim_end_matches([' ', '|']).split(" | ").collect());
    cells
        .filter(|cells: &Vec<&str>| cells[0].starts_with(&name))
        .collect()
}

/// Runs the command, and compares all of its rows with those of the page.
#[track_caller]
fn compare(name: &str, command: &str, cells: fn(&Value) -> Vec<String>) {
    let page = page(name);
    let mut wrong = Vec::new();
    for row in json(anywhere(), command) {
        let controller = row["controller"].as_str().expect("a name");
        let expected = cells(&row);
        let found = rows(&page, controller);
        if !found.iter().any(|cells| cells[1..] == expected) {
            wrong.push(format!(
                "`{controller}` has {expected:?}, {name} has {found:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{command}\n{}", wrong.join("\n"));
}

/// Where the traces are.
fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Runs the command, and compares the controllers' cells of one column with those of the page.
#[track_caller]
fn column(name: &str, at: usize, command: &str, cell: fn(&Value) -> String) {
    let page = page(name);
    for row in json(root(), command) {
        let controller = row["controller"].as_str().expect("a name");
        let expected = cell(&row);
        let rows = rows(&page, controller);
        let found = rows.iter().any(|cells| cells.get(at) == Some(&&*expected));
        assert!(
            found,
            "{command}: `{controller}` has {expected}, {name} has {rows:?}"
        );
    }
}

#[test]
fn the_table_of_the_first_page() {
    let command =
        "compare --controllers knee,bbr-s,bbr,bbr3,vegas,quinn-cubic,quinn-new-reno,quinn-bbr";
    compare("README.md", command, printed);
    let command = "compare --controllers quinn-cubic --flow-control stock";
    compare("README.md", command, printed);
}

#[test]
fn the_figures_beside_noq() {
    let command =
        "compare --controllers quinn-cubic,noq-cubic,bbr,noq:bbr,bbr3,noq:bbr3,bbr-s,noq:bbr-s";
    compare("docs/NOQ.md", command, printed);
}

#[test]
#[ignore = "six runs over noq"]
fn what_a_pace_does_on_noq() {
    let page = page("docs/NOQ.md");
    for name in ["bbr-sampled", "bbr3-s", "bbr2-sampled"] {
        let command = format!("compare --controllers noq:{name}:paper,noq:{name}");
        let mut expected = vec![format!("`{name}`")];
        expected.extend(json(anywhere(), &command).iter().map(share_and_rtt));
        let found = rows(&page, name);
        assert!(
            found.iter().any(|cells| *cells == expected),
            "{expected:?}, {found:?}"
        );
    }
}

#[test]
fn the_window_policies() {
    for (at, options) in [(1, ""), (2, "--rate 10Mbps ")] {
        let command = format!("compare {options}--controllers bbr,bbr:tuned,bbr-s");
        column("docs/WINDOW_MAPPING.md", at, &command, rate_and_rtts);
    }
}

#[test]
fn the_papers_filter() {
    let names = "bbr,bbr-s,bbr-s:published,noq:bbr-s,noq:bbr-s:published,knee";
    for (at, options) in [
        (1, ""),
        (2, "--rate 10Mbps "),
        (3, "--rate 10Mbps --loss 1% "),
    ] {
        let command = format!("compare {options}--controllers {names}");
        column("docs/BBR-S.md", at, &command, rate_and_rtts);
    }
}

#[test]
fn the_papers_filter_on_a_link_that_opens_and_closes() {
    let names = "bbr-s,bbr-s:published,noq:bbr-s,noq:bbr-s:published,knee,quinn-cubic";
    let trace = "compare --trace traces/wigig-crowd.trace --duration 20s";
    let command = format!("{trace} --controllers {names}");
    column("docs/BBR-S.md", 1, &command, rate);
    let rtt = |row: &Value| format!("{:.0}", figure(row, "rtt_mean_ms"));
    column("docs/BBR-S.md", 2, &command, rtt);
}

/// The last share of a run is the controller's own.
#[test]
fn the_share_beside_cubic() {
    let command = "frontier --controllers knee --family competition --runs --seeds 2";
    let printed = stdout(anywhere(), command);
    let share = |buffer: &str| -> String {
        let start = format!("beside quinn-cubic at {buffer}bdp,");
        let runs = printed
            .lines()
            .filter(|line| line.trim_start().starts_with(&start));
        let shares = runs.filter_map(|line| line.split_whitespace().last()?.parse().ok());
        format!("{:.0}", 100.0 * shares.fold(f64::INFINITY, f64::min))
    };
    let [half, one, two, four] = ["0.5", "1", "2", "4"].map(share);
    let sentence = format!("{half}, {one}, {two} and {four} %");
    for name in ["README.md", "docs/KNEE.md", "docs/results/knee-limits.md"] {
        assert!(page(name).contains(&sentence), "{name}: {sentence}");
    }
}

#[test]
fn a_steady_link_and_random_loss() {
    choosing("a", "--rate 10Mbps");
    choosing("b", "--rate 20Mbps --rtt 40ms --loss 0.01");
}

#[test]
#[ignore = "ten runs of 20 and 100 Mb/s"]
fn a_shallow_buffer_and_a_long_fat_path() {
    choosing("c", "--rate 20Mbps --rtt 40ms --queue 50kB");
    choosing("d", "--rate 100Mbps --rtt 200ms");
}

/// A row of the table of situations.
#[track_caller]
fn choosing(letter: &str, options: &str) {
    let page = page("docs/CHOOSING_A_CONTROLLER.md");
    let start = format!("| {letter} | `{options}` |");
    let line = page.lines().find(|line| line.starts_with(&start));
    let cells: Vec<&str> = line
        .expect("the row exists")
        .split('|')
        .map(str::trim)
        .collect();
    let command = format!("compare {options} --controllers knee,bbr,bbr3,vegas,cubic");
    let figures: Vec<String> = json(anywhere(), &command)
        .iter()
        .map(rate_and_rtt)
        .collect();
    assert_eq!(cells[3..8], figures, "{command}");
}

#[test]
fn one_flow_and_four_on_constant_links() {
    let rtt = |command: &str| -> Vec<String> {
        let rows = json(anywhere(), command);
        rows.iter()
            .map(|row| format!("{:.0}", figure(row, "rtt_mean_ms")))
            .collect()
    };
    let [knee, bbr] = &rtt("compare --rate 10Mbps --controllers knee,bbr")[..] else {
        panic!("two rows")
    };
    let sentence = format!("at {knee} ms instead of {bbr} (`kneepoint compare --rate 10Mbps`)");
    assert!(page("README.md").contains(&sentence), "{sentence}");
}

#[test]
#[ignore = "24 flows"]
fn the_fairness_of_four_flows() {
    let [mut knee, mut bbr] = [const { Vec::new() }; 2];
    for seed in 1..=3 {
        let command =
            format!("compare --rate 50Mbps --flows 4 --seed {seed} --controllers knee,bbr");
        for row in json(anywhere(), &command) {
            let jain = format!("{:.2}", figure(&row, "jain"));
            match row["controller"].as_str() {
                Some("knee") => knee.push(jain),
                _ => bbr.push(jain),
            }
        }
    }
    let listed = |jains: &[String]| format!("{}, {} and {}", jains[0], jains[1], jains[2]);
    let prose = page("README.md").replace('\n', " ");
    for sentence in [
        format!("{} with seeds 1 to 3", listed(&knee)),
        format!("{} for `bbr`", listed(&bbr)),
    ] {
        assert!(prose.contains(&sentence), "{sentence}");
    }
}

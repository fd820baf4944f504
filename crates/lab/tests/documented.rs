//! The figures of the documents are those that the documented commands print, in virtual time.
//!
//! A row of a page is found by the controller's name in its first cell; the cells after that have to be the command's. What takes
//! longer than some seconds is ignored, and runs with `cargo test -p kneepoint-lab --test documented -- --ignored`.

mod command;

use std::fs;
use std::path::Path;

use command::{anywhere, json};
use serde_json::Value;

/// A page of the repository.
fn page(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::read_to_string(root.join(name)).expect("the page exists")
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
fn share_and_rtt(row: &Value) -> Vec<String> {
    let utilization = percent(figure(row, "utilization"), 1);
    vec![format!("{utilization}, {}", millis(row, "rtt_mean_ms"))]
}

/// `15.92, 78/139/181`.
fn rate_and_rtts(row: &Value) -> Vec<String> {
    let [mean, p95, p99] = ["rtt_mean_ms", "rtt_p95_ms", "rtt_p99_ms"].map(|key| figure(row, key));
    vec![format!("{}, {mean:.0}/{p95:.0}/{p99:.0}", rate(row))]
}

/// `15.92, 78`.
fn rate_and_rtt(row: &Value) -> Vec<String> {
    vec![format!("{}, {:.0}", rate(row), figure(row, "rtt_mean_ms"))]
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

/// Runs the command, and looks for the cell of each row in one row of the page, which `label` begins.
#[track_caller]
fn across(name: &str, label: &str, command: &str, cells: fn(&Value) -> Vec<String>) {
    let page = page(name);
    let start = format!("| {label} |");
    let line = page.lines().find(|line| line.starts_with(&start));
    let line = line.unwrap_or_else(|| panic!("{name} has no row {label}"));
    for row in json(anywhere(), command) {
        for cell in cells(&row) {
            let found = line.split('|').any(|found| found.trim() == cell);
            assert!(found, "{command}\n{} has {cell}\n{line}", row["controller"]);
        }
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
    for name in ["bbr-sampled", "bbr3-s", "bbr2-sampled"] {
        let command = format!("compare --controllers noq:{name}:paper,noq:{name}");
        across("docs/NOQ.md", &format!("`{name}`"), &command, share_and_rtt);
    }
}

#[test]
fn the_window_policies_on_a_constant_link() {
    let command = "compare --rate 10Mbps --controllers bbr,bbr:tuned,bbr-s";
    windows(command, 2);
}

#[test]
fn the_window_policies_over_lte() {
    windows("compare --controllers bbr,bbr:tuned,bbr-s", 1);
}

/// A column of the table of window policies.
#[track_caller]
fn windows(command: &str, column: usize) {
    let page = page("docs/WINDOW_MAPPING.md");
    for row in json(anywhere(), command) {
        let name = row["controller"].as_str().expect("a name");
        let rows = rows(&page, name);
        let found = rows.iter().find_map(|cells| cells.get(column));
        let expected = rate_and_rtts(&row);
        assert_eq!(found.copied(), Some(&*expected[0]), "{command}: {name}");
    }
}

#[test]
fn a_steady_link_and_random_loss() {
    choosing("a", "--rate 10Mbps");
    choosing("b", "--rate 20Mbps --rtt 40ms --loss 0.01");
}

#[test]
#[ignore = "eight runs of 20 and 100 Mb/s"]
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
    let command = format!("compare {options} --controllers bbr,bbr3,vegas,cubic");
    let figures: Vec<String> = json(anywhere(), &command)
        .iter()
        .flat_map(rate_and_rtt)
        .collect();
    assert_eq!(cells[3..7], figures, "{command}");
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

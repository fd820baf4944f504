//! Measurements over real sockets, as people and programs read them.

use crate::loopback::Row;
use crate::output;

/// A table for each path, and what is to be known of the machine.
pub(super) fn table(rows: &[Row]) -> String {
    let mut text: String = rows.chunk_by(|a, b| a.path == b.path).map(path).collect();
    text += &machine(rows);
    text
}

fn path(rows: &[Row]) -> String {
    let Some(first) = rows.first() else {
        return String::new();
    };
    let table = output::table::table(TITLES, rows.iter().map(cells));
    let unfinished: String = rows.iter().map(unfinished).collect();
    let (processes, size) = (first.processes, first.size_bytes as f64 / 1e6);
    let runs = rows.iter().map(|row| row.runs.len());
    let (least, most) = (runs.clone().min(), runs.max());
    format!(
        "{}; {size} MB, {}, {}\n{table}\n{unfinished}\n",
        first.path,
        match (least.unwrap_or_default(), most.unwrap_or_default()) {
            (1, 1) => "1 run".to_owned(),
            (least, most) if least == most => format!("{most} runs"),
            // It was interrupted in the middle of a turn.
            (least, most) => format!("{least} to {most} runs"),
        },
        if processes == 1 {
            "1 process"
        } else {
            "2 processes"
        },
    )
}

fn cells(row: &Row) -> Vec<String> {
    let digits = |value: Option<f64>, digits: usize| {
        value.map_or("-".to_owned(), |value| format!("{value:.digits$}"))
    };
    vec![
        row.controller.clone(),
        megabits(row.goodput_mbps),
        megabits(row.goodput_min_mbps),
        megabits(row.goodput_max_mbps),
        digits(row.goodput_of_stock, 2),
        digits(row.sender_cpu_s_per_gb, 2),
        digits(row.receiver_cpu_s_per_gb, 2),
        digits(row.rtt_mean_ms, 3),
        digits(row.rtt_p50_ms, 3),
        digits(row.rtt_p95_ms, 3),
        digits(row.window_median_bytes.map(|bytes| bytes / 1e3), 0),
        digits(row.window_max_bytes.map(|bytes| bytes as f64 / 1e3), 0),
        digits(row.loss_rate.map(|rate| rate * 100.0), 2),
    ]
}

/// Four digits or so, of rates between a kilobit and some gigabits per second.
fn megabits(rate: f64) -> String {
    match rate {
        rate if rate < 1.0 => format!("{rate:.4}"),
        rate if rate < 100.0 => format!("{rate:.2}"),
        rate => format!("{rate:.0}"),
    }
}

fn unfinished(row: &Row) -> String {
    let line = |(share, end)| {
        let (name, percent) = (&row.controller, share * 100.0);
        format!("  {name}: unfinished at {percent:.1} %: {end}\n")
    };
    row.unfinished().map(line).collect()
}

fn machine(rows: &[Row]) -> String {
    let Some(first) = rows.first() else {
        return String::new();
    };
    let mut text = format!("machine: {} processors", first.machine.processors);
    if let Some(load) = first.machine.load_average {
        text += &format!(", load average {load} before the first run");
    }
    let mut shares: Vec<f64> = rows
        .iter()
        .flat_map(|row| &row.runs)
        .filter_map(|run| run.processor_share)
        .collect();
    shares.sort_by(f64::total_cmp);
    if let (Some(&min), Some(&middle)) = (shares.first(), shares.get(shares.len() / 2)) {
        text += &format!(
            "; before each run two computing threads had a processor for {:.0} % of the time (median), {:.0} % at the least",
            middle * 100.0,
            min * 100.0
        );
        if middle < IDLE {
            text += "\nThe machine did something else meanwhile: these are not the figures of an idle machine.";
        }
    }
    text.push('\n');
    if cfg!(debug_assertions) {
        text += "This program was built without --release: it is slower than it can be.\n";
    }
    text
}

const TITLES: [&str; 13] = [
    "controller",
    "goodput\nMb/s",
    "least",
    "most",
    "of best\nstock",
    "sender\nCPU s/GB",
    "receiver\nCPU s/GB",
    "RTT\nmean ms",
    "RTT\np50 ms",
    "RTT\np95 ms",
    "window\nmedian kB",
    "window\nmax kB",
    "loss\n%",
];

/// The share of a processor below which a machine is not idle.
const IDLE: f64 = 0.9;

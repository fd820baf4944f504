//! Tables of records.

use std::collections::BTreeSet;

use super::family::Family;
use super::record::Record;
use super::verdict::{Collapse, REFERENCE, judge, key};
use crate::output::table::table;

/// Records of one controller, with the verdicts on them.
#[derive(Debug, Clone, Default)]
pub struct Row<'a> {
    /// The controller.
    pub controller: &'a str,
    runs: Vec<(&'a Record, &'a [Collapse])>,
    /// The runs that collapse, where quinn-cubic's of the same scenario and seed does not.
    worse: usize,
}

impl<'a> Row<'a> {
    /// One row for each controller, in the order in which they first come.
    pub fn of(records: &'a [Record], verdicts: &'a [Vec<Collapse>]) -> Vec<Self> {
        let mut rows: Vec<Self> = Vec::new();
        let held: BTreeSet<_> = records
            .iter()
            .zip(verdicts)
            .filter(|(record, verdict)| record.controller == REFERENCE && verdict.is_empty())
            .map(|(record, _)| key(record))
            .collect();
        for (record, verdict) in records.iter().zip(verdicts) {
            let worse = usize::from(!verdict.is_empty() && held.contains(&key(record)));
            let run = (record, verdict.as_slice());
            let known = rows
                .iter_mut()
                .find(|row| row.controller == record.controller);
            match known {
                Some(row) => {
                    row.runs.push(run);
                    row.worse += worse;
                }
                None => rows.push(Self {
                    controller: &record.controller,
                    runs: vec![run],
                    worse,
                }),
            }
        }
        rows
    }

    /// The share of the runs without a collapse.
    pub fn held(&self) -> f64 {
        let held = self.runs.iter().filter(|(_, reasons)| reasons.is_empty());
        held.count() as f64 / self.runs.len().max(1) as f64
    }

    /// The mean utilization of bulk data.
    pub fn utilization(&self) -> Option<f64> {
        mean(self.bulk().map(|record| record.utilization))
    }

    /// The geometric mean of mean RTT over base RTT.
    pub fn rtt_ratio(&self) -> Option<f64> {
        geometric_mean(self.records().filter_map(|record| record.rtt_ratio))
    }

    /// The geometric mean of the power of bulk data.
    pub fn power(&self) -> Option<f64> {
        geometric_mean(self.bulk().filter_map(|record| record.power))
    }

    /// How many runs collapse where quinn-cubic's of the same scenario and seed does not.
    pub fn worse(&self) -> usize {
        self.worse
    }

    /// The runs in which a flow starves; `None` if no flows share a link.
    pub fn starving(&self) -> Option<usize> {
        let starving = |record: &&Record| record.shares.iter().any(|share| *share < STARVING);
        let shared = self.records().any(|record| !record.shares.is_empty());
        shared.then(|| self.records().filter(starving).count())
    }

    fn records(&self) -> impl Iterator<Item = &'a Record> {
        self.runs.iter().map(|(record, _)| *record)
    }

    fn bulk(&self) -> impl Iterator<Item = &'a Record> {
        self.records().filter(|record| record.bulk)
    }
}

/// What a table shows of a row.
struct Column {
    title: &'static str,
    value: fn(&Row<'_>) -> Option<f64>,
    text: fn(f64) -> String,
}

const fn column(
    title: &'static str,
    text: fn(f64) -> String,
    value: fn(&Row<'_>) -> Option<f64>,
) -> Column {
    Column { title, value, text }
}

const COLUMNS: [Column; 17] = [
    column("runs", whole, |row| Some(row.runs.len() as f64)),
    column("held\n%", percent, |row| Some(row.held())),
    column("CUBIC\nbetter", whole, |row| Some(row.worse() as f64)),
    column("util.\nmean %", percent, |row| row.utilization()),
    column("util.\nmin %", percent, |row| {
        row.bulk().map(|record| record.utilization).reduce(f64::min)
    }),
    column("RTT\nx base", three, |row| row.rtt_ratio()),
    column("p95\nx base", three, |row| {
        let ratio = |record: &Record| Some(record.rtt_p95_ms? / record.base_rtt_ms);
        geometric_mean(row.records().filter_map(ratio))
    }),
    column("late RTT\nx base", three, |row| {
        geometric_mean(row.bulk().filter_map(|record| record.late_rtt_ratio))
    }),
    column("power", three, |row| row.power()),
    column("loss\nmean %", percent, |row| {
        mean(row.records().map(|record| record.loss))
    }),
    column("loss\nmax %", percent, |row| {
        row.records().map(|record| record.loss).reduce(f64::max)
    }),
    column("message\nms", three, |row| {
        geometric_mean(row.records().filter_map(|record| record.message_mean_ms))
    }),
    column("p95\nms", three, |row| {
        geometric_mean(row.records().filter_map(|record| record.message_p95_ms))
    }),
    column("Jain\nmin", three, |row| {
        row.records()
            .filter_map(|record| record.jain)
            .reduce(f64::min)
    }),
    column("share\nmin", three, |row| {
        row.records()
            .filter_map(|record| record.share)
            .reduce(f64::min)
    }),
    column("starving\nruns", whole, |row| {
        row.starving().map(|runs| runs as f64)
    }),
    column("other's\nshare min", three, |row| {
        row.records()
            .filter_map(|record| record.other_share)
            .reduce(f64::min)
    }),
];

/// A table for each family, the collapses under it, and a table for all families together. With `runs`, a line for each run as well.
pub fn report(records: &[Record], runs: bool) -> String {
    let verdicts = judge(records);
    let (mut text, mut families) = (String::new(), 0);
    for family in Family::ALL {
        let members = || {
            let pairs = records.iter().zip(&verdicts);
            pairs.filter(move |(record, _)| record.family == family)
        };
        let of_family: Vec<Record> = members().map(|(record, _)| record.clone()).collect();
        let verdicts: Vec<Vec<Collapse>> = members().map(|(_, verdict)| verdict.clone()).collect();
        if of_family.is_empty() {
            continue;
        }
        families += 1;
        let rows = Row::of(&of_family, &verdicts);
        text += &format!("{family}\n{}\n", print(&rows));
        if runs {
            text += &each(&of_family);
        }
        text += &collapses(&of_family, &verdicts);
        text.push('\n');
    }
    if families > 1 {
        text += &format!("all families\n{}\n", print(&Row::of(records, &verdicts)));
    }
    if records.iter().all(|record| record.controller != REFERENCE) {
        text += &format!("Without {REFERENCE} no run collapses for its loss.\n");
    }
    text
}

/// The columns in which any row has a value.
fn print(rows: &[Row<'_>]) -> String {
    let columns: Vec<&Column> = COLUMNS
        .iter()
        .filter(|column| rows.iter().any(|row| (column.value)(row).is_some()))
        .collect();
    let titles = columns.iter().map(|column| column.title);
    let lines = rows.iter().map(|row| {
        let cells = columns.iter().map(|column| match (column.value)(row) {
            Some(value) => (column.text)(value),
            None => "-".to_owned(),
        });
        [row.controller.to_owned()]
            .into_iter()
            .chain(cells)
            .collect()
    });
    table(["controller"].into_iter().chain(titles), lines).to_string()
}

/// A line for each run.
fn each(records: &[Record]) -> String {
    let titles = [
        "run",
        "util. %",
        "RTT ms",
        "p95 ms",
        "x base",
        "loss %",
        "message ms",
        "Jain",
        "shares",
    ];
    let optional = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), three);
    let mut records: Vec<&Record> = records.iter().collect();
    records.sort_by_key(|record| (record.scenario.as_str(), record.seed));
    let lines = records.into_iter().map(|record| {
        let shares: Vec<String> = record
            .shares
            .iter()
            .map(|share| format!("{share:.2}"))
            .collect();
        vec![
            format!(
                "{}, seed {}: {}",
                record.scenario, record.seed, record.controller
            ),
            percent(record.utilization),
            optional(record.rtt_mean_ms),
            optional(record.rtt_p95_ms),
            optional(record.rtt_ratio),
            percent(record.loss),
            optional(record.message_mean_ms),
            optional(record.jain),
            shares.join(" "),
        ]
    });
    format!("{}\n", table(titles, lines))
}

/// A line for each run that is a collapse.
fn collapses(records: &[Record], verdicts: &[Vec<Collapse>]) -> String {
    let runs = records.iter().zip(verdicts);
    runs.filter(|(_, reasons)| !reasons.is_empty())
        .map(|(record, reasons)| {
            let reasons: Vec<String> = reasons.iter().map(ToString::to_string).collect();
            format!(
                "  collapse: {}, {}, seed {}: {}\n",
                record.controller,
                record.scenario,
                record.seed,
                reasons.join("; ")
            )
        })
        .collect()
}

/// A flow with a smaller part of its fair share starves.
const STARVING: f64 = 0.4;

pub(super) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// Of positive values: others would make it zero, or no number.
pub(super) fn geometric_mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    mean(values.filter(|value| *value > 0.0).map(f64::ln)).map(f64::exp)
}

fn whole(value: f64) -> String {
    format!("{value:.0}")
}

pub(super) fn percent(value: f64) -> String {
    format!("{:.1}", value * 100.0)
}

pub(crate) fn three(value: f64) -> String {
    match value {
        value if value < 0.0995 => format!("{value:.4}"),
        value if value < 9.995 => format!("{value:.3}"),
        value if value < 99.95 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    }
}

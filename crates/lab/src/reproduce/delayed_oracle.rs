//! What a sender gets that is told of the link's rate late, beside what controllers get that have to measure it.

use super::report::{Section, Table, change, number, percent};
use super::trace_runs::TraceRuns;
use crate::plots::{Axis, Chart, Mark};

/// The queue target of a delayed oracle of this name, as a share of the mean rate.
pub(super) fn queue_target(controller: &str) -> Option<f64> {
    let mut known = DELAYED_ORACLES.iter();
    known
        .find(|(name, _)| *name == controller)
        .map(|(_, queue_target)| *queue_target)
}

/// The delayed oracle beside `bbr` and `bbr-s`: a table with a row for each seed, and a chart, which [`ABOUT`]
/// explains.
pub(super) fn compare(section: Section, runs: &TraceRuns<'_>, caption: &str) -> Section {
    let mut table = Table::new(
        format!("{caption}: 99th percentile of the RTT, and what informed senders make of it"),
        &[
            "seed",
            "`bbr`, ms",
            "`bbr-s`, ms",
            "change",
            "use",
            "informed, ms",
            "change",
            "use",
            "head-room",
        ],
    );
    let mut chart = Chart::new(
        format!("{caption}: what informed senders get, by their head-room"),
        Axis::linear("less use of the link than bbr, %"),
        Axis::linear("99th percentile of the RTT against that of bbr, %"),
    );
    for (seed, runs) in runs.by(|case| case.seed) {
        let one = |controller: &str| runs.under(controller).first().map(|run| &run.summary);
        let Some(bbr) = one("bbr") else {
            continue;
        };
        let against = |controller: &str| {
            let run = one(controller)?;
            Some((run.used() / bbr.used(), run.rtt.p99))
        };
        let delayed_oracle = DELAYED_ORACLES.iter().filter_map(|(name, queue_target)| {
            against(name).map(|(share, p99)| (share, p99, *queue_target))
        });
        let delayed_oracle: Vec<_> = delayed_oracle.collect();
        let enough = delayed_oracle.iter().filter(|(share, ..)| *share >= ENOUGH);
        let best = enough.min_by(|a, b| a.1.total_cmp(&b.1));
        let (Some((share, ours)), Some((min, theirs, queue_target))) = (against("bbr-s"), best)
        else {
            continue;
        };
        table.row([
            seed.to_string(),
            number(bbr.rtt.p99),
            number(ours),
            change(ours / bbr.rtt.p99),
            percent(share),
            number(*theirs),
            change(theirs / bbr.rtt.p99),
            percent(*min),
            percent(*queue_target),
        ]);
        let point = |share: f64, p99: f64| (100.0 * (1.0 - share), 100.0 * p99 / bbr.rtt.p99);
        let curve = delayed_oracle
            .iter()
            .map(|&(share, p99, _)| point(share, p99));
        chart = chart
            .series(format!("informed, seed {seed}"), Mark::Dots, curve)
            .series(
                format!("bbr-s, seed {seed}"),
                Mark::Dots,
                [point(share, ours)],
            );
    }
    section.table(table).chart(chart)
}

/// What the table and the chart mean.
pub(super) const ABOUT: &str = "An informed sender is told how much the link could have carried until half a round trip ago, also while it \
     was idle, which no controller can measure; only the future it does not know. It keeps in flight what the link could carry in a \
     round trip, and head-room in proportion to the mean of the last second. Of those that make at least 95 % of the use of the link that \
     `bbr` makes, the table has the one with the least 99th percentile. Changes and use are against `bbr`.";

/// Of what `bbr` uses.
const ENOUGH: f64 = 0.95;

/// The delayed oracles, and their queue targets.
pub(super) const DELAYED_ORACLES: [(&str, f64); 8] = [
    ("informed:0%", 0.0),
    ("informed:10%", 0.1),
    ("informed:20%", 0.2),
    ("informed:30%", 0.3),
    ("informed:40%", 0.4),
    ("informed:50%", 0.5),
    ("informed:60%", 0.6),
    ("informed:80%", 0.8),
];

//! What a sender makes of traces that is told of the link's rate half a round trip late.

use std::time::Duration;

use kneepoint_emulator::link::Shaper;

use super::FrontierError;
use super::case::Case;
use super::family::Family;
use super::record::Record;
use super::report::{Row, geometric_mean, mean, percent, three};
use crate::ideal::delayed_oracle;
use crate::output::table::table;
use crate::run::RunError;

/// The tables of the trace families: informed senders with several queue targets, and then the power of each controller over the
/// power of the informed sender that uses as much of the link.
///
/// `records` are those of the same suites.
///
/// # Errors
/// A link that cannot be emulated.
pub fn informed(suites: &[(u64, Vec<Case>)], records: &[Record]) -> Result<String, FrontierError> {
    let mut text = String::new();
    for family in [Family::Traces, Family::Generated] {
        let mut points = Vec::new();
        for queue_target in QUEUE_TARGETS {
            let cases = suites.iter().flat_map(|(_, cases)| cases);
            let runs = cases
                .filter(|case| case.family == family)
                .filter_map(|case| run(case, queue_target).transpose())
                .collect::<Result<Vec<_>, _>>()?;
            points.extend(Point::of(queue_target, &runs));
        }
        if !points.is_empty() {
            let of_family = records.iter().filter(|record| record.family == family);
            let of_family: Vec<Record> = of_family.cloned().collect();
            text += &format!(
                "{family}: informed senders\n{}\n{}\n",
                curve(&points),
                beside(&points, &of_family)
            );
        }
    }
    Ok(text)
}

/// `None` if the link follows no trace.
fn run(case: &Case, queue_target: f64) -> Result<Option<Record>, FrontierError> {
    let Shaper::Trace(trace) = &case.path.forward.shaper else {
        return Ok(None);
    };
    let rtt = case.path.base_rtt(Duration::ZERO, case.duration);
    let outcome = delayed_oracle(trace, rtt, case.duration, queue_target);
    let outcome = outcome.map_err(|source| FrontierError::Run {
        scenario: format!("{}/{}", case.family, case.name),
        source: RunError::from(source),
    })?;
    Ok(Some(Record::new(case, "informed", 0, &outcome)))
}

/// An informed sender over all traces of a family.
#[derive(Debug, Clone, Copy)]
struct Point {
    queue_target: f64,
    utilization: f64,
    min: f64,
    rtt_ratio: f64,
    power: f64,
}

impl Point {
    fn of(queue_target: f64, runs: &[Record]) -> Option<Self> {
        let utilizations = || runs.iter().map(|run| run.utilization);
        Some(Self {
            queue_target,
            utilization: mean(utilizations())?,
            min: utilizations().reduce(f64::min)?,
            rtt_ratio: geometric_mean(runs.iter().filter_map(|run| run.rtt_ratio))?,
            power: geometric_mean(runs.iter().filter_map(|run| run.power))?,
        })
    }
}

fn curve(points: &[Point]) -> String {
    let titles = [
        "queue target\n%",
        "util.\nmean %",
        "util.\nmin %",
        "RTT\nx base",
        "power",
    ];
    let lines = points.iter().map(|point| {
        vec![
            format!("{:.0}", 100.0 * point.queue_target),
            percent(point.utilization),
            percent(point.min),
            three(point.rtt_ratio),
            three(point.power),
        ]
    });
    table(titles, lines).to_string()
}

/// The controllers, each beside the informed sender that uses as much.
fn beside(points: &[Point], records: &[Record]) -> String {
    let verdicts = vec![Vec::new(); records.len()];
    let rows = Row::of(records, &verdicts);
    let titles = [
        "controller",
        "util.\nmean %",
        "power",
        "informed\npower",
        "share\n%",
    ];
    let lines = rows.iter().filter_map(|row| {
        let (utilization, power) = (row.utilization()?, row.power()?);
        let informed = power_at(points, utilization);
        let text = |value: Option<f64>, text: fn(f64) -> String| {
            value.map_or_else(|| "-".to_owned(), text)
        };
        Some(vec![
            row.controller.to_owned(),
            percent(utilization),
            three(power),
            text(informed, three),
            text(informed.map(|informed| power / informed), percent),
        ])
    });
    table(titles, lines).to_string()
}

/// The power of the informed sender that uses this much, between two queue targets in proportion. `None` where none does.
fn power_at(points: &[Point], utilization: f64) -> Option<f64> {
    points.windows(2).find_map(|pair| {
        let [less, more] = pair else { return None };
        let (from, to) = (less.utilization, more.utilization);
        (from < to && (from..=to).contains(&utilization))
            .then(|| less.power + (more.power - less.power) * (utilization - from) / (to - from))
    })
}

/// Shares of the mean rate of the last second.
const QUEUE_TARGETS: [f64; 9] = [0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.2, 2.0];

#[cfg(test)]
mod tests {
    use super::*;

    fn point(utilization: f64, power: f64) -> Point {
        Point {
            queue_target: 0.0,
            utilization,
            min: utilization,
            rtt_ratio: 1.0,
            power,
        }
    }

    #[test]
    fn between_two_queue_targets_power_is_in_proportion() {
        let points = [point(0.8, 0.6), point(0.9, 0.5), point(0.95, 0.3)];
        let power = power_at(&points, 0.875).expect("it is between");
        assert!((power - 0.525).abs() < 1e-12, "{power}");
        assert_eq!(power_at(&points, 0.7), None);
        assert_eq!(power_at(&points, 0.96), None);
    }

    /// More in flight uses more of a link that varies, and waits longer.
    #[test]
    fn a_queue_target_buys_use_with_delay() {
        let cases = super::super::cases(1, &[], 0);
        let runs = |queue_target| -> Vec<Record> {
            let cases = cases.iter().filter(|case| case.family == Family::Generated);
            cases
                .filter_map(|case| run(case, queue_target).expect("it runs"))
                .collect()
        };
        let [little, much] =
            [0.0, 0.5].map(|target| Point::of(target, &runs(target)).expect("it has runs"));
        assert!(little.utilization < much.utilization, "{little:?} {much:?}");
        assert!(little.rtt_ratio < much.rtt_ratio, "{little:?} {much:?}");
    }
}

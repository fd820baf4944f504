//! Utilization over delay, and the controllers that no other one beats in both.

use super::record::Record;
use super::report::Row;
use super::verdict::judge;
use crate::plots::{Axis, Chart, Mark};

/// A point for each controller: the mean utilization of bulk data over the geometric mean of mean RTT over base RTT, and a line
/// through the Pareto front.
pub fn chart(records: &[Record]) -> Chart {
    let verdicts = judge(records);
    let rows = Row::of(records, &verdicts);
    let points: Vec<(&str, (f64, f64), f64)> = rows
        .iter()
        .filter_map(|row| {
            let point = (row.rtt_ratio()?, 100.0 * row.utilization()?);
            Some((row.controller, point, 100.0 * row.held()))
        })
        .collect();
    let chart = Chart::new(
        "utilization and delay",
        Axis::log("mean RTT over base RTT"),
        Axis::linear("utilization, %"),
    );
    let all: Vec<(f64, f64)> = points.iter().map(|(_, point, _)| *point).collect();
    let chart = chart.series("Pareto front", Mark::Reference, front(&all));
    points.iter().fold(chart, |chart, (name, point, held)| {
        chart.series(format!("{name}, {held:.0} % held"), Mark::Dots, [*point])
    })
}

/// The points that no other one beats: smaller in the first and larger in the second. In order.
fn front(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut points = points.to_vec();
    points.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
    let mut best = f64::NEG_INFINITY;
    points.retain(|point| {
        let better = point.1 > best;
        best = best.max(point.1);
        better
    });
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_has_what_nothing_beats() {
        let points = [
            (2.0, 95.0),
            (1.5, 90.0),
            (1.6, 89.0),
            (3.0, 95.0),
            (4.0, 99.0),
            (1.5, 80.0),
        ];
        assert_eq!(front(&points), [(1.5, 90.0), (2.0, 95.0), (4.0, 99.0)]);
        assert_eq!(front(&[]), []);
    }
}

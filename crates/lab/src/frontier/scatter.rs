//! What is left unused of the link over the delay, and the controllers that no other one beats in both.

use super::record::Record;
use super::report::Row;
use super::verdict::judge;
use crate::plots::{Axis, Chart, Mark};

/// A point for each controller: what bulk data leaves unused on average, over the geometric mean of mean RTT over base RTT; and a
/// line through the Pareto front. To the left and below is better.
pub fn chart(records: &[Record]) -> Chart {
    let verdicts = judge(records);
    let rows = Row::of(records, &verdicts);
    let points: Vec<(&str, (f64, f64), f64)> = rows
        .iter()
        .filter_map(|row| {
            let point = (row.rtt_ratio()?, 100.0 * (1.0 - row.utilization()?));
            Some((row.controller, point, 100.0 * row.held()))
        })
        .collect();
    let chart = Chart::new(
        "what is left unused, and delay",
        Axis::log("mean RTT over base RTT"),
        Axis::log("unused, %"),
    );
    let all: Vec<(f64, f64)> = points.iter().map(|(_, point, _)| *point).collect();
    let chart = chart.series("Pareto front", Mark::Reference, front(&all));
    points.iter().fold(chart, |chart, (name, point, held)| {
        chart.series(format!("{name}, {held:.0} % held"), Mark::Dots, [*point])
    })
}

/// The points to which no other one is left and below, in order.
fn front(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut points = points.to_vec();
    points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut best = f64::INFINITY;
    points.retain(|point| {
        let better = point.1 < best;
        best = best.min(point.1);
        better
    });
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_has_the_undominated_points() {
        let points = [
            (2.0, 5.0),
            (1.5, 10.0),
            (1.6, 11.0),
            (3.0, 5.0),
            (4.0, 1.0),
            (1.5, 20.0),
        ];
        assert_eq!(front(&points), [(1.5, 10.0), (2.0, 5.0), (4.0, 1.0)]);
        assert_eq!(front(&[]), []);
    }
}

//! The runs of one controller over one path, condensed.

use serde::Serialize;

use super::{End, Machine, Path, Plan, Processes, Run};

/// The runs of one controller over one path, condensed. Where it does not say otherwise, a number is the median of the runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The controller.
    pub controller: String,
    /// The RTT that the relay adds.
    pub path_rtt_ms: f64,
    /// The relay's rate; `None` without a limit.
    pub path_rate_mbps: Option<f64>,
    /// The path, for people.
    pub path: String,
    /// Bytes of a transfer.
    pub size_bytes: u64,
    /// 1 or 2.
    pub processes: u8,
    /// The seed.
    pub seed: u64,
    /// The goodput.
    pub goodput_mbps: f64,
    /// The slowest run's.
    pub goodput_min_mbps: f64,
    /// The fastest run's.
    pub goodput_max_mbps: f64,
    /// [`Row::goodput_mbps`] of that of the fastest of quinn's own controllers over this path; `None` if none of them ran.
    pub goodput_of_stock: Option<f64>,
    /// Processor seconds of the sender for each GB that arrived.
    pub sender_cpu_s_per_gb: Option<f64>,
    /// Processor seconds of the receiver for each GB that arrived.
    pub receiver_cpu_s_per_gb: Option<f64>,
    /// Mean round-trip time.
    pub rtt_mean_ms: Option<f64>,
    /// Median round-trip time.
    pub rtt_p50_ms: Option<f64>,
    /// 95th percentile of the round-trip times.
    pub rtt_p95_ms: Option<f64>,
    /// Median congestion window.
    pub window_median_bytes: Option<f64>,
    /// The largest congestion window of all runs.
    pub window_max_bytes: Option<u64>,
    /// Share of lost bytes.
    pub loss_rate: Option<f64>,
    /// How many runs finished.
    pub finished: usize,
    /// The least share of a short time before a run for which two computing threads had a processor.
    pub processor_share_min: Option<f64>,
    /// The machine, before the first run.
    #[serde(flatten)]
    pub machine: Machine,
    /// The runs, in the order in which they ran.
    pub runs: Vec<Run>,
}

impl Row {
    /// The rows of a path, from the runs of each of the plan's controllers. A controller without runs has no row.
    pub(super) fn of_path(
        plan: &Plan,
        path: &Path,
        machine: &Machine,
        runs: Vec<Vec<Run>>,
    ) -> Vec<Self> {
        let named = plan.controllers.iter().zip(runs);
        let mut rows: Vec<Self> = named
            .filter(|(_, runs)| !runs.is_empty())
            .map(|(name, runs)| Self::new(plan, path, machine, name, runs))
            .collect();
        let stock = rows
            .iter()
            .filter(|row| STOCK.contains(&row.controller.as_str()))
            .map(|row| row.goodput_mbps)
            .fold(None, |max: Option<f64>, next| {
                Some(max.map_or(next, |max| max.max(next)))
            })
            .filter(|&max| max > 0.0);
        for row in &mut rows {
            row.goodput_of_stock = stock.map(|stock| row.goodput_mbps / stock);
        }
        rows
    }

    fn new(plan: &Plan, path: &Path, machine: &Machine, name: &str, runs: Vec<Run>) -> Self {
        let of = |value: &dyn Fn(&Run) -> Option<f64>| runs.iter().filter_map(value).collect();
        let middle = |value: &dyn Fn(&Run) -> Option<f64>| median(of(value));
        let goodputs: Vec<f64> = of(&|run| Some(run.goodput_mbps));
        let goodput = |of_two: fn(f64, f64) -> f64| {
            let goodputs = goodputs.iter().copied();
            goodputs.reduce(of_two).unwrap_or_default()
        };
        let shares: Vec<f64> = of(&|run| run.processor_share);
        Self {
            controller: name.to_owned(),
            path_rtt_ms: path.rtt.as_secs_f64() * 1e3,
            path_rate_mbps: path.rate.map(|rate| rate.bits_per_second() as f64 / 1e6),
            path: path.caption(),
            size_bytes: plan.size,
            processes: match plan.processes {
                Processes::One => 1,
                Processes::Two => 2,
            },
            seed: plan.seed,
            goodput_mbps: middle(&|run| Some(run.goodput_mbps)).unwrap_or_default(),
            goodput_min_mbps: goodput(f64::min),
            goodput_max_mbps: goodput(f64::max),
            goodput_of_stock: None,
            sender_cpu_s_per_gb: middle(&Run::sender_cpu_s_per_gb),
            receiver_cpu_s_per_gb: middle(&Run::receiver_cpu_s_per_gb),
            rtt_mean_ms: middle(&|run| run.rtt_mean_ms),
            rtt_p50_ms: middle(&|run| run.rtt_p50_ms),
            rtt_p95_ms: middle(&|run| run.rtt_p95_ms),
            window_median_bytes: middle(&|run| run.window_median_bytes.map(|bytes| bytes as f64)),
            window_max_bytes: runs.iter().filter_map(|run| run.window_max_bytes).max(),
            loss_rate: middle(&|run| run.loss_rate),
            finished: runs.iter().filter(|run| run.end == End::Finished).count(),
            processor_share_min: shares.into_iter().reduce(f64::min),
            machine: machine.clone(),
            runs,
        }
    }

    /// How far the runs got that did not finish, as shares of the size, each with its end.
    pub fn unfinished(&self) -> impl Iterator<Item = (f64, &End)> {
        self.runs
            .iter()
            .filter(|run| run.end != End::Finished)
            .map(|run| {
                let share = run.received_bytes as f64 / self.size_bytes.max(1) as f64;
                (share, &run.end)
            })
    }
}

/// The middle value, or the mean of the two in the middle; `None` of no values.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    if values.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = *values.get(values.len() / 2 - 1)?;
    Some((lower + upper) / 2.0)
}

/// quinn's own controllers.
const STOCK: [&str; 3] = ["quinn-cubic", "quinn-new-reno", "quinn-bbr"];

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::run::tests::run;
    use super::*;
    use crate::units::QueueSize;

    fn rows(controllers: &[&str], runs: Vec<Vec<Run>>) -> Vec<Row> {
        let path = Path {
            rtt: Duration::from_micros(200),
            rate: None,
            queue: QueueSize::Infinite,
            busy: false,
        };
        let plan = Plan {
            controllers: controllers.iter().map(|&name| name.to_owned()).collect(),
            size: 4_000_000,
            runs: 3,
            paths: vec![path],
            timeout: None,
            processes: Processes::Two,
            socket_buffer: None,
            seed: 7,
        };
        let machine = Machine {
            processors: 2,
            load_average: Some(0.5),
        };
        Row::of_path(&plan, &path, &machine, runs)
    }

    #[test]
    fn medians() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![3.0]), Some(3.0));
        assert_eq!(median(vec![9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0, 9.0, 2.0]), Some(3.0));
    }

    #[test]
    fn a_row_has_the_median_the_least_and_the_most() {
        let finished = |bytes| run(End::Finished, bytes);
        let slow = vec![
            finished(1_000_000),
            finished(3_000_000),
            finished(2_000_000),
        ];
        let stock = vec![finished(4_000_000); 3];
        let rows = rows(&["bbr", "quinn-cubic"], vec![slow, stock]);
        let [bbr, cubic] = rows.as_slice() else {
            unreachable!("one for each");
        };
        assert_eq!(bbr.goodput_mbps, 8.0);
        assert_eq!((bbr.goodput_min_mbps, bbr.goodput_max_mbps), (4.0, 12.0));
        assert_eq!(bbr.goodput_of_stock, Some(0.5));
        assert_eq!(cubic.goodput_of_stock, Some(1.0));
        assert_eq!(bbr.sender_cpu_s_per_gb, Some(4.0));
        assert_eq!((bbr.finished, bbr.processes, bbr.seed), (3, 2, 7));
        assert_eq!((bbr.path_rtt_ms, bbr.path_rate_mbps), (0.2, None));
        assert_eq!(bbr.window_max_bytes, Some(90));
    }

    #[test]
    fn an_unfinished_run_is_a_result() {
        let runs = vec![run(End::Finished, 4_000_000), run(End::TimedOut, 1_000_000)];
        let rows = rows(&["bbr"], vec![runs]);
        assert_eq!(rows[0].finished, 1);
        assert_eq!(rows[0].goodput_mbps, 10.0);
        assert_eq!(rows[0].goodput_of_stock, None);
        let unfinished: Vec<_> = rows[0].unfinished().collect();
        assert_eq!(unfinished, [(0.25, &End::TimedOut)]);
    }

    #[test]
    fn a_stock_controller_that_moves_nothing_is_no_measure() {
        let rows = rows(&["quinn-bbr"], vec![vec![run(End::TimedOut, 0)]]);
        assert_eq!(rows[0].goodput_of_stock, None);
    }
}

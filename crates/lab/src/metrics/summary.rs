//! Several runs of one controller, which differ in their seeds.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::Row;
use super::stats::rounded;

/// What several runs gave for one number.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The mean of the runs.
    pub mean: f64,
    /// The least run's.
    pub min: f64,
    /// The largest run's.
    pub max: f64,
    /// Half the width of the 95 % confidence interval of the mean, by Student's t; `None` of fewer than two runs.
    pub ci95: Option<f64>,
}

impl Estimate {
    /// Of the runs' values; `None` of none.
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.is_empty() {
            return None;
        }
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        // One run says nothing about the others, and has no degree of freedom.
        let distribution = StudentsT::new(0.0, 1.0, count - 1.0).ok();
        let ci95 = distribution.filter(|_| values.len() > 1).map(|t| {
            let deviation = (squares / (count - 1.0)).sqrt();
            rounded(t.inverse_cdf(UPPER) * deviation / count.sqrt())
        });
        Some(Self {
            mean: rounded(mean),
            min: rounded(values.iter().copied().fold(f64::INFINITY, f64::min)),
            max: rounded(values.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
            ci95,
        })
    }
}

/// The runs of one controller on one link. The field names are a contract.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// The link's name.
    pub trace: String,
    /// The controller's name.
    pub controller: String,
    /// The runs' seeds.
    pub seeds: Vec<u64>,
    /// Over the runs, as every number below; `None` where no run has the number.
    pub goodput_mbps: Option<Estimate>,
    /// As [`Row::utilization`].
    pub utilization: Option<Estimate>,
    /// As [`Row::rtt_mean_ms`].
    pub rtt_mean_ms: Option<Estimate>,
    /// As [`Row::rtt_p95_ms`].
    pub rtt_p95_ms: Option<Estimate>,
    /// As [`Row::loss_rate`].
    pub loss_rate: Option<Estimate>,
    /// As [`Row::message_p50_ms`].
    pub message_p50_ms: Option<Estimate>,
    /// As [`Row::message_p95_ms`].
    pub message_p95_ms: Option<Estimate>,
    /// As [`Row::frame_delay_p50_ms`].
    pub frame_delay_p50_ms: Option<Estimate>,
    /// As [`Row::frame_delay_p95_ms`].
    pub frame_delay_p95_ms: Option<Estimate>,
    /// As [`Row::against_goodput_mbps`].
    pub against_goodput_mbps: Option<Estimate>,
    /// Each run.
    #[serde(skip)]
    pub runs: Vec<Row>,
}

impl Summary {
    /// Puts the runs of each controller on each link together, in the order in which these first occur.
    pub fn of_all(rows: &[Row]) -> Vec<Self> {
        let mut groups: Vec<Vec<Row>> = Vec::new();
        for row in rows {
            let same = |group: &&mut Vec<Row>| {
                let known = &group[0];
                (&known.trace, &known.controller) == (&row.trace, &row.controller)
            };
            match groups.iter_mut().find(same) {
                Some(group) => group.push(row.clone()),
                None => groups.push(vec![row.clone()]),
            }
        }
        groups.into_iter().filter_map(Self::of).collect()
    }

    fn of(runs: Vec<Row>) -> Option<Self> {
        let first = runs.first()?;
        let over = |number: fn(&Row) -> Option<f64>| {
            let values: Vec<f64> = runs.iter().filter_map(number).collect();
            Estimate::of(&values)
        };
        Some(Self {
            trace: first.trace.clone(),
            controller: first.controller.clone(),
            seeds: runs.iter().map(|run| run.seed).collect(),
            goodput_mbps: over(|row| Some(row.goodput_mbps)),
            utilization: over(|row| Some(row.utilization)),
            rtt_mean_ms: over(|row| row.rtt_mean_ms),
            rtt_p95_ms: over(|row| row.rtt_p95_ms),
            loss_rate: over(|row| Some(row.loss_rate)),
            message_p50_ms: over(|row| row.message_p50_ms),
            message_p95_ms: over(|row| row.message_p95_ms),
            frame_delay_p50_ms: over(|row| row.frame_delay_p50_ms),
            frame_delay_p95_ms: over(|row| row.frame_delay_p95_ms),
            against_goodput_mbps: over(|row| row.against_goodput_mbps),
            runs,
        })
    }

    /// The numbers by name.
    pub fn numbers(&self) -> [(&'static str, Option<Estimate>); 10] {
        [
            ("goodput_mbps", self.goodput_mbps),
            ("utilization", self.utilization),
            ("rtt_mean_ms", self.rtt_mean_ms),
            ("rtt_p95_ms", self.rtt_p95_ms),
            ("loss_rate", self.loss_rate),
            ("message_p50_ms", self.message_p50_ms),
            ("message_p95_ms", self.message_p95_ms),
            ("frame_delay_p50_ms", self.frame_delay_p50_ms),
            ("frame_delay_p95_ms", self.frame_delay_p95_ms),
            ("against_goodput_mbps", self.against_goodput_mbps),
        ]
    }
}

/// The quantile that leaves 2.5 % above, and as much below its negative.
const UPPER: f64 = 0.975;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_textbook_interval() {
        // Mean 10, s = sqrt(10 / 4); t(0.975, 4) = 2.7764 in any table.
        let estimate = Estimate::of(&[8.0, 9.0, 10.0, 11.0, 12.0]).unwrap();
        assert_eq!(
            (estimate.mean, estimate.min, estimate.max),
            (10.0, 8.0, 12.0)
        );
        let expected = 2.776_445 * (2.5_f64 / 5.0).sqrt();
        assert!((estimate.ci95.unwrap() - expected).abs() < 1e-4);
        assert_eq!(Estimate::of(&[3.0, 3.0]).unwrap().ci95, Some(0.0));
        assert_eq!(Estimate::of(&[3.0]).unwrap().ci95, None);
        assert_eq!(Estimate::of(&[]), None);
    }
}

//! Bandwidth estimates behind a token bucket: how far bursts lead them astray.
//!
//! A bucket that has filled up in a pause lets the first part of what comes next through at the speed of the line behind
//! it. Who takes the fastest sample for the path's bandwidth then believes in a multiple of it (BBR-Sampled, section 7.1).
//! The path is the paper's: 25 Mb/s with 10 MB of queue. So is the application: a video server, which begins a segment of
//! 5 s of film every 5 s and is silent once it has arrived, so that the bucket fills up again.

use std::time::Duration;

use kneepoint_emulator::link::{Limit, LinkConfig, Queue, Shaper};
use kneepoint_emulator::network::NetworkConfig;

use crate::metrics::stats;
use crate::probe::SharedFactory;
use crate::run::RunError;
use crate::watch::{Experiment, TimeSeries};
use crate::workload::{Load, Phase};

/// A token bucket in front of a fast line, and the path to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bucket {
    /// How many tokens the bucket holds, in bytes.
    pub burst: u64,
    /// The round-trip time of an empty path.
    pub rtt: Duration,
}

/// The bandwidth that a controller believed in while it had data in flight.
///
/// Its estimate is sampled once in every round-trip time of the empty path, from the first estimate on, so that the means
/// are over time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Belief {
    /// The mean, in Mb/s.
    pub mean: f64,
    /// The median, in Mb/s.
    pub median: f64,
    /// The largest, in Mb/s.
    pub largest: f64,
    /// The mean time that a packet spent in the queue, in milliseconds.
    pub queue_delay: f64,
}

impl Bucket {
    /// Sends [`SEGMENTS`] segments through the bucket with the controllers that `controller` makes.
    ///
    /// # Errors
    /// When the path cannot be emulated, or the simulation stops early.
    pub fn watch(&self, controller: &SharedFactory) -> Result<TimeSeries, RunError> {
        let duration = SEGMENTS * PERIOD;
        let link = |shaper| LinkConfig {
            delay: (self.rtt / 2).into(),
            ..LinkConfig::new(shaper)
        };
        let line = Shaper::ConstantRate {
            bytes_per_second: LINE,
        };
        let bucket = Shaper::TokenBucket {
            bytes_per_second: RATE,
            burst: self.burst,
            peak: Some(LINE),
        };
        let experiment = Experiment {
            network: NetworkConfig {
                forward: LinkConfig {
                    queue: Queue::DropTail(Limit::bytes(QUEUE)),
                    log: true,
                    ..link(bucket)
                },
                reverse: link(line),
                seed: 1,
            },
            controller: controller.clone(),
            application: vec![Phase {
                until: duration,
                load: Load::Segments {
                    bytes: SEGMENT,
                    period: PERIOD,
                },
            }],
            duration,
            interval: self.rtt,
        };
        experiment.run()
    }
}

impl Belief {
    /// What the controller believed; `None` if it never had an estimate.
    pub fn of(series: &TimeSeries) -> Option<Self> {
        let mut estimates: Vec<u64> = series
            .samples
            .iter()
            .filter(|sample| sample.snapshot.in_flight.0 > 0)
            .filter_map(|sample| sample.snapshot.bandwidth)
            .map(|bandwidth| bandwidth.bytes_per_second())
            .collect();
        estimates.sort_unstable();
        let delays: Vec<u64> = series.queue_delays().map(|delay| delay.0).collect();
        Some(Self {
            mean: stats::mean(&estimates)? / BYTES_PER_MEGABIT,
            median: stats::percentile(&estimates, 0.5)? as f64 / BYTES_PER_MEGABIT,
            largest: *estimates.last()? as f64 / BYTES_PER_MEGABIT,
            queue_delay: stats::mean(&delays)? / 1e6,
        })
    }
}

/// The bucket's rate: 25 Mb/s, in bytes per second (BBR-Sampled, section 3.1).
pub const RATE: u64 = 3_125_000;

/// The rate of the line behind it: 1 Gb/s, in bytes per second.
pub const LINE: u64 = 125_000_000;

/// What the queue in front of it holds, in bytes (BBR-Sampled, figure 16).
pub const QUEUE: u64 = 10_000_000;

/// How often a segment begins (BBR-Sampled, section 3.2).
pub const PERIOD: Duration = Duration::from_secs(5);

/// The size of a segment in bytes: 5 s of film at 22.5 Mb/s, the highest of the paper's levels that leaves a pause, and about
/// the quality that its video reaches with BBR-Sampled (section 7.3). The pause of 0.4 s fills a bucket of up to 1.2 MB.
///
/// Who follows the path exactly believes in the burst too, for as long as it lasts: its mean is above the rate by the bucket
/// over the time that a segment takes, 1.7 Mb/s here.
pub const SEGMENT: u64 = 14_062_500;

/// How many segments are sent.
pub const SEGMENTS: u32 = 8;

const BYTES_PER_MEGABIT: f64 = 125_000.0;

//! Bandwidth estimates behind a token bucket: how far bursts lead them astray.
//!
//! A bucket that has filled up in a pause lets the first part of what comes next through at the speed of the line behind
//! it. Who takes the fastest sample for the path's bandwidth then believes in a multiple of it (BBR-Sampled, section 7.1).
//! The path is the paper's: 25 Mb/s with 10 MB of queue. So is the application: a video server, which begins a segment of
//! 5 s of film every 5 s and is silent once it has arrived, so that the bucket fills up again.

use std::sync::Arc;
use std::time::Duration;

use kneepoint_emulator::link::LinkConfig;
use kneepoint_emulator::network::{Duplex, Topology};

use crate::dash::Path;
use crate::metrics::stats;
use crate::probe::SharedFactory;
use crate::run::RunError;
use crate::trial::{FlowPlan, Trial};
use crate::watch::{TimeSeries, estimates};
use crate::workload::Load;

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
        let links = Path {
            burst: self.burst,
            rtt: self.rtt,
            ..Path::deep()
        }
        .links();
        let topology = Topology::point_to_point(Duplex {
            forward: LinkConfig {
                log: true,
                ..links.forward
            },
            ..links
        });
        let segments = Load::Segments {
            bytes: SEGMENT,
            period: PERIOD,
        };
        let flow = FlowPlan {
            application: vec![segments.until(duration)],
            ..FlowPlan::greedy(Arc::clone(controller), Duration::ZERO, duration)
        };
        TimeSeries::of(&Trial {
            interval: Some(self.rtt),
            ..Trial::new(topology, vec![flow], duration)
        })
    }
}

impl Belief {
    /// What the controller believed; `None` if it never had an estimate.
    pub fn of(series: &TimeSeries) -> Option<Self> {
        let estimates = estimates(&series.samples);
        let delays = series.link.queue_delays(Duration::ZERO, Duration::MAX);
        Some(Self {
            mean: stats::mean(&estimates)? / BYTES_PER_MEGABIT,
            median: stats::percentile(&estimates, 0.5)? as f64 / BYTES_PER_MEGABIT,
            largest: *estimates.last()? as f64 / BYTES_PER_MEGABIT,
            queue_delay: stats::mean(&delays)? / 1e6,
        })
    }
}

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

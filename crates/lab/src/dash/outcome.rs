//! The outcome of a session.

use kneepoint_controllers::Mode;
use serde::Serialize;

use super::abr::Download;
use super::player::Playback;
use crate::metrics::stats;
use crate::watch::{Sample, estimates};

/// The outcome of a session. Times are virtual, of the session's clock.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// The mean of the levels of all segments fetched, 0 to 10: the paper's average segment quality (BBR-Sampled, section
    /// 3.3). `None` if there is none.
    pub quality: Option<f64>,
    /// The time in which the film stood still, as a share of its length: the paper's (playback time - length) / length. The
    /// article does not say whether the start counts. Here it does not: it is a fraction of a second in ten minutes. Of a
    /// film that did not end, both are as far as it came; `None` if nothing was shown.
    pub stall_rate: Option<f64>,
    /// How often it stopped, the start not counted.
    pub stalls: u32,
    /// From the request of the connection to the first picture, in seconds.
    pub startup_s: Option<f64>,
    /// From the first picture to the last, the stalls included, in seconds.
    pub playback_s: f64,
    /// Whether the video was shown to its end.
    pub finished: bool,
    /// Why the player gave up, if it did.
    pub closed: Option<String>,
    /// The shares of time in the controller's states; `None` for other controllers, or ones without these states.
    pub states: Option<States>,
    /// The mean of the controller's bandwidth estimate over the time in which it had data in flight, in Mb/s; `None` if it
    /// never had one.
    pub estimate_mean_mbps: Option<f64>,
    /// Its median.
    pub estimate_median_mbps: Option<f64>,
    /// The mean round-trip time of all packets acknowledged, in milliseconds.
    pub rtt_mean_ms: Option<f64>,
    /// Its median.
    pub rtt_median_ms: Option<f64>,
    /// Packets that the data link's buffer had no room for.
    pub drops: u64,
    /// Segment by segment.
    pub segments: Vec<Segment>,
    /// Samples of the controller's state at regular times; empty for other controllers.
    #[serde(skip)]
    pub samples: Vec<Sample>,
}

/// Shares of time in BBR's states, as the paper names them (BBR-Sampled, table 2); they add up to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct States {
    /// STARTUP.
    pub startup: f64,
    /// DRAIN.
    pub drain: f64,
    /// PROBE_BW, with all of BBRv2's phases.
    pub probe_bw: f64,
    /// PROBE_RTT.
    pub probe_rtt: f64,
}

/// One segment.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Segment {
    /// When it was requested, in seconds.
    pub requested_s: f64,
    /// At which level.
    pub level: usize,
    /// The buffer at that time, in seconds.
    pub buffer_s: f64,
    /// From the request to the first byte, in milliseconds.
    pub latency_ms: f64,
    /// From the first byte to the last, in seconds.
    pub transfer_s: f64,
    /// As the player measured it, in Mb/s.
    pub throughput_mbps: f64,
}

impl From<&Download> for Segment {
    fn from(download: &Download) -> Self {
        let transfer = download.finished.saturating_sub(download.first_byte);
        Self {
            requested_s: download.requested.as_secs_f64(),
            level: download.level,
            buffer_s: download.buffer.as_secs_f64(),
            latency_ms: download.latency().as_secs_f64() * 1e3,
            transfer_s: transfer.as_secs_f64(),
            throughput_mbps: download.throughput() / 1e6,
        }
    }
}

impl States {
    fn of(samples: &[Sample]) -> Option<Self> {
        let mut states = Self::default();
        let share = 1.0 / samples.len() as f64;
        for sample in samples {
            let state = match sample.snapshot.mode {
                Mode::Startup => &mut states.startup,
                Mode::Drain => &mut states.drain,
                Mode::ProbeRtt => &mut states.probe_rtt,
                Mode::ProbeBandwidth(_)
                | Mode::ProbeDown
                | Mode::ProbeCruise
                | Mode::ProbeRefill
                | Mode::ProbeUp => &mut states.probe_bw,
                _ => return None,
            };
            *state += share;
        }
        (!samples.is_empty()).then_some(states)
    }
}

/// The measurements for an [`Outcome`].
#[derive(Debug)]
pub(super) struct Observed {
    pub(super) playback: Playback,
    pub(super) finished: bool,
    pub(super) closed: Option<String>,
    pub(super) samples: Vec<Sample>,
    /// In nanoseconds.
    pub(super) rtts: Vec<u64>,
    pub(super) drops: u64,
}

impl Outcome {
    pub(super) fn new(observed: Observed) -> Self {
        let Observed {
            playback,
            finished,
            closed,
            samples,
            mut rtts,
            drops,
        } = observed;
        let levels: Vec<u64> = playback.downloads.iter().map(|d| d.level as u64).collect();
        let (played, stalled) = (playback.buffer.played(), playback.buffer.stalled());
        let estimates = estimates(&samples);
        rtts.sort_unstable();
        let median = |sorted: &[u64], unit: f64| {
            stats::percentile(sorted, 0.5).map(|value| value as f64 / unit)
        };
        Self {
            quality: stats::mean(&levels),
            stall_rate: (!played.is_zero()).then(|| stalled.as_secs_f64() / played.as_secs_f64()),
            stalls: playback.buffer.stalls(),
            startup_s: playback.buffer.startup().map(|start| start.as_secs_f64()),
            playback_s: (played + stalled).as_secs_f64(),
            finished,
            closed,
            states: States::of(&samples),
            estimate_mean_mbps: stats::mean(&estimates).map(|mean| mean / BYTES_PER_MEGABIT),
            estimate_median_mbps: median(&estimates, BYTES_PER_MEGABIT),
            rtt_mean_ms: stats::mean(&rtts).map(|mean| mean / NANOS_PER_MILLI),
            rtt_median_ms: median(&rtts, NANOS_PER_MILLI),
            drops,
            segments: playback.downloads.iter().map(Segment::from).collect(),
            samples,
        }
    }
}

const BYTES_PER_MEGABIT: f64 = 125_000.0;

const NANOS_PER_MILLI: f64 = 1e6;

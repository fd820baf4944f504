//! Configuration of `ebcc`.

use core::time::Duration;

use super::Ebcc;
use crate::config::{ConfigError, ControllerConfig, Environment};
use crate::controller::Controller;
use crate::loss_based::{HOST_DELAY, require_host_delay, require_reduction};
use crate::registry::{Preset, Registered};
use crate::text::{fields, words};
use crate::units::Gain;

/// `ebcc`: eBCC, an enhanced BBR congestion control for QUIC (the paper's Algorithm 1): BBR's states and estimates, but
/// the window is searched for by halves, with the queue and losses as its bounds.
///
/// # Where the paper is silent, or contradicts itself
/// - *targetCwnd* is the maximum of the window (table 1) and its gain was BBR's constant 2 (section 3.3): here it is
///   twice bandwidth x minimum RTT, from BBR's own filters, and always bounds the window.
/// - *pfCwnd*, equation 6: 2 cwnd - targetCwnd only inverts equation 2. Where the target has moved in between, it lies
///   above the window if the window exceeds the target, and line 8 would grow it. The text says what was meant, the last
///   window with a queue below gamma, and that is what is remembered.
/// - *How often* the loop of Algorithm 1 runs: once per round, as the estimates do. A step upwards is no larger than
///   what the round acknowledged.
/// - *diff* of a round is that of its least round-trip time, and of the window that its packets were sent with, one step
///   ago; at a loss, that of the round under way. A window is judged, and the next step taken, once the flight has filled it
///   for a round: behind a pacer the queue of a larger window takes several rounds to come. ProbeRTT's is not judged.
/// - *baseRTT* is the least measured in the transmission (section 3.3), and rises only when it is 10 s old, as BBR's does:
///   the ProbeRTT that one flow's loss brings about sees the queue of the others, and with that for the path no loss
///   would count any more.
/// - *Losses with a short queue* (diff < gamma) have no line in Algorithm 1: nothing happens, as in BBR. A mark (ECN CE)
///   comes from a queue that is long already, and counts as a loss with diff >= gamma.
/// - *Losses in ProbeRTT* (line 12): the window to return to is cut once per visit. The losses of one overflow are
///   many events, and ProbeRTT's own window causes none.
/// - *ProbeRTT itself* is BBR's: four packets for 200 ms and a round; also entered when the minimum RTT is 10 s old.
/// - *Startup* is not described, and Algorithm 1 never leaves ProbeBW otherwise. The window doubles until diff >= gamma,
///   or a loss; there is no Drain, because line 8 takes back what was too much.
/// - *gamma* is in packets; *beta* is the share that is taken.
/// - Persistent congestion: the smallest window, and Startup again (RFC 9002, section 7.6.2).
///
/// # Where we recommend something else
/// The paper's preset does none of these.
///
/// - A millisecond more than the minimum RTT is no queue, and the target has room for it: the hosts may add that
///   ([`host_delay`](EbccConfig::host_delay)). Over a path of 50 us the paper's target is two packets.
/// - Congestion reduces the window once per round trip, as it does for others ([`congestion`](EbccConfig::congestion)). The paper
///   is silent for 200 ms instead and returns to the window that lost: with a buffer below one bandwidth-delay product it is
///   silent for nearly all of the time on a path of 1 ms.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct EbccConfig {
    /// With so many packets in the queue it counts as long. At least 1; 30 (section 3.3).
    pub gamma: u16,
    /// The share of the window that a second loss takes: above 0 and below 1. One half (section 3.3).
    pub beta: Gain,
    /// targetCwnd as a multiple of the bandwidth-delay product: at least 1. 2 (section 3.3, of BBR).
    pub target_gain: Gain,
    /// How long a minimum RTT is believed before ProbeRTT looks again. 1 s to 1 h; 10 s (BBR).
    pub min_rtt_window: Duration,
    /// The window of the bandwidth's maximum filter in rounds, 1 to 1000; 10 (BBR).
    pub filter_rounds: u16,
    /// What the hosts may add to a round-trip time: no queue, and part of targetCwnd. At most 100 ms; 1 ms, and zero in the
    /// paper.
    pub host_delay: Duration,
    /// What congestion does.
    pub congestion: EbccCongestion,
}

fields!(EbccConfig {
    gamma,
    beta,
    target_gain,
    min_rtt_window,
    filter_rounds,
    host_delay,
    congestion
});

/// What marks, and losses that count, do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EbccCongestion {
    /// ProbeRTT, and a smaller window if losses go on in it (lines 9 to 12 of Algorithm 1). Losses count with a long queue.
    Probe,
    /// 0.7 of the window is left after a loss (RFC 9438, section 4.6), 0.85 after a mark (RFC 8511, section 4.2), once per round
    /// trip. When that happens again within [`min_rtt_window`](EbccConfig::min_rtt_window), the window grows by no more than a
    /// packet per round for as long (RFC 9002, section 7.3.3). Losses count with a long queue, and when more than 2 % of a flight
    /// are lost (draft-ietf-ccwg-bbr, LossThresh). A single marked round does not end Startup, two in a row do.
    Reduce,
}

words!(EbccCongestion {
    Probe = "probe",
    Reduce = "reduce",
});

impl EbccConfig {
    /// The paper's values.
    pub const fn paper() -> Self {
        Self {
            gamma: 30,
            beta: Gain::new(1, 2),
            target_gain: Gain::new(2, 1),
            min_rtt_window: Duration::from_secs(10),
            filter_rounds: 10,
            host_delay: Duration::ZERO,
            congestion: EbccCongestion::Probe,
        }
    }
}

impl Default for EbccConfig {
    /// What we recommend.
    fn default() -> Self {
        Self {
            host_delay: HOST_DELAY,
            congestion: EbccCongestion::Reduce,
            ..Self::paper()
        }
    }
}

impl Registered for EbccConfig {
    const NAME: &'static str = "ebcc";
    const DESCRIPTION: &'static str =
        "eBCC: BBR's states, the window searched by halves between a queue of 30 packets and 2 BDP";
    const SOURCE: &'static str = "eBCC: enhanced BBR congestion control for QUIC, Algorithm 1";

    fn preset(preset: Preset) -> Self {
        match preset {
            Preset::Paper => Self::paper(),
            _ => Self::default(),
        }
    }
}

impl ControllerConfig for EbccConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        ConfigError::require(self.gamma >= 1, "gamma", self.gamma, "at least 1 packet")?;
        require_reduction("beta", self.beta)?;
        require_host_delay(self.host_delay)?;
        let gain = self.target_gain.as_f64();
        ConfigError::require((1.0..=16.0).contains(&gain), "target_gain", gain, "1 to 16")?;
        let window = self.min_rtt_window;
        ConfigError::require(
            (Duration::from_secs(1)..=Duration::from_secs(3600)).contains(&window),
            "min_rtt_window",
            format!("{window:?}"),
            "1 s to 1 h",
        )?;
        ConfigError::require(
            (1..=1000).contains(&self.filter_rounds),
            "filter_rounds",
            self.filter_rounds,
            "1 to 1000 rounds",
        )
    }

    fn build(&self, environment: &Environment) -> Result<Box<dyn Controller>, ConfigError> {
        self.validate()?;
        Ok(Box::new(Ebcc::new(*self, environment)))
    }
}

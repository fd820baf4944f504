//! What the BBRv1 core can be told, whatever its bandwidth filter.

use core::time::Duration;

use crate::config::{ConfigError, WindowPolicy};
use crate::units::Gain;

/// What is the same whatever the bandwidth filter.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct BbrCoreConfig {
    /// The window in ProbeRTT.
    pub probe_rtt_window: ProbeRttWindow,
    /// How long a minimum RTT is believed before ProbeRTT looks again. 1 s to 1 h; the paper's 10 s. If it is longer than 10 s,
    /// that is how long an estimate is believed that the last ProbeRTT has not confirmed.
    pub min_rtt_window: Duration,
    /// Whether to enter ProbeRTT also when no round trip has come near the minimum for 2.5 s: for windows so near one BDP that
    /// only the queue of others, or a longer path, explains it.
    pub probe_standing_queue: bool,
    /// Leave Startup also once the RTT reaches this multiple of its minimum. Above 1; `None` is BBR's own rule.
    pub startup_exit_rtt: Option<Gain>,
    /// Congestion window as a multiple of the bandwidth-delay product. At least 1; the paper's 2.
    pub window_gain: Gain,
    /// Pace at this share of the estimate, so that a queue can only shrink. 0.5 to 1.
    pub pacing_margin: Gain,
    /// When the gain cycle probes for more bandwidth.
    pub probing: Probing,
    /// What becomes of the window and the estimate in recovery.
    pub recovery: RecoveryRule,
    /// What becomes of the window when more is lost than by chance.
    pub heavy_losses: HeavyLossRule,
    /// What ECN marks do.
    pub ecn: EcnRule,
    /// Bounds the window so that no more than this many packets of it wait at the bottleneck, and no more than half of
    /// what is under way elsewhere: equal parts of one queue are equal parts of the rate, whatever the round-trip times.
    /// `None`, as in the papers, bounds it by `window_gain` alone.
    pub target_queue: Option<u16>,
    /// Whether to look for token-bucket policers, and to run at their rate without probing. Off, as in the paper's figures.
    pub policer_detection: bool,
    /// How a host without pacing uses its window.
    pub window_policy: WindowPolicy,
}

/// What becomes of the window and the estimate when packets are lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum RecoveryRule {
    /// BBRv1: the window conserves packets for a round and grows again with what is delivered; in the end it is
    /// what it was before (draft-cardwell-iccrg-bbr-congestion-control-00, section 4.2.3.4).
    Restore,
    /// Nothing: the window stays what the model says, which sees losses as deliveries that were not made. For filters that
    /// conservation would lead down: samples of a round in which nothing but conservation limits the sender show its own
    /// rate, less what was lost.
    Ignore,
    /// Fair share: one packet leaves for each one delivered until recovery is over; what is in flight then is the window,
    /// and over the minimum RTT the estimate. Startup, if it caused the loss, is over as well.
    FairShare,
    /// Fair share where losses come from a queue that is longer than the own one, [`Restore`](Self::Restore) elsewhere: a queue
    /// drops in proportion to shares, a radio does not.
    FairShareOfQueue,
}

/// What becomes of the window when a flight loses more than 2 %.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum HeavyLossRule {
    /// Nothing, as in the papers: in a buffer shorter than the window, the sender goes on losing.
    Ignore,
    /// The flight is bounded as by BBRv3 (draft-ietf-ccwg-bbr, `inflight_longterm`): 0.85 of the flight that lost so much, but
    /// at least 1.25 bandwidth-delay products; a quarter more after each round that does not.
    Bound,
}

/// What becomes of the window when packets are marked with ECN CE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum EcnRule {
    /// Nothing, as in the papers: a queue that marks instead of dropping does not hold the sender back.
    Ignore,
    /// The flight is bounded as by DCTCP (RFC 8257, section 3.3): each round with marks takes half of the smoothed share of
    /// acknowledgements that report them, each round without gives a sixteenth back.
    Bound,
}

/// When the gain cycle sends faster than the estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Probing {
    /// In one phase of eight, as in the papers: a maximum filter learns of more bandwidth in no other way.
    EveryCycle,
    /// Only while the filter has nothing but lower bounds, and then until it has something else. Samples of a busy
    /// path show more bandwidth by themselves, and probing would only add to the queue.
    WhileUnbounded,
}

/// How far ProbeRTT goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum ProbeRttWindow {
    /// To this many packets (BBR paper: four).
    Packets(u8),
    /// To this share of the bandwidth-delay product (BBR-S and BBRv2: one half).
    Bdp(Gain),
}

impl BbrCoreConfig {
    /// BBRv1, as the paper has it.
    pub const fn paper() -> Self {
        Self {
            probe_rtt_window: ProbeRttWindow::Packets(4),
            min_rtt_window: Duration::from_secs(10),
            probe_standing_queue: false,
            startup_exit_rtt: None,
            window_gain: Gain::new(2, 1),
            pacing_margin: Gain::UNIT,
            probing: Probing::EveryCycle,
            recovery: RecoveryRule::Restore,
            heavy_losses: HeavyLossRule::Ignore,
            ecn: EcnRule::Ignore,
            target_queue: None,
            policer_detection: false,
            window_policy: WindowPolicy::Window,
        }
    }

    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        match self.probe_rtt_window {
            ProbeRttWindow::Packets(packets) => {
                ConfigError::require(
                    packets >= 2,
                    "probe_rtt_window",
                    packets,
                    "at least 2 packets",
                )?;
            }
            ProbeRttWindow::Bdp(gain) => {
                let share = gain.as_f64();
                ConfigError::require(
                    share > 0.0 && share <= 1.0,
                    "probe_rtt_window",
                    share,
                    "a share of the BDP above 0 and up to 1",
                )?;
            }
        }
        let window = self.min_rtt_window;
        ConfigError::require(
            (Duration::from_secs(1)..=Duration::from_secs(3600)).contains(&window),
            "min_rtt_window",
            format!("{window:?}"),
            "1 s to 1 h",
        )?;
        if let Some(gain) = self.startup_exit_rtt {
            ConfigError::require(gain.grows(), "startup_exit_rtt", gain.as_f64(), "above 1")?;
        }
        let gain = self.window_gain.as_f64();
        ConfigError::require((1.0..=16.0).contains(&gain), "window_gain", gain, "1 to 16")?;
        let margin = self.pacing_margin.as_f64();
        ConfigError::require(
            (0.5..=1.0).contains(&margin),
            "pacing_margin",
            margin,
            "0.5 to 1",
        )?;
        self.window_policy.validate()
    }
}

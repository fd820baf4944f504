//! The configuration of the BBRv1 core, for every bandwidth filter.

use core::time::Duration;

use crate::config::{ConfigError, WindowPolicy};
use crate::text::{fields, words};
use crate::units::Gain;

/// The parameters that do not depend on the bandwidth filter.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct BbrCoreConfig {
    /// The window in ProbeRTT.
    pub probe_rtt_window: ProbeRttWindow,
    /// How long a min RTT is valid before the next ProbeRTT. 1 s to 1 h; the paper's 10 s.
    pub min_rtt_window: Duration,
    /// Whether ProbeRTT starts early if the RTT stays above that of a full window for a second. If the smaller flight does
    /// not reduce the RTT, the path has become longer, and the result replaces the estimate. Off in the papers.
    pub check_longer_path: bool,
    /// Leave Startup also once the RTT reaches this multiple of its minimum. Above 1; `None` is BBR's own rule.
    pub startup_exit_rtt: Option<Gain>,
    /// Congestion window as a multiple of the bandwidth-delay product. At least 1; the paper's 2.
    pub window_gain: Gain,
    /// The pacing rate as a share of the estimate, so that a queue can only shrink. 0.5 to 1.
    pub pacing_margin: Gain,
    /// The response of the window and the estimate to losses.
    pub recovery: RecoveryRule,
    /// The response of the window to heavy losses.
    pub heavy_losses: HeavyLossRule,
    /// The response to ECN marks.
    pub ecn: EcnRule,
    /// Bounds the window by a target queue of this many packets at the bottleneck, and of at most half of the
    /// bandwidth-delay product. Flows with equal parts of one queue have equal rates, whatever their RTTs. `None`, as
    /// in the papers, bounds the window by `window_gain` only.
    pub target_queue: Option<u16>,
    /// Whether to detect token-bucket policers, and to send at their rate without probing. Off, as in the paper's
    /// figures.
    pub policer_detection: bool,
    /// How a transport without pacing uses the window.
    pub window_policy: WindowPolicy,
}

fields!(BbrCoreConfig {
    probe_rtt_window,
    min_rtt_window,
    check_longer_path,
    startup_exit_rtt,
    window_gain,
    pacing_margin,
    recovery,
    heavy_losses,
    ecn,
    target_queue,
    policer_detection,
    window_policy
});

/// The response of the window and the estimate to losses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecoveryRule {
    /// BBRv1: packet conservation for a round, then growth with the delivered bytes up to the window before the loss
    /// (draft-cardwell-iccrg-bbr-congestion-control-00, section 4.2.3.4).
    Restore,
    /// No response: the window follows the model, whose samples count lost packets as not delivered. For filters that
    /// packet conservation would bias low: a round in which only conservation limits the sender shows the sender's
    /// rate, less the losses.
    Ignore,
    /// Fair share: one packet is sent for each one delivered until recovery ends. The window is then the flight, and
    /// the estimate is the flight over min RTT. A loss in Startup also ends Startup.
    FairShare,
    /// Fair share if the queue is longer than this flow's target queue, [`Restore`](Self::Restore) otherwise: a queue
    /// drops packets in proportion to the flows' shares, a radio link does not.
    FairShareOfQueue,
}

words!(RecoveryRule {
    Restore = "restore",
    Ignore = "ignore",
    FairShare = "fair-share",
    FairShareOfQueue = "fair-share-of-queue",
});

/// The response of the window to a flight that loses more than 2 %.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HeavyLossRule {
    /// No response, as in the papers: in a buffer shorter than the window, the losses continue.
    Ignore,
    /// The flight is bounded as in BBRv3 (draft-ietf-ccwg-bbr, `inflight_longterm`): 0.85 of the flight that lost too
    /// much, but at least 1.25 bandwidth-delay products. Each round without such a loss raises the bound by a quarter.
    Bound,
}

words!(HeavyLossRule {
    Ignore = "ignore",
    Bound = "bound",
});

/// The response of the window to ECN CE marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EcnRule {
    /// No response, as in the papers: a queue that marks packets instead of dropping them does not limit the sender.
    Ignore,
    /// The flight is bounded as in DCTCP (RFC 8257, section 3.3): each round with marks reduces the bound by half of
    /// the smoothed share of acknowledgements that report them, each round without raises it by a sixteenth.
    Bound,
}

words!(EcnRule {
    Ignore = "ignore",
    Bound = "bound",
});

/// The window in ProbeRTT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
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
            check_longer_path: false,
            startup_exit_rtt: None,
            window_gain: Gain::new(2, 1),
            pacing_margin: Gain::UNIT,
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

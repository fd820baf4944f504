//! Configurations of the BBRv1 core.

use core::time::Duration;

use super::Bbr;
use crate::config::{ConfigError, ControllerConfig, Environment, Headroom, WindowPolicy};
use crate::controller::Controller;
use crate::filter::{MaxFilter, SkipFilter, SkipFilterConfig};
use crate::registry::{Preset, Registered};
use crate::units::Gain;

/// What is the same whatever the bandwidth filter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BbrCoreConfig {
    /// The window in ProbeRTT.
    pub probe_rtt_window: ProbeRttWindow,
    /// How long a minimum RTT is believed before ProbeRTT looks again. 1 s to 1 h; the paper's 10 s.
    pub min_rtt_window: Duration,
    /// Whether to try a larger minimum RTT when the estimate collapses without the RTT falling to its minimum: for
    /// windows so near one BDP that a longer path would starve them until the next ProbeRTT.
    pub suspect_longer_path: bool,
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
    /// Whether to look for token-bucket policers, and to run at their rate without probing. Off, as in the paper's figures.
    pub policer_detection: bool,
    /// How a host without pacing uses its window.
    pub window_policy: WindowPolicy,
}

/// What becomes of the window and the estimate when packets are lost or marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
}

/// When the gain cycle sends faster than the estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probing {
    /// In one phase of eight, as in the papers: a maximum filter learns of more bandwidth in no other way.
    EveryCycle,
    /// Only while the filter has nothing but lower bounds, and then until it has something else. Samples of a busy
    /// path show more bandwidth by themselves, and probing would only add to the queue.
    WhileUnbounded,
}

/// How far ProbeRTT goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbeRttWindow {
    /// To this many packets (BBR paper: four).
    Packets(u8),
    /// To this share of the bandwidth-delay product (BBR-S and BBRv2: one half).
    Bdp(Gain),
}

/// `bbr`: BBRv1 with a maximum filter, after N. Cardwell et al., "BBR: Congestion-Based Congestion Control", ACM
/// Queue 14(5), 2016.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BbrConfig {
    /// The state machine.
    pub core: BbrCoreConfig,
    /// The maximum filter's window in rounds, 1 to 1000; the paper's 10.
    pub filter_rounds: u16,
}

/// `bbr-s`: BBRv1 on SKIP, an adaptive Tobit Kalman filter, after F. Chiariotti et al., "BBR-S: A Low-Latency BBR
/// Modification for Fast-Varying Connections", IEEE Access 9, 2021.
#[derive(Debug, Clone, PartialEq)]
pub struct BbrSConfig {
    /// The state machine.
    pub core: BbrCoreConfig,
    /// The bandwidth filter.
    pub filter: SkipFilterConfig,
}

impl BbrConfig {
    /// The paper's BBR: on a host without pacing the window is the congestion window of 2 BDP.
    pub const fn paper() -> Self {
        Self {
            core: BbrCoreConfig {
                probe_rtt_window: ProbeRttWindow::Packets(4),
                min_rtt_window: Duration::from_secs(10),
                suspect_longer_path: false,
                startup_exit_rtt: None,
                window_gain: Gain::new(2, 1),
                pacing_margin: Gain::UNIT,
                probing: Probing::EveryCycle,
                recovery: RecoveryRule::Restore,
                policer_detection: false,
                window_policy: WindowPolicy::Window,
            },
            filter_rounds: 10,
        }
    }

    /// The same model, held near the knee on hosts without pacing.
    pub const fn tuned() -> Self {
        let mut config = Self::paper();
        config.core.window_policy = WindowPolicy::Cap;
        config
    }
}

impl Default for BbrConfig {
    /// The tuned preset.
    fn default() -> Self {
        Self::tuned()
    }
}

impl BbrSConfig {
    /// The paper's BBR-S as closely as a host without pacing allows.
    pub fn paper() -> Self {
        Self {
            core: BbrCoreConfig {
                probe_rtt_window: ProbeRttWindow::Bdp(Gain::new(1, 2)),
                startup_exit_rtt: Some(Gain::new(6, 1)),
                window_policy: WindowPolicy::Rate,
                ..BbrConfig::paper().core
            },
            filter: SkipFilterConfig::paper(),
        }
    }

    /// What we recommend.
    pub fn tuned() -> Self {
        let paper = Self::paper();
        Self {
            core: BbrCoreConfig {
                min_rtt_window: Duration::from_secs(30),
                suspect_longer_path: true,
                startup_exit_rtt: Some(Gain::new(2, 1)),
                // The window policy does the limiting: after a fall the estimate rises too slowly for it.
                window_gain: Gain::new(10, 1),
                probing: Probing::WhileUnbounded,
                window_policy: WindowPolicy::Track(Headroom {
                    idle: Gain::percent(4),
                    least: Gain::percent(10),
                    most: Gain::UNIT,
                }),
                ..paper.core
            },
            filter: SkipFilterConfig::tuned(),
        }
    }
}

impl Default for BbrSConfig {
    /// The tuned preset.
    fn default() -> Self {
        Self::tuned()
    }
}

impl Registered for BbrConfig {
    const NAME: &'static str = "bbr";
    const DESCRIPTION: &'static str =
        "BBRv1: maximum filter over ten rounds, eight-phase gain cycle";
    const SOURCE: &'static str =
        "N. Cardwell et al., BBR: Congestion-Based Congestion Control, ACM Queue 14(5), 2016";
    /// The papers compare with the paper's BBR.
    const PRESETS: &'static [Preset] = &[Preset::Paper, Preset::Tuned];

    fn preset(preset: Preset) -> Self {
        match preset {
            Preset::Paper => Self::paper(),
            Preset::Tuned => Self::tuned(),
        }
    }
}

impl Registered for BbrSConfig {
    const NAME: &'static str = "bbr-s";
    const DESCRIPTION: &'static str =
        "BBRv1 on SKIP: an adaptive Tobit Kalman filter instead of the maximum";
    const SOURCE: &'static str = "F. Chiariotti et al., BBR-S: A Low-Latency BBR Modification for Fast-Varying Connections, IEEE Access 9, 2021";

    fn preset(preset: Preset) -> Self {
        match preset {
            Preset::Paper => Self::paper(),
            Preset::Tuned => Self::tuned(),
        }
    }
}

impl BbrCoreConfig {
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

impl ControllerConfig for BbrConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        self.core.validate()?;
        ConfigError::require(
            (1..=1000).contains(&self.filter_rounds),
            "filter_rounds",
            self.filter_rounds,
            "1 to 1000 rounds",
        )
    }

    fn build(&self, environment: &Environment) -> Result<Box<dyn Controller>, ConfigError> {
        self.validate()?;
        let filter = MaxFilter::new(u64::from(self.filter_rounds));
        Ok(Box::new(Bbr::new(
            Self::NAME,
            self.core,
            filter,
            environment,
        )))
    }

    fn window_policy(&self) -> WindowPolicy {
        self.core.window_policy
    }
}

impl ControllerConfig for BbrSConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        self.core.validate()?;
        self.filter.validate()
    }

    fn build(&self, environment: &Environment) -> Result<Box<dyn Controller>, ConfigError> {
        self.validate()?;
        Ok(Box::new(Bbr::new(
            Self::NAME,
            self.core,
            SkipFilter::new(&self.filter)?,
            environment,
        )))
    }

    fn window_policy(&self) -> WindowPolicy {
        self.core.window_policy
    }
}

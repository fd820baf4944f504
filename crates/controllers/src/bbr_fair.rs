//! `bbr-fair`: BBRv1 that leaves each recovery with its fair share.

use crate::bbr::{Bbr, BbrConfig, BbrCoreConfig, ProbeRttWindow, RecoveryRule};
use crate::config::{ConfigError, ControllerConfig, Environment, WindowPolicy};
use crate::controller::Controller;
use crate::filter::MaxFilter;
use crate::registry::{Preset, Registered};
use crate::units::Gain;

/// `bbr-fair`: BBRv1 with strict packet conservation in recovery, after which window and bandwidth are what was still
/// in flight: a full queue drops from each flow in proportion to its share, so that the larger flows lose more of theirs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BbrFairConfig {
    /// The state machine.
    pub core: BbrCoreConfig,
    /// The maximum filter's window in rounds, 1 to 1000; BBR's 10.
    pub filter_rounds: u16,
}

impl BbrFairConfig {
    /// The article's: BBR with that recovery, ProbeRTT at half a BDP, and a pacing margin of 10 to 15 %.
    pub const fn paper() -> Self {
        let BbrConfig {
            mut core,
            filter_rounds,
        } = BbrConfig::paper();
        core.recovery = RecoveryRule::FairShare;
        core.probe_rtt_window = ProbeRttWindow::Bdp(Gain::new(1, 2));
        core.pacing_margin = PACING_MARGIN;
        core.window_policy = WindowPolicy::Rate;
        Self {
            core,
            filter_rounds,
        }
    }

    /// The same, held near the knee on hosts without pacing.
    pub const fn tuned() -> Self {
        let mut config = Self::paper();
        config.core.window_policy = WindowPolicy::Cap;
        config
    }
}

impl Default for BbrFairConfig {
    /// The tuned preset.
    fn default() -> Self {
        Self::tuned()
    }
}

impl Registered for BbrFairConfig {
    const NAME: &'static str = "bbr-fair";
    const DESCRIPTION: &'static str =
        "BBRv1 with strict packet conservation in recovery, and its result as the new estimate";
    const SOURCE: &'static str = "Pacing at the fair share of the bottleneck bandwidth without explicit network feedback (article)";

    fn preset(preset: Preset) -> Self {
        match preset {
            Preset::Paper => Self::paper(),
            Preset::Tuned => Self::tuned(),
        }
    }
}

impl ControllerConfig for BbrFairConfig {
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

/// The article has 10 to 15 % below the estimate: the middle.
const PACING_MARGIN: Gain = Gain::new(7, 8);

//! `bbr-x`: BBRv1 whose maximum is corrected by the queue it makes.

use crate::bbr::{Bbr, BbrConfig, BbrCoreConfig};
use crate::config::{ConfigError, ControllerConfig, Environment, WindowPolicy};
use crate::controller::Controller;
use crate::filter::CorrectedMaxFilter;
use crate::registry::{Preset, Registered};

/// `bbr-x`: BBRx as BBR-S compares with it, a maximum filter corrected by a term in the distance of the RTT from its
/// minimum. The source gives no formula: see [`CorrectedMaxFilter`] for the one chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BbrXConfig {
    /// The state machine.
    pub core: BbrCoreConfig,
    /// The maximum filter's window in rounds, 1 to 1000; BBR's 10.
    pub filter_rounds: u16,
    /// The share of the queue to drain per round trip, 0 to 1; 0.5.
    pub correction_gain: f64,
}

impl BbrXConfig {
    /// BBR with the correction and nothing else.
    pub const fn paper() -> Self {
        let BbrConfig {
            core,
            filter_rounds,
        } = BbrConfig::paper();
        Self {
            core,
            filter_rounds,
            correction_gain: CORRECTION_GAIN,
        }
    }

    /// The same, held near the knee on hosts without pacing.
    pub const fn tuned() -> Self {
        Self {
            core: BbrConfig::tuned().core,
            ..Self::paper()
        }
    }
}

impl Default for BbrXConfig {
    /// The tuned preset.
    fn default() -> Self {
        Self::tuned()
    }
}

impl Registered for BbrXConfig {
    const NAME: &'static str = "bbr-x";
    const DESCRIPTION: &'static str =
        "BBRv1 whose maximum is lowered by the queue's share of the RTT";
    const SOURCE: &'static str =
        "BBRx as described by F. Chiariotti et al., BBR-S, IEEE Access 9, 2021, section II";

    fn preset(preset: Preset) -> Self {
        match preset {
            Preset::Paper => Self::paper(),
            Preset::Tuned => Self::tuned(),
        }
    }
}

impl ControllerConfig for BbrXConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        self.core.validate()?;
        ConfigError::require(
            (1..=1000).contains(&self.filter_rounds),
            "filter_rounds",
            self.filter_rounds,
            "1 to 1000 rounds",
        )?;
        CorrectedMaxFilter::new(u64::from(self.filter_rounds), self.correction_gain).map(drop)
    }

    fn build(&self, environment: &Environment) -> Result<Box<dyn Controller>, ConfigError> {
        self.validate()?;
        let filter = CorrectedMaxFilter::new(u64::from(self.filter_rounds), self.correction_gain)?;
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

/// Half of the queue per round trip: the RTT it is measured by is a round trip old, and more would make the queue
/// oscillate.
const CORRECTION_GAIN: f64 = 0.5;

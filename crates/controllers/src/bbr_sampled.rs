//! `bbr-sampled`: BBRv1 on a percentile of its delivery rates.

use crate::bbr::{Bbr, BbrConfig, BbrCoreConfig, RecoveryRule};
use crate::config::{ConfigError, ControllerConfig, Environment, WindowPolicy};
use crate::controller::Controller;
use crate::filter::{PercentileFilter, PercentileFilterConfig};
use crate::registry::{Preset, Registered};

/// `bbr-sampled`: BBRv1 that takes the 85th percentile of the last 100 delivery rates for the bandwidth, so that the
/// bursts that a token bucket lets through do not carry it away.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BbrSampledConfig {
    /// The state machine.
    pub core: BbrCoreConfig,
    /// The bandwidth filter.
    pub filter: PercentileFilterConfig,
}

impl BbrSampledConfig {
    /// The paper's: BBR with another filter and nothing else.
    pub const fn paper() -> Self {
        Self {
            core: BbrConfig::paper().core,
            filter: PercentileFilterConfig::bbr(),
        }
    }

    /// The same, held near the knee on hosts without pacing, and without packet conservation: at 5 % of random loss it
    /// leads the percentile down to a quarter of the path within seconds, since the probing phase makes up no more of the
    /// samples than the percentile leaves out.
    pub const fn tuned() -> Self {
        let mut core = BbrConfig::tuned().core;
        core.recovery = RecoveryRule::Ignore;
        Self {
            core,
            ..Self::paper()
        }
    }
}

impl Default for BbrSampledConfig {
    /// The tuned preset.
    fn default() -> Self {
        Self::tuned()
    }
}

impl Registered for BbrSampledConfig {
    const NAME: &'static str = "bbr-sampled";
    const DESCRIPTION: &'static str =
        "BBRv1 on the 85th percentile of the last 100 delivery rates instead of their maximum";
    const SOURCE: &'static str = "BBR-Sampled, section 7.1 of the DASH-over-BBR study";

    fn preset(preset: Preset) -> Self {
        match preset {
            Preset::Paper => Self::paper(),
            Preset::Tuned => Self::tuned(),
        }
    }
}

impl ControllerConfig for BbrSampledConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        self.core.validate()?;
        self.filter.validate()
    }

    fn build(&self, environment: &Environment) -> Result<Box<dyn Controller>, ConfigError> {
        self.validate()?;
        let filter = PercentileFilter::new(&self.filter)?;
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

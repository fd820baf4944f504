//! `bbr2-sampled`: BBRv2 on a percentile of its delivery rates.

use crate::bbr3::{Bbr2Config, Bbr3, Bbr3CoreConfig};
use crate::config::{ConfigError, ControllerConfig, Environment, WindowPolicy};
use crate::controller::Controller;
use crate::filter::{PercentileFilter, PercentileFilterConfig};
use crate::registry::{Preset, Registered};
use crate::units::Gain;

/// `bbr2-sampled`: BBRv2's parameters, with 85 % of the 85th percentile of the last 100 delivery rates for the bandwidth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bbr2SampledConfig {
    /// The state machine.
    pub core: Bbr3CoreConfig,
    /// The bandwidth filter.
    pub filter: PercentileFilterConfig,
}

impl Bbr2SampledConfig {
    /// The paper's: BBRv2 with another filter and nothing else.
    pub const fn paper() -> Self {
        Self {
            core: Bbr2Config::paper().core,
            filter: PercentileFilterConfig::bbr2(),
        }
    }

    /// The same, held near the knee on hosts without pacing.
    ///
    /// A sender that runs at 85 % of what it measures, while it measures only itself, slows down geometrically: the window
    /// has to leave more than 1 / 0.85 of a pipe in flight, so that the samples show the path.
    pub const fn tuned() -> Self {
        let mut core = Bbr2Config::tuned().core;
        core.window_policy = WindowPolicy::Bdp {
            gain: Gain::new(3, 2),
        };
        Self {
            core,
            ..Self::paper()
        }
    }
}

impl Default for Bbr2SampledConfig {
    /// The tuned preset.
    fn default() -> Self {
        Self::tuned()
    }
}

impl Registered for Bbr2SampledConfig {
    const NAME: &'static str = "bbr2-sampled";
    const DESCRIPTION: &'static str =
        "BBRv2 on 85 % of the 85th percentile of the last 100 delivery rates";
    const SOURCE: &'static str = "BBR2-Sampled, section 7.2 of the DASH-over-BBR study";

    fn preset(preset: Preset) -> Self {
        match preset {
            Preset::Paper => Self::paper(),
            Preset::Tuned => Self::tuned(),
        }
    }
}

impl ControllerConfig for Bbr2SampledConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        self.core.validate()?;
        self.filter.validate()
    }

    fn build(&self, environment: &Environment) -> Result<Box<dyn Controller>, ConfigError> {
        self.validate()?;
        let filter = PercentileFilter::new(&self.filter)?;
        Ok(Box::new(Bbr3::new(
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

//! The controllers on the BBRv3 core: one configuration each.

use super::Bbr3;
use super::config::Bbr3CoreConfig;
use crate::bbr::Probing;
use crate::config::{ConfigError, ControllerConfig, Environment, WindowPolicy};
use crate::controller::Controller;
use crate::filter::{MaxFilter, SkipFilter, SkipFilterConfig};
use crate::registry::{Preset, Registered};
use crate::units::Gain;

/// `bbr3`: BBRv3 with a maximum filter, after draft-ietf-ccwg-bbr.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bbr3Config {
    /// The state machine.
    pub core: Bbr3CoreConfig,
    /// The maximum filter's window in ProbeBW cycles, 1 to 100: the current one and those before it. The draft's 2.
    pub filter_cycles: u16,
}

/// `bbr2`: BBRv2's parameters on the BBRv3 core, after Google's alpha release for Linux (`tcp_bbr2.c`);
/// [`Bbr3CoreConfig::v2`] says what remains of BBRv3.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bbr2Config {
    /// The state machine.
    pub core: Bbr3CoreConfig,
    /// The maximum filter's window in ProbeBW cycles, 1 to 100: the current one and those before it. BBRv2's 2.
    pub filter_cycles: u16,
}

/// `bbr3-s`: BBRv3 on SKIP, the adaptive Tobit Kalman filter of BBR-S.
#[derive(Debug, Clone, PartialEq)]
pub struct Bbr3SConfig {
    /// The state machine.
    pub core: Bbr3CoreConfig,
    /// The bandwidth filter.
    pub filter: SkipFilterConfig,
}

impl Bbr3Config {
    /// The draft's BBRv3: on a host without pacing the window is the congestion window of 2 BDP.
    pub const fn paper() -> Self {
        Self {
            core: Bbr3CoreConfig::draft(),
            filter_cycles: CYCLES,
        }
    }

    /// What we recommend, where it differs: [`Bbr3CoreConfig::tuned`].
    pub const fn tuned() -> Self {
        let mut config = Self::paper();
        config.core = config.core.tuned();
        config
    }
}

impl Bbr2Config {
    /// The alpha release's BBRv2: on a host without pacing the window is the congestion window of 2 BDP.
    pub const fn paper() -> Self {
        Self {
            core: Bbr3CoreConfig::v2(),
            filter_cycles: CYCLES,
        }
    }

    /// What we recommend, where it differs: [`Bbr3CoreConfig::tuned`].
    pub const fn tuned() -> Self {
        let mut config = Self::paper();
        config.core = config.core.tuned();
        config
    }
}

impl Bbr3SConfig {
    /// The draft's state machine on the paper's filter.
    pub fn paper() -> Self {
        Self {
            core: Bbr3CoreConfig {
                window_policy: WindowPolicy::Rate,
                ..Bbr3CoreConfig::draft()
            },
            filter: SkipFilterConfig::paper(),
        }
    }

    /// What we recommend: a quarter more than a pipe in flight, so that the samples show the path, and probes only as long
    /// as they do not.
    pub fn tuned() -> Self {
        Self {
            core: Bbr3CoreConfig {
                probing: Probing::WhileUnbounded,
                startup_exit_rtt: Some(Gain::new(2, 1)),
                window_policy: WindowPolicy::Bdp {
                    gain: Gain::new(5, 4),
                },
                ..Bbr3CoreConfig::draft().tuned()
            },
            filter: SkipFilterConfig::tuned(),
        }
    }
}

impl Default for Bbr3Config {
    /// The tuned preset.
    fn default() -> Self {
        Self::tuned()
    }
}

impl Default for Bbr2Config {
    /// The tuned preset.
    fn default() -> Self {
        Self::tuned()
    }
}

impl Default for Bbr3SConfig {
    /// The tuned preset.
    fn default() -> Self {
        Self::tuned()
    }
}

impl Registered for Bbr3Config {
    const NAME: &'static str = "bbr3";
    const DESCRIPTION: &'static str =
        "BBRv3: maximum filter over two probing cycles, bounds from losses";
    const SOURCE: &'static str = "draft-ietf-ccwg-bbr";

    fn preset(preset: Preset) -> Self {
        match preset {
            Preset::Paper => Self::paper(),
            Preset::Tuned => Self::tuned(),
        }
    }
}

impl Registered for Bbr2Config {
    const NAME: &'static str = "bbr2";
    const DESCRIPTION: &'static str = "BBRv2's gains, timers and thresholds on the BBRv3 core";
    const SOURCE: &'static str =
        "Google's BBRv2 alpha for Linux; draft-cardwell-iccrg-bbr-congestion-control-02";

    fn preset(preset: Preset) -> Self {
        match preset {
            Preset::Paper => Self::paper(),
            Preset::Tuned => Self::tuned(),
        }
    }
}

impl Registered for Bbr3SConfig {
    const NAME: &'static str = "bbr3-s";
    const DESCRIPTION: &'static str =
        "BBRv3 on SKIP: an adaptive Tobit Kalman filter instead of the maximum";
    const SOURCE: &'static str =
        "draft-ietf-ccwg-bbr with the filter of F. Chiariotti et al., BBR-S, IEEE Access 9, 2021";

    fn preset(preset: Preset) -> Self {
        match preset {
            Preset::Paper => Self::paper(),
            Preset::Tuned => Self::tuned(),
        }
    }
}

impl ControllerConfig for Bbr3Config {
    fn validate(&self) -> Result<(), ConfigError> {
        self.core.validate()?;
        validate_cycles(self.filter_cycles)
    }

    fn build(&self, environment: &Environment) -> Result<Box<dyn Controller>, ConfigError> {
        self.validate()?;
        let filter = maximum(self.filter_cycles);
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

impl ControllerConfig for Bbr2Config {
    fn validate(&self) -> Result<(), ConfigError> {
        self.core.validate()?;
        validate_cycles(self.filter_cycles)
    }

    fn build(&self, environment: &Environment) -> Result<Box<dyn Controller>, ConfigError> {
        self.validate()?;
        let filter = maximum(self.filter_cycles);
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

impl ControllerConfig for Bbr3SConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        self.core.validate()?;
        self.filter.validate()
    }

    fn build(&self, environment: &Environment) -> Result<Box<dyn Controller>, ConfigError> {
        self.validate()?;
        Ok(Box::new(Bbr3::new(
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

fn validate_cycles(cycles: u16) -> Result<(), ConfigError> {
    ConfigError::require(
        (1..=100).contains(&cycles),
        "filter_cycles",
        cycles,
        "1 to 100 cycles",
    )
}

/// The window of [`MaxFilter`] reaches so many epochs back: the current one comes on top.
fn maximum(cycles: u16) -> MaxFilter {
    MaxFilter::new(u64::from(cycles.saturating_sub(1)))
}

/// ProbeBW cycles that the maximum covers (draft-ietf-ccwg-bbr, section "Estimating BBR.max_bw").
const CYCLES: u16 = 2;

//! Configuration of `cubic`.

use super::Cubic;
use crate::config::{ConfigError, ControllerConfig, Environment};
use crate::controller::Controller;
use crate::loss_based::controller::LossBased;
use crate::loss_based::require_reduction;
use crate::registry::{Preset, Registered};
use crate::text::fields;
use crate::units::{Bytes, Gain};

/// `cubic`: RFC 9438 with HyStart++ (RFC 9406), and the response to ECN marks of RFC 8511.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct CubicConfig {
    /// beta_cubic, the factor of the window after a loss: above 0 and below 1. 0.7 (RFC 9438, section 4.6).
    pub beta_cubic: Gain,
    /// The factor after a mark (ECN CE): above 0 and below 1. 0.85 (RFC 8511, section 4.2): a queue that marks is
    /// shorter than one that overflows.
    pub mark_reduction: Gain,
    /// C, in packets per cubic second: above 0 and up to 10. 0.4 (RFC 9438, section 5.1).
    pub c: Gain,
    /// Whether a second loss at a smaller window releases bandwidth to new flows. On (RFC 9438, section 4.7).
    pub fast_convergence: bool,
    /// Whether a rising RTT also ends the first slow start. On (RFC 9406).
    pub hystart: bool,
}

fields!(CubicConfig {
    beta_cubic,
    mark_reduction,
    c,
    fast_convergence,
    hystart
});

impl CubicConfig {
    /// alpha_cubic = 3 (1 - beta) / (1 + beta) packets per window: Reno's throughput with beta_cubic (RFC 9438, section
    /// 4.3).
    pub(super) fn alpha_cubic(&self, mtu: Bytes) -> Bytes {
        let beta = self.beta_cubic.as_f64();
        Bytes((mtu.0 as f64 * (3.0 * (1.0 - beta) / (1.0 + beta))).round() as u64)
    }

    /// (1 + beta) / 2: the next W_max as a share of the window (RFC 9438, section 4.7).
    pub(super) fn fast_convergence_share(&self) -> Gain {
        let share = (1.0 + self.beta_cubic.as_f64()) / 2.0;
        Gain::new((share * 1e6).round() as u32, 1_000_000)
    }
}

impl Default for CubicConfig {
    /// The standard's values.
    fn default() -> Self {
        Self {
            beta_cubic: Gain::new(7, 10),
            mark_reduction: Gain::new(17, 20),
            c: Gain::new(2, 5),
            fast_convergence: true,
            hystart: true,
        }
    }
}

impl Registered for CubicConfig {
    const NAME: &'static str = "cubic";
    const DESCRIPTION: &'static str =
        "CUBIC: a cubic curve back to where the last loss was; HyStart++";
    const SOURCE: &'static str = "RFC 9438 and RFC 9406";
    const PRESETS: &'static [Preset] = &[Preset::Tuned];

    fn preset(_preset: Preset) -> Self {
        Self::default()
    }
}

impl ControllerConfig for CubicConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        require_reduction("beta_cubic", self.beta_cubic)?;
        require_reduction("mark_reduction", self.mark_reduction)?;
        let c = self.c.as_f64();
        ConfigError::require(
            c > 0.0 && c <= 10.0,
            "c",
            c,
            "above 0 and up to 10 packets per cubic second",
        )
    }

    fn build(&self, environment: &Environment) -> Result<Box<dyn Controller>, ConfigError> {
        self.validate()?;
        let avoidance = Cubic::new(*self);
        Ok(Box::new(LossBased::new(Self::NAME, avoidance, environment)))
    }
}

//! `new-reno`: RFC 9002, section 7, as it stands.

use crate::config::{ConfigError, ControllerConfig, Environment};
use crate::controller::Controller;
use crate::event::{AckEvent, CongestionSignal};
use crate::loss_based::avoidance::{Avoidance, View, additive_increase};
use crate::loss_based::controller::LossBased;
use crate::loss_based::slow_start::Doubling;
use crate::loss_based::window::Window;
use crate::loss_based::{require_reduction, share_left};
use crate::registry::{Preset, Registered};
use crate::text::fields;
use crate::units::{Bytes, Gain};

/// `new-reno`: the congestion controller of RFC 9002, section 7, with the answer to marks of RFC 8511.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct NewRenoConfig {
    /// What is left of the window after a loss: a share above 0 and below 1. One half (RFC 9002, appendix B.1,
    /// kLossReductionFactor).
    pub reduction: Gain,
    /// What is left of it after a mark (ECN CE): a share above 0 and below 1. 0.8 (RFC 8511, section 3.1): a queue that marks is
    /// shorter than one that overflows. RFC 9002 alone would have one half.
    pub mark_reduction: Gain,
}

fields!(NewRenoConfig {
    reduction,
    mark_reduction
});

impl Default for NewRenoConfig {
    fn default() -> Self {
        Self {
            reduction: Gain::new(1, 2),
            mark_reduction: Gain::new(4, 5),
        }
    }
}

impl Registered for NewRenoConfig {
    const NAME: &'static str = "new-reno";
    const DESCRIPTION: &'static str =
        "New Reno: one packet more per round, half the window per loss";
    const SOURCE: &'static str = "RFC 9002, section 7";
    const PRESETS: &'static [Preset] = &[Preset::Tuned];

    fn preset(_preset: Preset) -> Self {
        Self::default()
    }
}

impl ControllerConfig for NewRenoConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        require_reduction("mark_reduction", self.mark_reduction)?;
        require_reduction("reduction", self.reduction)
    }

    fn build(&self, environment: &Environment) -> Result<Box<dyn Controller>, ConfigError> {
        self.validate()?;
        let avoidance = NewReno { config: *self };
        Ok(Box::new(LossBased::new(Self::NAME, avoidance, environment)))
    }
}

/// Additive increase, multiplicative decrease.
#[derive(Debug, Clone, Copy)]
struct NewReno {
    config: NewRenoConfig,
}

impl Avoidance for NewReno {
    type SlowStart = Doubling;

    fn slow_start(&self) -> Doubling {
        Doubling
    }

    fn on_ack(&mut self, ack: &AckEvent, view: &View<'_>, window: &mut Window) {
        if view.window_limited {
            let whole = window.bytes();
            additive_increase(window, ack.acked, whole, view.mtu);
        }
    }

    fn reduce(&mut self, window: Bytes, signal: CongestionSignal) -> Bytes {
        let config = &self.config;
        let left = share_left(signal, config.reduction, config.mark_reduction);
        left * window
    }
}

#[cfg(test)]
mod tests;

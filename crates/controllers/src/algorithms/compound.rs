//! `compound`: Reno's window and a delay-based one beside it.
//!
//! After K. Tan, J. Song, Q. Zhang, M. Sridharan, "A Compound TCP Approach for High-Speed and Long Distance Networks",
//! INFOCOM 2006, and draft-sridharan-tcpm-ctcp-02.

use core::time::Duration;

use crate::config::{ConfigError, ControllerConfig, Environment};
use crate::controller::Controller;
use crate::event::{AckEvent, CongestionSignal};
use crate::loss_based::avoidance::{Avoidance, View, additive_increase};
use crate::loss_based::controller::LossBased;
use crate::loss_based::slow_start::Doubling;
use crate::loss_based::window::Window;
use crate::loss_based::{HOST_DELAY, require_host_delay, require_reduction, share_left};
use crate::registry::{Preset, Registered};
use crate::text::fields;
use crate::units::{Bytes, Gain};

/// `compound`: Compound TCP (CTCP). win = cwnd + dwnd, where cwnd is Reno's.
///
/// # Where the sources are silent
/// - k is fixed at 3/4: the power is then two square roots, once per round.
/// - Below the low-window threshold dwnd does not grow, but what is there still shrinks as the queue grows.
/// - The threshold that a loss sets for slow start is that of cwnd.
/// - A round counts with the least of its round-trip times. The draft averages them, which counts delayed
///   acknowledgements as queue.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct CompoundConfig {
    /// The scale of dwnd's growth, alpha win^0.75 - 1 packets per round: above 0 and up to 1. 0.125 (the paper, on
    /// the delay-based component).
    pub alpha: Gain,
    /// The share of the whole window that a loss takes: above 0 and below 1. One half (same place).
    pub beta: Gain,
    /// What is left of the whole window after a mark (ECN CE): a share above 0 and below 1. 0.8 (RFC 8511, section 3.1).
    pub mark_reduction: Gain,
    /// With so many packets in the queue dwnd shrinks. At least 1; 30 (same place).
    pub gamma: u16,
    /// By so many times the packets in the queue. Above 0 and up to 16; 1 (the draft leaves it open; 1 in the Linux
    /// port).
    pub zeta: Gain,
    /// Windows of fewer packets are left to Reno. 38 (the draft's low-window threshold).
    pub low_window: u16,
    /// What the hosts may add to a round-trip time: no queue. At most 100 ms; 1 ms, of which the sources say nothing.
    pub host_delay: Duration,
}

fields!(CompoundConfig {
    alpha,
    beta,
    mark_reduction,
    gamma,
    zeta,
    low_window,
    host_delay
});

impl Default for CompoundConfig {
    /// The paper's values, and ours where it has none.
    fn default() -> Self {
        Self {
            alpha: Gain::new(1, 8),
            beta: Gain::new(1, 2),
            mark_reduction: MARK_REDUCTION,
            gamma: 30,
            zeta: Gain::UNIT,
            low_window: 38,
            host_delay: HOST_DELAY,
        }
    }
}

impl Registered for CompoundConfig {
    const NAME: &'static str = "compound";
    const DESCRIPTION: &'static str =
        "Compound TCP: Reno and a scalable delay-based window beside it";
    const SOURCE: &'static str = "K. Tan et al., A Compound TCP Approach for High-Speed and Long Distance Networks, INFOCOM 2006; draft-sridharan-tcpm-ctcp-02";
    const PRESETS: &'static [Preset] = &[Preset::Tuned];

    fn preset(_preset: Preset) -> Self {
        Self::default()
    }
}

impl ControllerConfig for CompoundConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        let (alpha, zeta) = (self.alpha.as_f64(), self.zeta.as_f64());
        ConfigError::require(
            alpha > 0.0 && alpha <= 1.0,
            "alpha",
            alpha,
            "above 0 and up to 1",
        )?;
        require_reduction("beta", self.beta)?;
        require_reduction("mark_reduction", self.mark_reduction)?;
        require_host_delay(self.host_delay)?;
        ConfigError::require(self.gamma >= 1, "gamma", self.gamma, "at least 1 packet")?;
        ConfigError::require(
            zeta > 0.0 && zeta <= 16.0,
            "zeta",
            zeta,
            "above 0 and up to 16",
        )
    }

    fn build(&self, environment: &Environment) -> Result<Box<dyn Controller>, ConfigError> {
        self.validate()?;
        let avoidance = Compound {
            config: *self,
            delay_window: Bytes::ZERO,
        };
        Ok(Box::new(LossBased::new(Self::NAME, avoidance, environment)))
    }
}

/// The two windows: cwnd is the skeleton's, dwnd is here.
#[derive(Debug, Clone, Copy)]
struct Compound {
    config: CompoundConfig,
    delay_window: Bytes,
}

impl Compound {
    /// alpha win^0.75 - 1 packets, in bytes; nothing below the low-window threshold.
    fn increment(&self, total: Bytes, mtu: Bytes) -> Bytes {
        if total < mtu * u64::from(self.config.low_window) {
            return Bytes::ZERO;
        }
        let packets = total.0 as f64 / mtu.0.max(1) as f64;
        let root = packets.sqrt();
        let growth = self.config.alpha.as_f64() * (root * root.sqrt()) - 1.0;
        Bytes((growth * mtu.0 as f64) as u64)
    }
}

impl Avoidance for Compound {
    type SlowStart = Doubling;

    fn slow_start(&self) -> Doubling {
        Doubling
    }

    fn on_ack(&mut self, ack: &AckEvent, view: &View<'_>, window: &mut Window) {
        if !view.window_limited {
            return;
        }
        let total = window.bytes() + self.delay_window;
        if let Some(round) = view.ended {
            let backlog = view
                .trips
                .backlog(total, round.min_rtt, self.config.host_delay);
            if backlog < view.mtu * u64::from(self.config.gamma) {
                // No faster than slow start, where packets are smaller than the MTU.
                self.delay_window += self.increment(total, view.mtu).min(round.acked);
            } else {
                self.delay_window -= self.config.zeta * backlog;
            }
        }
        // cwnd grows by a packet for each whole window, not for each cwnd.
        additive_increase(window, ack.acked, total, view.mtu);
    }

    fn reduce(&mut self, window: Bytes, signal: CongestionSignal) -> Bytes {
        let total = window + self.delay_window;
        let left = match signal {
            CongestionSignal::EcnMark => self.config.mark_reduction * total,
            CongestionSignal::Loss | CongestionSignal::PersistentCongestion => {
                total - self.config.beta * total
            }
        };
        let loss_window = share_left(signal, RENO_REDUCTION, MARK_REDUCTION) * window;
        self.delay_window = left - loss_window;
        loss_window
    }

    fn on_persistent_congestion(&mut self) {
        self.delay_window = Bytes::ZERO;
    }

    fn extra(&self) -> Bytes {
        self.delay_window
    }
}

/// The loss-based part is Reno (RFC 9002, appendix B.1).
const RENO_REDUCTION: Gain = Gain::new(1, 2);

/// RFC 8511, section 3.1 (beta_ecn for Reno).
const MARK_REDUCTION: Gain = Gain::new(4, 5);

#[cfg(test)]
mod tests;

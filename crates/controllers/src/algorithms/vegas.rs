//! `vegas`: keeps a few packets in the bottleneck's queue.
//!
//! After L. S. Brakmo and L. L. Peterson, "TCP Vegas: End to End Congestion Avoidance on a Global Internet", IEEE JSAC
//! 13(8), 1995.

mod standing_queue;

use core::time::Duration;

use self::standing_queue::StandingQueue;
use crate::config::{ConfigError, ControllerConfig, Environment, WindowPolicy};
use crate::controller::Controller;
use crate::event::AckEvent;
use crate::loss_based::avoidance::{Avoidance, View};
use crate::loss_based::controller::LossBased;
use crate::loss_based::require_reduction;
use crate::loss_based::slow_start::{SlowStart, double};
use crate::loss_based::window::Window;
use crate::registry::{Preset, Registered};
use crate::units::{Bytes, Gain};

/// `vegas`: TCP Vegas.
///
/// # Where the paper is silent
/// - A round counts with the least of its round-trip times, as in Linux. The paper times one segment per round, which
///   a delayed acknowledgement or the sender's own burst spoils.
/// - A loss halves the window, as in Linux. The paper cuts a quarter, but only where its own retransmission timer sees
///   the loss earlier than Reno would; QUIC's loss detection is the host's.
/// - Slow start leaves for the window that just fills the pipe at the measured round-trip times, and a packet (Linux).
/// - The base round-trip time is forgotten after persistent congestion only. A Vegas that forgot it regularly would
///   each time take its own queue for the path.
///
/// # Where we recommend something else
/// A link that hands packets over in lumps, or that is blocked now and then, delays whole rounds. The paper's Vegas
/// takes that for its own queue, and stays at ten packets on a link that carries hundreds. What delays the sender
/// itself is told apart by what CoDel goes by (RFC 8289, section 3): a queue of its own stands, the link's delays come
/// and go ([`standing`](VegasConfig::standing)).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct VegasConfig {
    /// Below so many packets in the queue the window grows by one per round. At least 1; 2 (section III-B).
    pub alpha: u16,
    /// Above so many packets it shrinks by one per round. At least `alpha`; 4 (section III-B).
    pub beta: u16,
    /// With so many packets in the queue slow start ends. At least 1; 1 (section III-C).
    pub gamma: u16,
    /// What is left of the window after a loss: a share above 0 and below 1. One half (Reno).
    pub reduction: Gain,
    /// A queue is the sender's own once it has stood for so long: a round is judged by the least round-trip time of
    /// all rounds that ended within this time. At most 10 s, and zero to judge each round by itself, as in the paper.
    pub standing: Duration,
}

impl VegasConfig {
    /// The paper's values.
    pub const fn paper() -> Self {
        Self {
            alpha: 2,
            beta: 4,
            gamma: 1,
            reduction: Gain::new(1, 2),
            standing: Duration::ZERO,
        }
    }
}

impl Default for VegasConfig {
    /// The paper's values, but for the time that a queue has to stand: 300 ms.
    fn default() -> Self {
        Self {
            standing: STANDING,
            ..Self::paper()
        }
    }
}

impl Registered for VegasConfig {
    const NAME: &'static str = "vegas";
    const DESCRIPTION: &'static str = "Vegas: two to four packets in the bottleneck's queue";
    const SOURCE: &'static str = "L. S. Brakmo, L. L. Peterson, TCP Vegas: End to End Congestion Avoidance on a Global Internet, IEEE JSAC 13(8), 1995";

    fn preset(preset: Preset) -> Self {
        match preset {
            Preset::Tuned => Self::default(),
            Preset::Paper => Self::paper(),
        }
    }
}

impl ControllerConfig for VegasConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        let (alpha, beta) = (self.alpha, self.beta);
        ConfigError::require(alpha >= 1, "alpha", alpha, "at least 1 packet")?;
        ConfigError::require(beta >= alpha, "beta", beta, "at least alpha")?;
        ConfigError::require(self.gamma >= 1, "gamma", self.gamma, "at least 1 packet")?;
        ConfigError::require(
            self.standing <= LONGEST_STANDING,
            "standing",
            self.standing.as_secs_f64(),
            "at most 10 s",
        )?;
        require_reduction("reduction", self.reduction)
    }

    fn build(&self, environment: &Environment) -> Result<Box<dyn Controller>, ConfigError> {
        self.validate()?;
        let avoidance = Vegas {
            config: *self,
            queue: StandingQueue::new(self.standing),
        };
        Ok(Box::new(LossBased::new(Self::NAME, avoidance, environment)))
    }

    fn window_policy(&self) -> WindowPolicy {
        WindowPolicy::Window
    }
}

/// Vegas' congestion avoidance: one decision per round.
#[derive(Debug, Clone, Copy)]
struct Vegas {
    config: VegasConfig,
    queue: StandingQueue,
}

impl Avoidance for Vegas {
    type SlowStart = EveryOtherRound;

    fn slow_start(&self) -> EveryOtherRound {
        EveryOtherRound {
            gamma: self.config.gamma,
            growing: true,
            queue: StandingQueue::new(self.config.standing),
        }
    }

    fn on_ack(&mut self, ack: &AckEvent, view: &View<'_>, window: &mut Window) {
        let Some(round) = view.ended else { return };
        let size = window.bytes();
        let backlog = self.queue.after(round, ack.now, size, view.trips);
        // A flight that is not limited by the window queues less than the window would.
        if !view.window_limited {
            return;
        }
        if backlog < view.mtu.packets(u64::from(self.config.alpha)) {
            // No faster than slow start, where packets are smaller than the MTU.
            window.grow(view.mtu.min(round.acked));
        } else if backlog > view.mtu.packets(u64::from(self.config.beta)) {
            *window = Window::new(size - view.mtu);
        }
    }

    fn reduce(&mut self, window: Bytes) -> Bytes {
        self.config.reduction * window
    }

    fn collapse(&mut self) {
        self.queue.forget();
    }
}

/// Vegas' slow start: doubles in every other round only, so that the rounds between are measured at a fixed window.
#[derive(Debug, Clone, Copy)]
struct EveryOtherRound {
    gamma: u16,
    growing: bool,
    queue: StandingQueue,
}

impl SlowStart for EveryOtherRound {
    fn on_ack(&mut self, ack: &AckEvent, view: &View<'_>, window: &mut Window) -> bool {
        if let Some(round) = view.ended {
            let size = window.bytes();
            let stands = self.queue.after(round, ack.now, size, view.trips);
            if view.window_limited {
                if stands > view.mtu.packets(u64::from(self.gamma)) {
                    // The window has grown since: more waits by now than has stood all the time.
                    let waits = view.trips.backlog(size, round.least);
                    *window = Window::new((size - waits + view.mtu).min(size));
                    return true;
                }
                self.growing = !self.growing;
            }
        }
        if self.growing && view.window_limited {
            double(window, ack.acked, view.threshold);
        }
        false
    }
}

/// Three times CoDel's interval (RFC 8289, section 4.3): links are blocked for longer than queues oscillate.
const STANDING: Duration = Duration::from_millis(300);

/// A Vegas that waited for longer would fill any buffer before it noticed.
const LONGEST_STANDING: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests;

//! `cubic`: RFC 9438, with HyStart++ (RFC 9406) for its first slow start.

mod config;
mod curve;
#[cfg(test)]
mod tests;

pub use config::CubicConfig;

use self::curve::{Curve, seconds};
use crate::event::{AckEvent, CongestionSignal};
use crate::loss_based::avoidance::{Avoidance, Entry, View, additive_increase};
use crate::loss_based::hystart::HyStart;
use crate::loss_based::share_left;
use crate::loss_based::window::Window;
use crate::units::{Bytes, Gain, Timestamp};

/// CUBIC's congestion avoidance.
#[derive(Debug, Clone, Copy)]
pub(in crate::algorithms) struct Cubic {
    config: CubicConfig,
    /// W_max: the window at the plateau of the curve.
    w_max: Bytes,
    /// cwnd_prior: the window before the last reduction.
    cwnd_prior: Bytes,
    /// `None` outside of congestion avoidance.
    epoch: Option<Epoch>,
}

/// One period of congestion avoidance.
#[derive(Debug, Clone, Copy)]
struct Epoch {
    curve: Curve,
    /// When it began, plus all the time in which the window did not limit the sender (RFC 9438, section 5.8).
    origin: Timestamp,
    /// The time up to which this is accounted for.
    accounted: Timestamp,
    /// W_est: the window of a Reno flow with the same mean.
    w_est: Window,
    /// alpha_cubic in bytes per window.
    alpha_cubic: Bytes,
}

impl Cubic {
    pub(in crate::algorithms) fn new(config: CubicConfig) -> Self {
        Self {
            config,
            w_max: Bytes::ZERO,
            cwnd_prior: Bytes::ZERO,
            epoch: None,
        }
    }

    fn begin_epoch(&mut self, now: Timestamp, window: Bytes, mtu: Bytes) {
        self.epoch = Some(Epoch {
            curve: Curve::new(self.config.c, self.w_max, window, mtu),
            origin: now,
            accounted: now,
            w_est: Window::new(window),
            alpha_cubic: self.config.alpha_cubic(mtu),
        });
    }
}

impl Epoch {
    /// Time in which the window did not limit the sender does not count.
    fn skip_to(&mut self, now: Timestamp) {
        self.origin = self.origin + now.saturating_since(self.accounted);
        self.accounted = self.accounted.max(now);
    }
}

impl Avoidance for Cubic {
    type SlowStart = HyStart;

    const WANTS_SMOOTHED_RTT: bool = true;

    fn slow_start(&self) -> HyStart {
        if self.config.hystart {
            HyStart::Standard
        } else {
            HyStart::Off
        }
    }

    fn enter(&mut self, now: Timestamp, entry: Entry, window: Bytes, mtu: Bytes) {
        if entry == Entry::SlowStart {
            // RFC 9438, sections 4.8 and 4.10: K is 0, so W_max is the current window.
            self.w_max = window;
            self.cwnd_prior = window;
        }
        self.begin_epoch(now, window, mtu);
    }

    fn on_ack(&mut self, ack: &AckEvent, view: &View<'_>, window: &mut Window) {
        let Some(epoch) = &mut self.epoch else { return };
        if !view.window_limited {
            epoch.skip_to(ack.now);
            return;
        }
        epoch.accounted = epoch.accounted.max(ack.now);
        let size = window.bytes();
        // RFC 9438, section 4.3: once W_est has reached cwnd_prior it grows like Reno.
        let alpha_cubic = if epoch.w_est.bytes() >= self.cwnd_prior {
            view.mtu
        } else {
            epoch.alpha_cubic
        };
        additive_increase(&mut epoch.w_est, ack.acked, size, alpha_cubic);
        let elapsed = seconds(epoch.origin, ack.now);
        if epoch.curve.at(elapsed) < epoch.w_est.bytes() {
            // The RFC sets cwnd to W_est. The window may already be larger, because it follows the curve one RTT ahead;
            // it must not shrink.
            *window = (*window).max(epoch.w_est);
        } else {
            let target = epoch
                .curve
                .at(elapsed + view.trips.smoothed_seconds())
                .clamp(size, MAX_TARGET * size);
            window.grow_by_share(target - size, ack.acked, size);
        }
    }

    fn reduce(&mut self, window: Bytes, signal: CongestionSignal) -> Bytes {
        self.w_max = if self.config.fast_convergence && window < self.w_max {
            self.config.fast_convergence_share() * window
        } else {
            window
        };
        self.cwnd_prior = window;
        self.epoch = None;
        let config = &self.config;
        share_left(signal, config.beta_cubic, config.mark_reduction) * window
    }

    fn on_persistent_congestion(&mut self) {
        self.epoch = None;
    }

    fn on_idle_end(&mut self, now: Timestamp) {
        if let Some(epoch) = &mut self.epoch {
            epoch.skip_to(now);
        }
    }

    fn on_mtu_update(&mut self, window: Bytes, mtu: Bytes) {
        // The curve counts packets, so it restarts from here with the new size.
        if let Some(epoch) = self.epoch {
            self.begin_epoch(epoch.accounted, window, mtu);
        }
    }
}

/// RFC 9438, section 4.2: the target is no more than 1.5 windows.
const MAX_TARGET: Gain = Gain::new(3, 2);

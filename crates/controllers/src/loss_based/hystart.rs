//! HyStart++ (RFC 9406): leaves slow start when the round-trip time rises, before the queue overflows.

use core::time::Duration;

use super::avoidance::View;
use super::slow_start::{SlowStart, double};
use super::window::Window;
use crate::event::AckEvent;
use crate::snapshot::Mode;
use crate::units::Gain;

/// HyStart++, for the first slow start only: later ones have a threshold (RFC 9406, section 4.3).
///
/// L, the limit on growth per acknowledgement, is infinite: RFC 9406, section 4.3, asks so of senders that pace, and
/// QUIC hosts do.
#[derive(Debug, Clone, Copy)]
pub(crate) enum HyStart {
    /// Doubles the window each round.
    Standard,
    /// Conservative slow start: the RTT has risen. The window grows slowly until it is clear whether the RTT stays
    /// high.
    Conservative {
        /// The RTT at which it began.
        baseline: Duration,
        /// Rounds left, including the current one.
        rounds_left: u8,
    },
    /// Slow start without HyStart++.
    Off,
}

impl SlowStart for HyStart {
    fn on_ack(&mut self, ack: &AckEvent, view: &View<'_>, window: &mut Window) -> bool {
        if let Self::Conservative { rounds_left, .. } = self
            && view.ended.is_some()
        {
            *rounds_left = rounds_left.saturating_sub(1);
            if *rounds_left == 0 {
                return true;
            }
        }
        if view.window_limited {
            let gain = match self {
                Self::Conservative { .. } => CSS_GROWTH,
                Self::Standard | Self::Off => Gain::UNIT,
            };
            double(window, gain * ack.acked, view.threshold);
        }
        if view.threshold.is_none() {
            self.judge(view);
        }
        false
    }

    fn mode(&self) -> Mode {
        match self {
            Self::Conservative { .. } => Mode::ConservativeSlowStart,
            Self::Standard | Self::Off => Mode::SlowStart,
        }
    }
}

impl HyStart {
    fn judge(&mut self, view: &View<'_>) {
        let Some((current, samples)) = view.trips.current() else {
            return;
        };
        if samples < RTT_SAMPLES {
            return;
        }
        match *self {
            Self::Standard => {
                let Some(last) = view.trips.last() else {
                    return;
                };
                let threshold = (last.min_rtt / MIN_RTT_DIVISOR).clamp(MIN_RTT_RISE, MAX_RTT_RISE);
                if current >= last.min_rtt + threshold {
                    *self = Self::Conservative {
                        baseline: current,
                        rounds_left: CSS_ROUNDS,
                    };
                }
            }
            // The RTT has fallen again: this sender had no queue.
            Self::Conservative { baseline, .. } if current < baseline => *self = Self::Standard,
            Self::Conservative { .. } | Self::Off => {}
        }
    }
}

/// RFC 9406, section 4.3 (N_RTT_SAMPLE): round-trip times of a round before it is judged.
const RTT_SAMPLES: u32 = 8;

/// RFC 9406, section 4.3 (MIN_RTT_DIVISOR, MIN_RTT_THRESH, MAX_RTT_THRESH): the rise that counts is an eighth of the
/// last round's, but 4 to 16 ms.
const MIN_RTT_DIVISOR: u32 = 8;
const MIN_RTT_RISE: Duration = Duration::from_millis(4);
const MAX_RTT_RISE: Duration = Duration::from_millis(16);

/// RFC 9406, section 4.3 (CSS_GROWTH_DIVISOR): conservative slow start grows at a quarter of the pace.
const CSS_GROWTH: Gain = Gain::new(1, 4);

/// RFC 9406, section 4.3 (CSS_ROUNDS): rounds of conservative slow start, the one in which it begins included.
const CSS_ROUNDS: u8 = 5;

#[cfg(test)]
mod tests;

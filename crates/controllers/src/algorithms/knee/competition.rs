//! The window beside flows that fill the queue.

use super::KneeConfig;
use super::arithmetic::{float, larger};
use crate::algorithms::cubic::{Cubic, CubicConfig};
use crate::controller::Controller as _;
use crate::event::{CongestionEvent, RateSample};
use crate::loss_based::controller::LossBased;
use crate::registry::Registered as _;
use crate::units::{Bytes, Timestamp};

/// What an application has shown, and CUBIC while others fill the queue.
///
/// What an application delivers while it leaves the window unused, the path carries beside all others. So much may be in flight whatever the delay becomes, until
/// packets are lost or marked, or a drain finds that the queue was the flow's own.
///
/// A flow that keeps its queue short gives way to one that sends until packets are lost. Where two drains in a row found others' queue, and each time
/// packets had been lost of late, the window is at least CUBIC's, from what it is then, until a drain finds no queue or no losses. Flows of `knee` drain
/// together, so that their drains find none, and lose little.
#[derive(Debug, Clone, Default)]
pub(super) struct Competition {
    /// Drains in a row that found others' queue, and losses.
    drains: u32,
    pub(super) cubic: Option<LossBased<Cubic>>,
    /// The highest delivery rate while the application was the limit for a whole round trip, in bytes/s.
    shown: f64,
}

impl Competition {
    /// The window is at least this one, but in drains, in bytes. `least` is the least round-trip time of the last round, in seconds.
    pub(super) fn window(&self, least: f64) -> f64 {
        let shown = self.shown * least;
        match &self.cubic {
            Some(cubic) => larger(shown, float(cubic.control().window)),
            None => shown,
        }
    }

    /// Whether CUBIC has half of this window. If the path loses the packets, and no queue, CUBIC soon has less.
    pub(super) fn keeps_up(&self, window: Bytes) -> bool {
        self.cubic
            .as_ref()
            .is_some_and(|cubic| cubic.control().window * 2 >= window)
    }

    /// Packets were delivered, and the window was not full from when they left on. The last ones of a message count nowhere: they left while there was more
    /// to send, and show what the message took from others.
    pub(super) fn show(&mut self, sample: Option<&RateSample>) {
        if let Some(sample) = sample
            && sample.app_limited
        {
            self.shown = larger(self.shown, sample.delivery_rate.as_f64());
        }
    }

    /// The queue was the flow's own.
    pub(super) fn forget_shown(&mut self) {
        self.shown = 0.0;
    }

    /// Packets were lost or marked. What a flight has lost was not carried.
    pub(super) fn on_congestion(&mut self, event: &CongestionEvent) {
        if let Some(flight) = event.flight {
            let share = float(event.lost) / float(flight.in_flight.max(event.lost)).max(1.0);
            self.shown *= 1.0 - share;
        }
        if let Some(cubic) = &mut self.cubic {
            cubic.on_congestion(event);
        }
    }

    /// A mark bounds the window.
    pub(super) fn on_mark(&mut self, config: &KneeConfig) {
        self.shown *= config.bound_left;
    }

    /// A drain has ended; `window` is what the window is without it. Others have `filled` the queue if the drain found their queue, and packets were lost or
    /// marked of late.
    pub(super) fn on_drained(&mut self, filled: bool, window: Bytes, mtu: Bytes, now: Timestamp) {
        if !filled {
            self.drains = 0;
            self.cubic = None;
            return;
        }
        self.drains = self.drains.saturating_add(1);
        if self.drains >= DRAINS && self.cubic.is_none() {
            let cubic = Cubic::new(CubicConfig::default());
            let cubic = LossBased::avoiding(CubicConfig::NAME, cubic, mtu, now, window);
            self.cubic = Some(cubic);
        }
    }
}

/// One drain may find what another flow's start has left.
const DRAINS: u32 = 2;

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;
    use crate::driver::{MTU, at, congestion};
    use crate::event::{CongestionSignal, FlightSample};

    const HUNDRED: f64 = 100.0 * MTU.0 as f64;

    fn drain(competition: &mut Competition, filled: bool) -> f64 {
        competition.on_drained(filled, MTU * 100, MTU, at(1_000));
        competition.window(0.0)
    }

    #[test]
    fn it_begins_with_two_drains_and_ends_with_one() {
        let mut competition = Competition::default();
        for _ in 0..2 {
            assert_eq!(drain(&mut competition, true), 0.0);
            assert_eq!(drain(&mut competition, false), 0.0);
            assert_eq!(drain(&mut competition, true), 0.0);
            for _ in 0..3 {
                assert_eq!(drain(&mut competition, true), HUNDRED);
            }
            assert_eq!(drain(&mut competition, false), 0.0);
        }
    }

    #[test]
    fn where_the_path_loses_the_packets_cubic_does_not_keep_up() {
        let mut competition = Competition::default();
        assert!(!competition.keeps_up(Bytes::ZERO), "it has not begun");
        drain(&mut competition, true);
        drain(&mut competition, true);
        let mut lose = |now, sent| {
            competition.on_congestion(&congestion(now, sent, CongestionSignal::Loss));
            (competition.window(0.0), competition.keeps_up(MTU * 100))
        };
        // It left before CUBIC began.
        assert_eq!(lose(1_010, 990), (HUNDRED, true));
        assert_eq!(lose(1_100, 1_050), (0.7 * HUNDRED, true));
        assert_eq!(lose(1_200, 1_150), (0.49 * HUNDRED, false));
    }

    /// 100 packets in 50 ms were shown: with 80 ms the window is 160 packets.
    #[test]
    fn what_an_application_showed_is_in_flight_whatever_the_delay_becomes() {
        let mut competition = Competition::default();
        competition.show(None);
        let mut sample =
            RateSample::new(MTU * 100, Duration::from_millis(50)).expect("time passed");
        competition.show(Some(&sample));
        assert_eq!(competition.window(0.08), 0.0, "there was more to send");
        sample.app_limited = true;
        competition.show(Some(&sample));
        let mut less = RateSample::new(MTU * 10, Duration::from_millis(50)).expect("time passed");
        less.app_limited = true;
        competition.show(Some(&less));
        assert_eq!(competition.window(0.08), 1.6 * HUNDRED);
        // A drain that finds no queue ends CUBIC. What was shown is another matter.
        assert_eq!(drain(&mut competition, false), 0.0);
        assert_eq!(competition.window(0.08), 1.6 * HUNDRED);
        let config = KneeConfig::default();
        competition.on_mark(&config);
        assert_eq!(competition.window(0.08), config.bound_left * 1.6 * HUNDRED);
        competition.forget_shown();
        assert_eq!(competition.window(0.08), 0.0);
    }

    #[test]
    fn what_a_flight_lost_was_not_carried() {
        let mut competition = Competition::default();
        let mut sample =
            RateSample::new(MTU * 100, Duration::from_millis(50)).expect("time passed");
        sample.app_limited = true;
        competition.show(Some(&sample));
        let mut loss = congestion(1_100, 1_050, CongestionSignal::Loss);
        // Without the flight nothing is known.
        loss.flight = None;
        competition.on_congestion(&loss);
        assert_eq!(competition.window(0.05), HUNDRED);
        loss.lost = MTU * 5;
        loss.flight = Some(FlightSample {
            in_flight: MTU * 50,
            lost: MTU * 20,
            app_limited: true,
        });
        competition.on_congestion(&loss);
        assert_eq!(competition.window(0.05), 0.9 * HUNDRED);
        // More than was in flight is all of it.
        loss.lost = MTU * 60;
        competition.on_congestion(&loss);
        assert_eq!(competition.window(0.05), 0.0);
    }
}

//! The window beside flows that fill the queue.

use super::arithmetic::{float, larger, seconds_between, smaller};
use crate::algorithms::cubic::CubicConfig;
use crate::algorithms::cubic::curve::Curve;
use crate::event::CongestionEvent;
use crate::units::{Bytes, Timestamp};

/// Whether others fill the queue, and the window beside them.
///
/// A flow that keeps its queue short gives way to one that sends until packets are lost. Where two drains in a row found others' queue, and packets
/// are lost, the window is at least CUBIC's (RFC 9438), from what it was then, until a drain finds none. Flows of `knee` drain together, so
/// that their drains find none, and lose little.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Competition {
    /// Drains in a row that found others' queue.
    drains: u32,
    /// The round of the last loss or mark.
    congested: Option<u64>,
    /// No window is smaller than this one.
    pub(super) cubic: Option<Cubic>,
}

/// CUBIC's window, in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cubic {
    pub(super) window: f64,
    /// The window of a Reno flow with the same mean (section 4.3).
    reno: f64,
    /// The window before the last loss, or less (section 4.7).
    w_max: Bytes,
    curve: Curve,
    /// When the curve began, and the time in which the application was the limit since then (section 5.8).
    begun: Timestamp,
    /// The last acknowledgement.
    last: Timestamp,
    /// What left before belongs to the losses that began the curve.
    since: Timestamp,
}

impl Cubic {
    fn new(w_max: Bytes, window: f64, mtu: Bytes, now: Timestamp) -> Self {
        Self {
            window,
            reno: window,
            w_max,
            curve: Curve::new(CubicConfig::default().c, w_max, Bytes(window as u64), mtu),
            begun: now,
            last: now,
            since: now,
        }
    }

    /// The application was the limit.
    pub(super) fn rest(&mut self, now: Timestamp) {
        self.begun = self.begun + now.saturating_since(self.last);
        self.last = now;
    }

    /// So much was acknowledged with a full window, which grows by half of it at most (section 4.2).
    pub(super) fn on_ack(&mut self, acked: Bytes, mtu: Bytes, now: Timestamp) {
        let step = float(CubicConfig::default().alpha_cubic(mtu));
        let (acked, size) = (float(acked), larger(self.window, float(mtu)));
        self.reno += step * acked / size;
        let curve = float(self.curve.at(seconds_between(self.begun, now)));
        let target = larger(curve, self.reno);
        self.window = larger(self.window, smaller(target, self.window + 0.5 * acked));
        self.last = now;
    }

    fn on_congestion(&mut self, newest_sent: Timestamp, mtu: Bytes, now: Timestamp) {
        if newest_sent < self.since {
            return;
        }
        let config = CubicConfig::default();
        let window = Bytes(self.window as u64);
        let w_max = if window < self.w_max {
            config.fast_convergence_share() * window
        } else {
            window
        };
        *self = Self::new(w_max, config.beta_cubic.as_f64() * self.window, mtu, now);
    }
}

impl Competition {
    /// Whether others may fill the queue: a delay that stays in drains may be theirs.
    pub(super) fn is_lossy(&self, round: u64) -> bool {
        self.congested
            .is_some_and(|last| round < last.saturating_add(CONGESTED_ROUNDS))
    }

    /// Packets were lost or marked.
    pub(super) fn on_congestion(&mut self, event: &CongestionEvent, mtu: Bytes) {
        self.congested = Some(event.round);
        if let Some(cubic) = &mut self.cubic {
            cubic.on_congestion(event.newest_sent, mtu, event.now);
        }
    }

    /// A drain has ended in this round. The window was so large before it.
    pub(super) fn on_drained(
        &mut self,
        others_queue: bool,
        round: u64,
        window: Bytes,
        mtu: Bytes,
        now: Timestamp,
    ) {
        if !others_queue {
            self.drains = 0;
            self.cubic = None;
            return;
        }
        self.drains = self.drains.saturating_add(1);
        if self.drains >= DRAINS && self.is_lossy(round) && self.cubic.is_none() {
            self.cubic = Some(Cubic::new(window, float(window), mtu, now));
        }
    }
}

/// One drain may find what another flow's start has left.
const DRAINS: u32 = 2;

/// Others that fill the queue lose packets at least once in so many rounds. With 30 a flow beside CUBIC on 50 Mb/s has a tenth less of the link. With 200
/// flows of 200 ms starve those of 10 and 50 ms: docs/results/knee-company.md.
pub(super) const CONGESTED_ROUNDS: u64 = 100;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::{MTU, at, congestion};
    use crate::event::CongestionSignal;

    fn loss(round: u64, sent: u64, now: u64) -> CongestionEvent {
        CongestionEvent {
            round,
            ..congestion(now, sent, CongestionSignal::Loss)
        }
    }

    fn window(competition: &Competition) -> f64 {
        competition.cubic.map_or(0.0, |cubic| cubic.window)
    }

    fn grow(competition: &mut Competition, acked: Bytes, millis: u64) {
        let cubic = competition.cubic.as_mut().expect("it has begun");
        cubic.on_ack(acked, MTU, at(millis));
    }

    fn drain(competition: &mut Competition, others_queue: bool, round: u64, now: u64) -> f64 {
        competition.on_drained(others_queue, round, MTU * 100, MTU, at(now));
        window(competition)
    }

    #[test]
    fn two_drains_and_a_loss_of_late_begin_it() {
        let window = float(MTU * 100);
        let mut quiet = Competition::default();
        for round in 1..9 {
            // Company without losses.
            assert_eq!(drain(&mut quiet, true, round, round), 0.0);
        }
        let mut one = Competition::default();
        one.on_congestion(&loss(1, 0, 1), MTU);
        assert_eq!(drain(&mut one, true, 2, 2), 0.0);
        assert_eq!(drain(&mut one, false, 3, 3), 0.0);
        assert_eq!(drain(&mut one, true, 4, 4), 0.0, "not in a row");
        assert_eq!(drain(&mut one, true, 5, 5), window);
        assert_eq!(drain(&mut one, false, 6, 6), 0.0, "the others have left");
        let mut late = Competition::default();
        late.on_congestion(&loss(1, 0, 1), MTU);
        drain(&mut late, true, 2, 2);
        assert_eq!(drain(&mut late, true, 1 + CONGESTED_ROUNDS, 3), 0.0);
    }

    #[test]
    fn its_window_is_cubics() {
        let mut competition = Competition::default();
        competition.on_congestion(&loss(1, 0, 1), MTU);
        drain(&mut competition, true, 2, 2);
        let before = drain(&mut competition, true, 3, 1_000);
        competition.on_congestion(&loss(4, 1_500, 2_000), MTU);
        let cut = window(&competition);
        assert!((cut - 0.7 * before).abs() < 1.0);
        // The rest of that flight's losses.
        competition.on_congestion(&loss(5, 1_900, 2_010), MTU);
        assert_eq!(window(&competition), cut);
        // K = cbrt(30 / 0.4) = 4.2 s later it is what it was, and eight seconds after that 0.4 x 8^3 packets more.
        let mut growth: f64 = 0.0;
        for now in (2_000..14_220).step_by(10) {
            let last = window(&competition);
            grow(&mut competition, MTU * 2, now);
            growth = growth.max(window(&competition) - last);
            if now == 6_220 {
                assert!((window(&competition) - before).abs() < 0.02 * before);
            }
        }
        let expected = before + 0.4 * 512.0 * float(MTU);
        assert!((window(&competition) - expected).abs() < 0.02 * expected);
        assert!(growth <= float(MTU), "half of what is acknowledged");
    }

    #[test]
    fn a_pause_of_the_application_is_no_time_of_the_curve() {
        let mut competition = Competition::default();
        competition.on_congestion(&loss(1, 0, 1), MTU);
        drain(&mut competition, true, 2, 2);
        drain(&mut competition, true, 3, 1_000);
        grow(&mut competition, MTU, 1_500);
        let before = window(&competition);
        let cubic = competition.cubic.as_mut().expect("it has begun");
        cubic.rest(at(61_000));
        grow(&mut competition, MTU * 100, 61_100);
        assert!(window(&competition) < before + 2.0 * float(MTU));
    }

    #[test]
    fn a_small_window_grows_as_renos() {
        let mut competition = Competition::default();
        competition.on_congestion(&loss(1, 0, 1), MTU);
        for round in 2..4 {
            competition.on_drained(true, round, MTU * 10, MTU, at(10));
        }
        // A hundred rounds of 2 ms: the curve has hardly moved. alpha_cubic is 0.53.
        for round in 0..100 {
            let flight = Bytes(window(&competition) as u64);
            grow(&mut competition, flight, 10 + 2 * round);
        }
        let packets = window(&competition) / float(MTU);
        assert!((packets - 63.0).abs() < 1.0, "{packets}");
    }
}

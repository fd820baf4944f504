//! What losses and marks say about the window.

use super::KneeConfig;
use super::arithmetic::{float, larger, smaller};
use crate::event::{AckEvent, CongestionEvent};
use crate::units::{Bytes, Timestamp};

/// A bound of the window where packets are lost or marked because of it.
///
/// More loss than [`max_loss`](KneeConfig::max_loss) bounds the window below what was in flight, as BBRv3's inflight_longterm
/// (draft-ietf-ccwg-bbr, section 5.5.10). Then the loss is measured again. If it has gone, it came from the window: the bound is kept for some
/// rounds and raised slowly. If it has not, it is measured once more with half of the window. If that does not help either, the path loses
/// packets whatever the window is, and that much loss is tolerated.
///
/// A mark needs no measurement: a queue has made it (RFC 3168, section 5). The bound rises at once, by a packet a round at least, as Reno's window does.
/// Equal steps make the windows of flows that are marked together equal.
#[derive(Debug, Clone, Copy)]
pub(super) struct LossBound {
    phase: Phase,
    /// Loss that the path has by itself: a share.
    tolerated: f64,
    counted: Counted,
    /// Of small flights, since a flight was large enough to be judged by itself: one to two hundred packets.
    recent: Counted,
    /// Rounds up to this one lost too much: the link was full in them.
    lossy_until: Option<u64>,
    /// What left before belongs to losses that have been answered.
    answered: Timestamp,
    /// The phase before the last loss that was answered.
    before: Phase,
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    Unbounded,
    /// Bounded, and measuring whether that helps.
    Measuring {
        bounded: Bounded,
        from: u64,
        /// The share that was lost before.
        before: f64,
        test: Test,
        counted: Counted,
    },
    Holding {
        bounded: Bounded,
        until: u64,
    },
    Raising {
        bounded: Bounded,
    },
}

/// How small the window is while the loss is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Test {
    /// As small as the bound.
    Bound,
    /// Half of that: the bound alone has not helped.
    Half,
}

/// In bytes.
#[derive(Debug, Clone, Copy)]
struct Bounded {
    bound: f64,
    /// What was in flight when too much was lost, or a packet was marked; in slow start half of that, because it had doubled.
    lost_at: f64,
    /// The least by which the bound rises in a round.
    step: f64,
}

impl Bounded {
    /// A flight of so many bytes was too large.
    fn below(config: &KneeConfig, flight: f64, growing: bool) -> Self {
        Self {
            bound: config.bound_left * flight,
            lost_at: if growing { 0.5 * flight } else { flight },
            step: 0.0,
        }
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Counted {
    lost: Bytes,
    delivered: Bytes,
}

impl Counted {
    fn add(&mut self, ack: &AckEvent) {
        self.lost += ack.lost;
        self.delivered += ack.acked;
    }

    fn halve(&mut self) {
        self.lost = Bytes(self.lost.0 / 2);
        self.delivered = Bytes(self.delivered.0 / 2);
    }

    fn all(&self) -> Bytes {
        self.lost + self.delivered
    }

    fn share(&self) -> f64 {
        self.lost.0 as f64 / self.all().0.max(1) as f64
    }
}

impl Phase {
    /// Begins to measure in two rounds: what is acknowledged then left with the smaller window.
    fn measuring(bounded: Bounded, round: u64, before: f64, test: Test) -> Self {
        Self::Measuring {
            bounded,
            from: round.saturating_add(2),
            before,
            test,
            counted: Counted::default(),
        }
    }
}

impl LossBound {
    pub(super) fn new() -> Self {
        Self {
            phase: Phase::Unbounded,
            tolerated: 0.0,
            counted: Counted::default(),
            recent: Counted::default(),
            lossy_until: None,
            answered: Timestamp::ZERO,
            before: Phase::Unbounded,
        }
    }

    /// Packets that counted as lost have arrived, out of order. What was concluded from them is taken back, but not a bound that has
    /// ended losses.
    pub(super) fn on_spurious_loss(&mut self) {
        if matches!(self.phase, Phase::Measuring { .. }) {
            self.phase = self.before;
        }
        self.recent = Counted::default();
        self.counted = Counted::default();
        self.lossy_until = None;
    }

    /// No window may be larger, in bytes.
    pub(super) fn bytes(&self) -> f64 {
        match self.phase {
            Phase::Unbounded => f64::INFINITY,
            Phase::Measuring {
                bounded,
                test: Test::Half,
                ..
            } => 0.5 * bounded.bound,
            Phase::Measuring { bounded, .. }
            | Phase::Holding { bounded, .. }
            | Phase::Raising { bounded } => bounded.bound,
        }
    }

    /// Whether so much was lost that the link must have been full.
    pub(super) fn is_lossy(&self, round: u64) -> bool {
        self.lossy_until.is_some_and(|until| round <= until)
    }

    /// Takes an acknowledgement. `model` is the window without the bound, `room` what the path can queue of a flight that grows. Others who fill
    /// the queue make losses whatever this sender does: where the queue is theirs the bound is not held, and rises twice as fast.
    pub(super) fn on_ack(
        &mut self,
        config: &KneeConfig,
        ack: &AckEvent,
        model: impl Fn() -> f64,
        room: impl Fn() -> f64,
        mtu: Bytes,
        others_queue: bool,
    ) {
        let sample = mtu * SAMPLE;
        self.counted.add(ack);
        self.recent.delivered += ack.acked;
        if self.recent.all() > sample * 2 {
            self.recent.halve();
        }
        if self.counted.all() > sample * 2 {
            self.tolerated = self
                .tolerated
                .min(self.tolerated + (self.counted.share() - self.tolerated) * FORGETTING);
            self.counted.halve();
        }
        match &mut self.phase {
            Phase::Unbounded => {}
            Phase::Measuring {
                bounded,
                from,
                before,
                test,
                counted,
            } => {
                if ack.round >= *from {
                    counted.add(ack);
                }
                let sampled = ack.round >= *from + 2 && counted.all() > sample;
                if sampled || ack.round >= *from + MEASURED_ROUNDS {
                    self.phase = match *test {
                        _ if counted.share() <= 0.5 * *before => Phase::Holding {
                            bounded: *bounded,
                            until: ack.round.saturating_add(HOLD_ROUNDS),
                        },
                        Test::Bound => Phase::measuring(*bounded, ack.round, *before, Test::Half),
                        Test::Half => {
                            self.tolerated = counted.share().min(MAX_TOLERATED);
                            Phase::Unbounded
                        }
                    };
                }
            }
            Phase::Holding { bounded, until } => {
                if ack.round >= *until || others_queue {
                    self.phase = Phase::Raising { bounded: *bounded };
                }
            }
            Phase::Raising { bounded } => {
                if ack.round_start {
                    let growth = if bounded.bound > NEW_GROUND * bounded.lost_at {
                        let queued = smaller(1.0 + room() / bounded.bound, NEW_GROUND);
                        larger(queued, 1.0 + config.bound_growth)
                    } else if others_queue {
                        1.0 + 2.0 * config.bound_growth
                    } else {
                        1.0 + config.bound_growth
                    };
                    bounded.bound = larger(bounded.bound * growth, bounded.bound + bounded.step);
                    if bounded.bound > 2.0 * model() {
                        self.phase = Phase::Unbounded;
                    }
                }
            }
        }
    }

    /// A packet was marked. Of a flight's marks the first counts. A flight that the application limited does not show the window, and one that a drain
    /// had made small counts as `window`.
    pub(super) fn on_mark(
        &mut self,
        config: &KneeConfig,
        event: &CongestionEvent,
        mtu: Bytes,
        window: Bytes,
        growing: bool,
    ) {
        let measuring = matches!(self.phase, Phase::Measuring { .. });
        let flight = event.flight.filter(|flight| !flight.app_limited);
        if let Some(flight) = flight
            && event.newest_sent >= self.answered
            && !measuring
        {
            self.answered = event.now;
            let marked_at = flight.in_flight.max(window);
            let bounded = Bounded::below(config, float(marked_at), growing);
            self.phase = Phase::Raising {
                bounded: Bounded {
                    bound: smaller(bounded.bound, self.bytes()),
                    step: float(mtu),
                    ..bounded
                },
            };
        }
    }

    /// Packets were lost. Returns whether they show that the window was too large: what is being measured or was answered does not do so
    /// again. A flight that a drain had made small counts as `window` at least. While `growing` the window doubles in each round: a window
    /// that is too large loses many, and few are chance.
    pub(super) fn on_loss(
        &mut self,
        config: &KneeConfig,
        event: &CongestionEvent,
        mtu: Bytes,
        window: Bytes,
        growing: bool,
    ) -> bool {
        let Some(flight) = event.flight else {
            return false;
        };
        let packet = mtu.0.max(1) as f64;
        let lost = flight.lost.0 as f64 / packet;
        let sent = flight.in_flight.0 as f64 / packet;
        let usual = config.max_loss + self.tolerated;
        let most = |share: f64, packets: f64| {
            let expected = share * packets;
            let deviations = if growing {
                GROWING_DEVIATIONS
            } else {
                DEVIATIONS
            };
            expected + deviations * expected.sqrt()
        };
        let too_many = if lost > FEW || most(usual, sent) > FEW {
            self.recent = Counted::default();
            lost > most(usual, sent).max(FEW)
        } else {
            // In so small a flight one or two lost packets are chance. They are not if the flights before lost as many.
            self.recent.lost += event.lost;
            let packets = |bytes: Bytes| bytes.0 as f64 / packet;
            self.recent.all() > mtu * SAMPLE
                && packets(self.recent.lost) > most(usual, packets(self.recent.all()))
        };
        if !too_many {
            return false;
        }
        self.lossy_until = Some(event.round.saturating_add(1));
        // A flight that the application limited does not show the window (draft-ietf-ccwg-bbr, section 5.5.10.2).
        if flight.app_limited {
            return true;
        }
        let measuring = matches!(self.phase, Phase::Measuring { .. });
        if event.newest_sent < self.answered || measuring {
            return false;
        }
        let lost_at = flight.in_flight.max(window).0 as f64;
        self.answered = event.now;
        self.recent = Counted::default();
        let mut bounded = Bounded::below(config, lost_at, growing);
        bounded.bound = bounded.bound.min(self.bytes());
        // Of few packets the flight's share is chance, of a first loss the average's.
        let before = (lost / sent.max(1.0))
            .min(self.counted.share())
            .max(config.max_loss);
        self.before = self.phase;
        self.phase = Phase::measuring(bounded, event.round, before, Test::Bound);
        true
    }
}

/// So many standard deviations of a Poisson distribution are chance: about one flight in 44.
const DEVIATIONS: f64 = 2.0;

/// About one flight in 740. Slow start judges few flights, but what it takes for a full link bounds the window for long.
const GROWING_DEVIATIONS: f64 = 3.0;

/// In packets. So few lost ones say nothing about the window.
const FEW: f64 = 2.0;

/// In packets: fewer say little about a loss of some per cent.
const SAMPLE: u64 = 100;

/// In rounds, from the loss on. BBRv3 waits for two to three seconds, or for 62 rounds (draft-ietf-ccwg-bbr, section 5.3.3.1).
const HOLD_ROUNDS: u64 = 12;

/// In rounds: so long a loss is measured at most.
const MEASURED_ROUNDS: u64 = 10;

/// A path that loses more is congested, whatever the window is.
const MAX_TOLERATED: f64 = 0.1;

/// How far above the flight that lost packets the bound may be taken for obsolete, and how fast it grows then in each round at most.
const NEW_GROUND: f64 = 1.25;

/// How fast the tolerated loss falls to the loss that is seen, per sample.
const FORGETTING: f64 = 0.25;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{CongestionSignal, FlightSample};

    const MTU: Bytes = Bytes(1200);

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_nanos(millis * 1_000_000)
    }

    fn loss(now: u64, round: u64, lost_packets: u64) -> CongestionEvent {
        CongestionEvent {
            now: at(now),
            signal: CongestionSignal::Loss,
            newest_sent: at(now),
            lost: MTU * lost_packets,
            lost_packets,
            flight: Some(FlightSample {
                in_flight: MTU * 100,
                lost: MTU * lost_packets,
                app_limited: false,
            }),
            delivered: Bytes::ZERO,
            in_flight: MTU * 90,
            round,
        }
    }

    fn lose(bound: &mut LossBound, event: &CongestionEvent, growing: bool) -> bool {
        bound.on_loss(&KneeConfig::default(), event, MTU, Bytes::ZERO, growing)
    }

    fn marked(now: u64, packets: u64) -> CongestionEvent {
        let mut event = loss(now, 1, 0);
        event.signal = CongestionSignal::EcnMark;
        event.flight.as_mut().expect("it is known").in_flight = MTU * packets;
        event
    }

    /// Windows of two flows that are marked together come closer.
    #[test]
    fn marks_bound_the_window_and_make_shares_equal() {
        let config = KneeConfig::default();
        let mut flows = [(LossBound::new(), 120), (LossBound::new(), 40)];
        for turn in 1..=40 {
            for (flow, packets) in &mut flows {
                flow.on_mark(
                    &config,
                    &marked(100 * turn, *packets),
                    MTU,
                    Bytes::ZERO,
                    false,
                );
                // What left before the first mark has been answered.
                let bound = flow.bytes();
                let mut late = marked(100 * turn + 10, *packets / 2);
                late.newest_sent = at(100 * turn - 1);
                flow.on_mark(&config, &late, MTU, Bytes::ZERO, false);
                assert_eq!(flow.bytes(), bound);
                assert_eq!(bound, 0.85 * (MTU * *packets).0 as f64);
                rounds(flow, 20 * turn..20 * turn + 5, 0);
                *packets = (flow.bytes() / MTU.0 as f64) as u64;
            }
        }
        let ratio = flows[0].0.bytes() / flows[1].0.bytes();
        assert!(ratio < 1.3, "{ratio}");
    }

    #[test]
    fn a_mark_in_a_drain_is_one_of_the_window() {
        let mut bound = LossBound::new();
        bound.on_mark(
            &KneeConfig::default(),
            &marked(40, 10),
            MTU,
            MTU * 100,
            false,
        );
        assert_eq!(bound.bytes(), 0.85 * (MTU * 100).0 as f64);
    }

    /// Rounds of 100 packets, of which so many are lost.
    fn rounds(bound: &mut LossBound, rounds: core::ops::Range<u64>, lost: u64) {
        rounds_beside(bound, rounds, lost, false);
    }

    fn rounds_beside(
        bound: &mut LossBound,
        rounds: core::ops::Range<u64>,
        lost: u64,
        others_queue: bool,
    ) {
        for round in rounds {
            take(bound, round, 100 - lost, lost, f64::INFINITY, others_queue);
        }
    }

    /// A round with so many packets, on a path that has room for so many bytes.
    fn take(
        bound: &mut LossBound,
        round: u64,
        acked: u64,
        lost: u64,
        room: f64,
        others_queue: bool,
    ) {
        let ack = AckEvent {
            round,
            round_start: true,
            acked: MTU * acked,
            lost: MTU * lost,
            ..AckEvent::nothing_yet(at(round * 40))
        };
        let config = KneeConfig::default();
        bound.on_ack(&config, &ack, || 400_000.0, || room, MTU, others_queue);
    }

    /// Fault: a growth of more than a quarter, which is valid, was a lower limit above the upper one, and a panic.
    #[test]
    fn a_growth_of_more_than_a_quarter_is_its_own_limit() {
        let config = KneeConfig {
            bound_growth: 1.0,
            ..KneeConfig::default()
        };
        assert_eq!(crate::ControllerConfig::validate(&config), Ok(()));
        let mut bound = LossBound::new();
        assert!(lose(&mut bound, &loss(40, 1, 10), false));
        let mut most: f64 = 1.0;
        for round in 2..40 {
            let ack = AckEvent {
                round,
                acked: MTU * 100,
                round_start: true,
                ..AckEvent::nothing_yet(at(round * 40))
            };
            let before = bound.bytes();
            bound.on_ack(&config, &ack, || 400_000.0, || 0.0, MTU, false);
            if bound.bytes().is_finite() {
                most = most.max(bound.bytes() / before);
            }
        }
        assert_eq!(most, 2.0);
    }

    /// Fault: a bound far above the flight that had lost packets rose by a quarter a round. A buffer of eight packets had no place for that, and lost
    /// packets again.
    #[test]
    fn a_bound_rises_by_what_the_path_has_room_for() {
        let risen = |room: f64| {
            let mut bound = LossBound::new();
            assert!(lose(&mut bound, &loss(40, 1, 10), true));
            let mut most: f64 = 1.0;
            for round in 2..120 {
                let before = bound.bytes();
                take(&mut bound, round, 100, 0, room, false);
                if bound.bytes().is_finite() {
                    most = most.max(bound.bytes() / before);
                }
            }
            most
        };
        assert!((risen(f64::INFINITY) - 1.25).abs() < 1e-9);
        // Eight packets of 85 that were not lost.
        assert!(risen(9_600.0) < 1.095, "{}", risen(9_600.0));
        assert!((risen(0.0) - 1.0 - 1.0 / 64.0).abs() < 1e-9);
    }

    /// Fault: beside a flow that fills ten bandwidth-delay products the bound was held for 12 rounds of 0.4 s, and rose by 4 % a second.
    #[test]
    fn in_the_queue_of_others_the_bound_rises_sooner_and_faster() {
        let bounded = |others_queue| {
            let mut bound = LossBound::new();
            assert!(lose(&mut bound, &loss(40, 1, 10), false));
            let at_loss = bound.bytes();
            rounds_beside(&mut bound, 2..20, 0, others_queue);
            bound.bytes() / at_loss
        };
        assert!(bounded(false) < 1.07, "{}", bounded(false));
        assert!(bounded(true) > 1.3, "{}", bounded(true));
    }

    /// Fault: a flow that lost some of its first packets to another's slow start was bounded to 12 packets of a path that holds 466, and
    /// the bound rose by a 64th a round.
    #[test]
    fn a_bound_of_startup_rises_by_a_quarter_once_it_is_not_held() {
        let risen = |growing| {
            let mut bound = LossBound::new();
            assert!(lose(&mut bound, &loss(40, 1, 10), growing));
            let at_loss = bound.bytes();
            rounds(&mut bound, 2..20, 0);
            bound.bytes() / at_loss
        };
        assert!(risen(false) < 1.1, "{}", risen(false));
        assert!(risen(true) > 1.2, "{}", risen(true));
    }

    #[test]
    fn a_few_losses_are_chance() {
        let mut bound = LossBound::new();
        assert!(!lose(&mut bound, &loss(40, 1, 4), false));
        assert_eq!(bound.bytes(), f64::INFINITY);
    }

    /// Two of ten packets are chance once, and not for ten flights in a row.
    #[test]
    fn the_losses_of_small_flights_add_up() {
        let mut bound = LossBound::new();
        for round in 1..30 {
            take(&mut bound, round, 8, 2, f64::INFINITY, false);
            let mut event = loss(round * 40, round, 2);
            event.flight = event.flight.map(|flight| FlightSample {
                in_flight: MTU * 10,
                ..flight
            });
            let bounds = lose(&mut bound, &event, false);
            assert!(!bounds || round > 8, "{round}");
            if bounds {
                assert_eq!(bound.bytes(), 0.85 * 12_000.0);
                return;
            }
        }
        panic!("never bounded");
    }

    /// What the application has in flight is not the window.
    #[test]
    fn losses_of_an_application_limited_flight_do_not_bound_the_window() {
        let mut bound = LossBound::new();
        let mut event = loss(40, 1, 10);
        event.flight = event.flight.map(|flight| FlightSample {
            app_limited: true,
            ..flight
        });
        assert!(lose(&mut bound, &event, false));
        assert_eq!(bound.bytes(), f64::INFINITY);
        assert!(bound.is_lossy(2));
    }

    #[test]
    fn a_spurious_loss_leaves_no_bound() {
        let mut bound = LossBound::new();
        assert!(lose(&mut bound, &loss(40, 1, 10), false));
        assert!(bound.bytes().is_finite() && bound.is_lossy(1));
        bound.on_spurious_loss();
        assert_eq!(bound.bytes(), f64::INFINITY);
        assert!(!bound.is_lossy(1));
        // A bound that has ended losses is not taken back for another one that was none.
        assert!(lose(&mut bound, &loss(80, 2, 10), false));
        rounds(&mut bound, 3..16, 0);
        assert!(!lose(&mut bound, &loss(640, 16, 1), false));
        bound.on_spurious_loss();
        assert!(bound.bytes().is_finite());
    }

    /// The window's own losses stop once it is bounded: it stays bounded, and comes back slowly.
    #[test]
    fn losses_of_the_window_bound_it() {
        let mut bound = LossBound::new();
        assert!(lose(&mut bound, &loss(40, 1, 10), false));
        assert!(bound.is_lossy(2) && !bound.is_lossy(3));
        let at_loss = bound.bytes();
        // What is lost while the bound is measured does not move it, but says that the link is still full.
        assert!(!lose(&mut bound, &loss(120, 3, 20), false));
        assert_eq!(bound.bytes(), at_loss);
        assert!(bound.is_lossy(4));
        assert!((at_loss - 0.85 * 120_000.0).abs() < 1.0);
        rounds(&mut bound, 2..16, 0);
        assert_eq!(bound.bytes(), at_loss, "held");
        rounds(&mut bound, 16..24, 0);
        assert!(bound.bytes() > at_loss && bound.bytes() < 1.15 * at_loss);
        rounds(&mut bound, 24..100, 0);
        assert_eq!(bound.bytes(), f64::INFINITY, "forgotten");
    }

    /// Loss that a smaller window does not stop is the path's.
    #[test]
    fn the_paths_own_loss_is_tolerated() {
        let mut bound = LossBound::new();
        rounds(&mut bound, 0..3, 8);
        assert!(lose(&mut bound, &loss(160, 3, 10), false));
        let at_loss = bound.bytes();
        rounds(&mut bound, 4..8, 8);
        assert_eq!(bound.bytes(), 0.5 * at_loss, "measured with half of it");
        rounds(&mut bound, 8..13, 8);
        assert_eq!(bound.bytes(), f64::INFINITY);
        assert!(!lose(&mut bound, &loss(600, 14, 10), false));
        // More than that is the window's again.
        assert!(lose(&mut bound, &loss(640, 15, 30), false));
        // Without loss the tolerance goes.
        rounds(&mut bound, 16..200, 0);
        assert!(lose(&mut bound, &loss(8000, 200, 10), false));
    }
}

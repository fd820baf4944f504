use crate::units::Gain;

use super::*;

const MTU: Bytes = Bytes(1200);
/// With the millisecond of the hosts it is 40.
const MIN_RTT: Duration = Duration::from_millis(39);

const HEADROOM: QueueTarget = QueueTarget {
    idle: Gain::new(1, 20),
    min: Gain::new(1, 10),
    max: Gain::new(1, 1),
};

/// A link of one packet per millisecond.
const RATE: f64 = 1_200_000.0;

struct Fixture {
    busy_rate: BusyRateEstimator,
    now: Duration,
}

impl Fixture {
    fn new() -> Self {
        let mut fixture = Self {
            busy_rate: BusyRateEstimator::new(HEADROOM),
            now: Duration::ZERO,
        };
        fixture.ack(0, 0);
        fixture
    }

    /// A packet acknowledged so many milliseconds after the one before, and kept waiting for so many.
    fn ack(&mut self, gap: u64, waited: u64) {
        self.acked(gap, waited, true);
    }

    fn acked(&mut self, gap: u64, waited: u64, window_limited: bool) {
        self.now += Duration::from_millis(gap);
        self.busy_rate.on_ack(&Acked {
            now: Timestamp::from_origin(self.now),
            bytes: MTU,
            rtt: MIN_RTT + Duration::from_millis(waited),
            min_rtt: MIN_RTT,
            window_limited,
        });
    }

    fn acks(&mut self, count: usize, gap: u64, waited: u64) {
        for _ in 0..count {
            self.ack(gap, waited);
        }
    }

    /// Expected and spare, in shares of the link's rate.
    fn rate_estimate(&self) -> (f64, f64) {
        let rate_estimate = self
            .busy_rate
            .rate_estimate(MTU)
            .expect("two acknowledgements");
        (
            rate_estimate.rate.as_f64() / RATE,
            rate_estimate.queue_target.as_f64() / RATE,
        )
    }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 0.02
}

#[test]
fn nothing_is_known_before_the_second_acknowledgement() {
    let mut fixture = Fixture::new();
    assert_eq!(fixture.busy_rate.rate_estimate(MTU), None);
    fixture.ack(1, 10);
    assert!(fixture.busy_rate.rate_estimate(MTU).is_some());
}

#[test]
fn with_a_queue_the_rate_is_the_links() {
    let mut fixture = Fixture::new();
    fixture.acks(1000, 1, 10);
    assert!(close(fixture.rate_estimate().0, 1.0));
    // A fall to a fifth is known, for the most part, within half a round trip.
    fixture.acks(4, 5, 20);
    let (rate, _) = fixture.rate_estimate();
    assert!(rate < 0.7, "{rate}");
    fixture.acks(2000, 5, 20);
    assert!(close(fixture.rate_estimate().0, 0.2));
}

/// Trap: what is acknowledged while the link runs empty is the sender's own rate, and following it stays there.
#[test]
fn an_idle_link_shows_its_own_rate() {
    let mut fixture = Fixture::new();
    fixture.acks(2000, 3, 1);
    let (rate, _) = fixture.rate_estimate();
    assert!((0.8..=1.0).contains(&rate), "{rate}");
}

#[test]
fn a_short_wait_is_no_evidence_of_any_rate() {
    let mut fixture = Fixture::new();
    fixture.acks(2000, 10, 0);
    let (rate, _) = fixture.rate_estimate();
    assert!(rate <= 0.1 / MIN_BUSY + 0.01, "{rate}");
}

#[test]
fn headroom_grows_on_an_idle_link_and_shrinks_on_a_busy_one() {
    let mut fixture = Fixture::new();
    fixture.acks(10_000, 3, 1);
    assert_eq!(fixture.busy_rate.queue_ratio, 1.0);
    fixture.acks(100_000, 1, 2);
    assert_eq!(fixture.busy_rate.queue_ratio, SHARED_MIN * 0.1);
}

#[test]
fn headroom_is_held_where_the_link_is_idle_as_long_as_it_may_be() {
    let mut fixture = Fixture::new();
    let before = fixture.busy_rate.queue_ratio;
    for _ in 0..100 {
        // 19 ms of 20 with a queue.
        fixture.acks(19, 1, 2);
        // Nothing for a millisecond, but for what counts as jitter.
        fixture.ack(1, 0);
    }
    let jitter = JITTER * 40.0;
    let drift = ADAPTATION * 0.1 * (jitter + MIN_BUSY);
    assert!((fixture.busy_rate.queue_ratio - before).abs() <= drift);
}

/// Trap: with other flows on the link, the time between two acknowledgements of this one is not idle.
#[test]
fn a_queue_of_others_is_no_idle_link() {
    let mut fixture = Fixture::new();
    for _ in 0..1000 {
        // A burst, and then the others'.
        fixture.acks(9, 1, 15);
        fixture.ack(20, 15);
    }
    assert_eq!(fixture.busy_rate.queue_ratio, SHARED_MIN * 0.1);
}

#[test]
fn the_queue_target_is_below_the_rate_in_a_fall() {
    let mut fixture = Fixture::new();
    fixture.acks(4000, 3, 1);
    fixture.acks(10, 20, 100);
    let (rate, queue_target) = fixture.rate_estimate();
    assert!(queue_target < 0.2, "{rate} {queue_target}");
}

#[test]
fn an_application_that_sends_less_shows_nothing() {
    let mut fixture = Fixture::new();
    fixture.acks(2000, 1, 10);
    let before = (fixture.rate_estimate(), fixture.busy_rate.queue_ratio);
    for _ in 0..100 {
        fixture.acked(100, 0, false);
    }
    assert_eq!(
        (fixture.rate_estimate(), fixture.busy_rate.queue_ratio),
        before
    );
}

/// Trap: a link that closes a hundred times a minute is taken for one that is as slow as the mean of its closed and its open times.
#[test]
fn a_closed_link_is_neither_slow_nor_idle() {
    let mut fixture = Fixture::new();
    fixture.acks(2000, 1, 10);
    let before = fixture.busy_rate.queue_ratio;
    for _ in 0..20 {
        fixture.ack(800, 800);
        fixture.acks(150, 1, 10);
    }
    let (rate, _) = fixture.rate_estimate();
    assert!(rate > 0.85, "{rate}");
    assert!(fixture.busy_rate.queue_ratio <= before);
}

/// Trap: each ProbeRTT leaves the link idle, and with long RTTs the queue target would never shrink.
#[test]
fn idleness_after_the_senders_own_silence_is_no_reason_for_headroom() {
    let mut fixture = Fixture::new();
    fixture.acks(2000, 1, 10);
    let before = fixture.busy_rate.queue_ratio;
    fixture.acked(1, 0, false);
    // Two round trips.
    fixture.acks(8, 10, 0);
    assert_eq!(fixture.busy_rate.queue_ratio, before);
    fixture.acks(8, 10, 0);
    assert!(fixture.busy_rate.queue_ratio > before);
}

/// Trap: on a link that others keep busy, the initial queue target of a new flow is a large share of the link.
#[test]
fn headroom_shrinks_the_faster_the_longer_the_link_is_busy() {
    let mut fixture = Fixture::new();
    fixture.busy_rate.queue_ratio = 1.0;
    // Per second and normal speed.
    let mut after = |round_trips: usize| {
        let before = fixture.busy_rate.queue_ratio;
        fixture.acks(40 * round_trips, 1, 15);
        let shrunk = before - fixture.busy_rate.queue_ratio;
        shrunk / (0.04 * round_trips as f64) / (ADAPTATION * fixture.busy_rate.idle)
    };
    // The first acknowledgement begins a silence's two round trips.
    let speeds = [2, 24, 2, 8, 35, 1].map(&mut after);
    assert!((speeds[1] - 1.0).abs() < 1e-6, "{speeds:?}");
    assert!((speeds[3] - DECAY_FACTOR).abs() < 1e-6, "{speeds:?}");
    // Twice 35 round trips.
    assert!((speeds[5] / DECAY_FACTOR - 4.0).abs() < 0.2, "{speeds:?}");
}

/// Trap: flows that leave shares of their rates to the queue stay as unequal as they are.
#[test]
fn on_a_shared_link_headroom_is_rather_equal_than_a_share() {
    let mut fixture = Fixture::new();
    let (min, round_trip) = (fixture.busy_rate.min, 40);
    let packets = |fixture: &Fixture| {
        let (_, queue_target) = fixture.rate_estimate();
        let queue_ratio = fixture.busy_rate.queue_ratio;
        (queue_ratio, queue_target - queue_ratio)
    };
    fixture.busy_rate.queue_ratio = min;
    fixture.acks(34 * round_trip, 1, 15);
    let (queue_ratio, alone) = packets(&fixture);
    assert_eq!(queue_ratio, min);
    fixture.acks(200 * round_trip, 1, 15);
    let (queue_ratio, shared) = packets(&fixture);
    assert_eq!(queue_ratio, SHARED_MIN * min);
    assert!(
        (shared / alone - SHARED_PACKETS / EQUAL_PACKETS).abs() < 1e-3,
        "{alone} {shared}"
    );
    // One idle moment, and it is its own again.
    fixture.ack(40, 0);
    fixture.acks(4, 1, 15);
    let (queue_ratio, alone_again) = packets(&fixture);
    assert!(queue_ratio >= min, "{queue_ratio}");
    assert!(alone_again < 1.1 * alone, "{alone} {alone_again}");
}

/// Trap: flows on a shared link return to it after a common ProbeRTT, and the first one finds the whole link free.
#[test]
fn an_emptied_links_rate_is_no_flows_share() {
    let refill = |busy_round_trips: usize| {
        let mut fixture = Fixture::new();
        // Every fourth packet of the link is this flow's.
        fixture.acks(10 * busy_round_trips, 4, 15);
        let (before, _) = fixture.rate_estimate();
        fixture.acked(200, 0, false);
        fixture.acks(70, 1, 0);
        fixture.rate_estimate().0 / before
    };
    let (own, shared) = (refill(30), refill(70));
    assert!(own > 3.0, "{own}");
    assert!(close(shared, 1.0), "{shared}");
}

/// Trap: on a link that others keep busy, the order of packets within a quarter of an RTT is random.
#[test]
fn on_a_shared_link_the_fast_average_has_less_weight() {
    let burst = |busy_round_trips: usize| {
        let mut fixture = Fixture::new();
        fixture.acks(10 * busy_round_trips, 4, 15);
        let (before, _) = fixture.rate_estimate();
        fixture.acks(10, 1, 15);
        fixture.rate_estimate().0 - before
    };
    let (own, shared) = (burst(30), burst(70));
    assert!(shared > 0.0 && shared < 0.7 * own, "{shared} {own}");
}

#[test]
fn a_round_trip_of_no_length_is_not_divided_by() {
    let mut busy_rate = BusyRateEstimator::new(HEADROOM);
    for micros in [0, 0, 1, 1, 2] {
        busy_rate.on_ack(&Acked {
            now: Timestamp::from_origin(Duration::from_micros(micros)),
            bytes: MTU,
            rtt: Duration::ZERO,
            min_rtt: Duration::ZERO,
            window_limited: true,
        });
    }
    let rate_estimate = busy_rate.rate_estimate(MTU).expect("time has passed");
    assert!(rate_estimate.rate > Bandwidth::ZERO);
}

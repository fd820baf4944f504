use super::*;
use crate::driver::MTU;
use crate::units::Timestamp;

const BASE: Duration = Duration::from_millis(50);
const QUEUE: Bytes = Bytes(40_000);

fn round(rtt: Duration, flight: Bytes) -> AckEvent {
    AckEvent {
        prior_in_flight: flight,
        round: 1,
        round_start: true,
        ..AckEvent::new(Timestamp::from_origin(rtt), rtt, MTU, flight)
    }
}

/// Round after round with the queue that two flows leave, and so the round-trip times.
fn shares(pipes_millis: [u64; 2]) -> [f64; 2] {
    const BYTES_PER_MILLI: f64 = 6_000.0;
    let mut flows = [TargetQueue::default(); 2];
    let mut windows = [Bytes(500_000), Bytes(30_000)];
    let (mut rates, mut waited) = ([0.0; 2], 0.0);
    for _ in 0..600 {
        let carried = |wait: f64| -> f64 {
            let rate = |(window, pipe): (&Bytes, &u64)| window.0 as f64 / (*pipe as f64 + wait);
            windows.iter().zip(&pipes_millis).map(rate).sum()
        };
        let mut wait = 0.0;
        while carried(wait) > BYTES_PER_MILLI {
            wait += 0.01;
        }
        for (index, flow) in flows.iter_mut().enumerate() {
            let pipe = Duration::from_millis(pipes_millis[index]);
            // Of packets that left a round ago.
            let rtt = pipe + Duration::from_secs_f64(waited / 1e3);
            let event = round(rtt, windows[index]);
            flow.on_ack(&event, pipe, QUEUE);
            rates[index] = windows[index].0 as f64 / (pipes_millis[index] as f64 + wait);
            windows[index] = flow.window().unwrap_or(windows[index]);
        }
        waited = wait;
    }
    rates
}

#[test]
fn rates_become_equal_whatever_the_round_trip_times() {
    for pipes in [[50, 50], [50, 200], [200, 50], [50, 500]] {
        let [one, other] = shares(pipes);
        assert!((one / other - 1.0).abs() < 0.05, "{pipes:?}: {one} {other}");
    }
}

#[test]
fn a_round_is_judged_by_the_flight_it_was_sent_with() {
    let mut queue = TargetQueue::default();
    assert_eq!(
        queue.on_ack(&round(BASE, Bytes(100_000)), BASE, QUEUE),
        None
    );
    assert_eq!(
        queue.on_ack(&round(BASE, Bytes(200_000)), BASE, QUEUE),
        None
    );
    assert_eq!(queue.window(), None);
    // 100 kB were in flight when these packets left, and they took no longer than they must.
    let waited = queue.on_ack(&round(2 * BASE, Bytes(300_000)), BASE, QUEUE);
    assert_eq!(waited, Some(Bytes::ZERO));
    assert_eq!(queue.window(), Some(Bytes(140_000)));
    // 200 kB made the round trips twice as long: half of it waited.
    let waited = queue.on_ack(&round(2 * BASE, Bytes(140_000)), BASE, QUEUE);
    assert_eq!(waited, Some(Bytes(100_000)));
    assert_eq!(queue.window(), Some(Bytes(140_000)));
}

#[test]
fn a_pause_leaves_the_window_and_forgets_the_rounds() {
    let mut queue = TargetQueue::default();
    queue.begin(Bytes(70_000));
    for _ in 0..2 {
        queue.on_ack(&round(2 * BASE, Bytes(100_000)), BASE, QUEUE);
    }
    queue.pause();
    assert_eq!(queue.window(), Some(Bytes(70_000)));
    for _ in 0..2 {
        assert_eq!(queue.on_ack(&round(2 * BASE, Bytes(1)), BASE, QUEUE), None);
    }
    assert_eq!(queue.window(), Some(Bytes(70_000)));
}

use core::iter;
use core::time::Duration;

use super::*;
use crate::units::Bytes;

const CONFIG: fn() -> KneeConfig = KneeConfig::default;

fn at(millis: u64) -> Timestamp {
    Timestamp::from_nanos(millis * 1_000_000)
}

/// One acknowledgement for each round: `flights` are what is in flight, in bytes.
fn rounds(
    path: &mut PathRtt,
    rtt: Duration,
    window_limited: bool,
    flights: impl Iterator<Item = u64>,
) {
    for (round, flight) in flights.enumerate() {
        let ack = AckEvent {
            acked: Bytes(2400),
            prior_in_flight: Bytes(flight),
            round_start: true,
            ..AckEvent::nothing_yet(at(1000 + 100 * round as u64)).with_rtt(rtt)
        };
        path.on_ack(&CONFIG(), &ack, 0.0, true, window_limited, false);
    }
}

fn is_due(path: &PathRtt, now: Timestamp) -> bool {
    path.drain_is_due(now, path.smoothed)
}

/// A path of 100 ms that two drains have shown.
fn known() -> PathRtt {
    let mut path = PathRtt::new(&CONFIG(), Timestamp::ZERO);
    let least = Duration::from_millis(100);
    rounds(&mut path, least, true, iter::once(50_000));
    path.take_min_as_base();
    for _ in 0..2 {
        path.end_drain(&CONFIG(), at(0), &found(0.12, 0.1), false);
    }
    path
}

fn found(before: f64, least: f64) -> Drained {
    Drained {
        before,
        full: true,
        least,
        level: least,
    }
}

/// Fault: a round trip of no time was the lowest since the last drain, which none could show again, so that the path was never seen for long.
#[test]
fn a_clock_that_stands_still_does_not_call_for_drains() {
    let mut path = known();
    for rtt in [0, 100, 100] {
        rounds(
            &mut path,
            Duration::from_millis(rtt),
            true,
            iter::once(50_000),
        );
    }
    assert_eq!((path.low, path.last_round.min), (0.1, 0.1));
}

/// Fault: what the application left out of the flight counted as an answer to a queue, and the flow drained while the application paused.
#[test]
fn a_delay_that_stays_while_the_window_falls_is_looked_into() {
    for (rtt, window_limited, due) in [
        (110, true, true),
        (110, false, false),
        // No longer than it was.
        (101, true, false),
    ] {
        let mut path = known();
        let falling = (0..30).map(|round| 50_000 - 400 * round);
        rounds(
            &mut path,
            Duration::from_millis(rtt),
            window_limited,
            falling,
        );
        assert_eq!(is_due(&path, at(3100)), due, "{rtt} ms, {window_limited}");
    }
}

/// The [`known`] path after a plateau of 110 ms, for which a drain has begun.
fn drained_for_a_plateau() -> PathRtt {
    let mut path = known();
    let falling = (0..10).map(|round| 50_000 - 2000 * round);
    rounds(&mut path, Duration::from_millis(110), true, falling);
    path.begin_drain();
    path
}

/// Fault: a flow among ten took 113 ms of others' queue for a path, drained, found 79 ms, and kept the mean of both as its base.
#[test]
fn a_plateau_that_the_drain_does_not_find_again_was_a_queue() {
    let mut queue = drained_for_a_plateau();
    queue.end_drain(&CONFIG(), at(1100), &found(0.11, 0.1), false);
    assert_eq!(queue.base(), 0.1);
    let mut longer = drained_for_a_plateau();
    let length = longer.end_drain(&CONFIG(), at(1100), &found(0.11, 0.11), false);
    assert_eq!((longer.min(), longer.base()), (0.11, 0.11));
    assert_eq!(length, Length::Longer);
}

/// Trap: where others' bursts fill the link in turn, the drain finds another delay than the plateau that called for it. Without another one at once a queue
/// of 100 ms and more is the base for seconds, and twice as much is lost.
#[test]
fn a_plateau_that_the_drain_finds_longer_is_looked_into_again() {
    let due_after = |least: f64| {
        let mut path = drained_for_a_plateau();
        path.end_drain(&CONFIG(), at(1100), &found(0.2, least), false);
        is_due(&path, at(1100))
    };
    assert!(due_after(0.15));
    assert!(!due_after(0.1));
}

/// Fault: the flow gave way to whoever filled the queue until its next drain, for a hundred round trips.
#[test]
fn a_queue_that_equals_do_not_make_is_looked_into() {
    // 30 ms are three packets of 10 ms each.
    for (rtt, equal, rounds_of_it, due) in [
        (125, 0.0, 14, true),
        (125, 0.0, 8, false),
        (125, 0.03, 14, false),
        (110, 0.0, 14, false),
    ] {
        let mut path = known();
        path.set_link(equal / 3.0, false);
        let flights = iter::repeat_n(50_000, rounds_of_it);
        rounds(&mut path, Duration::from_millis(rtt), true, flights);
        let now = at(100 * rounds_of_it as u64);
        assert_eq!(is_due(&path, now), due, "{rtt} ms, {equal}, {rounds_of_it}");
    }
}

/// Fault: one of ten flows found the path without the others' queue, then that queue twice within a second, and took it for a path of 100 ms.
#[test]
fn a_path_that_was_just_seen_shorter_is_not_longer() {
    let looks_again = |path: &mut PathRtt, rtt: f64| {
        path.end_drain(&CONFIG(), at(1000), &found(rtt, rtt), false);
        is_due(path, at(1000))
    };
    let mut path = known();
    assert!(looks_again(&mut path, 0.15));
    let mut shorter = known();
    let least = Duration::from_millis(40);
    rounds(&mut shorter, least, true, iter::once(50_000));
    // What is left of a flight for the longer path is looked for at once.
    assert!(looks_again(&mut shorter, 0.04));
    assert!(!looks_again(&mut shorter, 0.1));
}

/// Fault: a path became longer by more from drain to drain than drains agree within. All of that counted as queue, and the rate fell with it.
#[test]
fn a_delay_that_rises_from_drain_to_drain_is_the_paths() {
    let min_after = |drained: fn(f64) -> Drained| {
        let mut path = known();
        for least in [0.12, 0.14] {
            path.end_drain(&CONFIG(), at(1000), &drained(least), false);
        }
        path.min()
    };
    assert_eq!(min_after(|least| found(1.01 * least, least)), 0.12);
    // Half of the flight shortens a queue, however fast others fill it.
    assert_eq!(min_after(|least| found(1.1 * least, least)), 0.1);
    // The flight of an application that sends little does not fall.
    let not_full = |least| Drained {
        full: false,
        ..found(1.01 * least, least)
    };
    assert_eq!(min_after(not_full), 0.1);
    // A delay that varies in the drain is a queue, or noise.
    let varies = |least| Drained {
        level: 1.2 * least,
        ..found(1.01 * least, least)
    };
    assert_eq!(min_after(varies), 0.1);
}

/// Others fill what a second drain leaves.
#[test]
fn a_delay_that_stays_once_beside_others_calls_for_no_drain() {
    let due_after = |drains: &[(f64, f64)]| {
        let mut path = known();
        for (before, least) in drains {
            path.end_drain(&CONFIG(), at(1000), &found(*before, *least), false);
        }
        is_due(&path, at(1000))
    };
    assert!(due_after(&[(0.121, 0.12)]));
    assert!(!due_after(&[(0.3, 0.15), (0.161, 0.16)]));
    assert!(due_after(&[(0.3, 0.15), (0.161, 0.16), (0.171, 0.17)]));
}

/// Fault: a path was longer for some seconds, then as short as before, and a queue took the place of what had gone: every packet showed the minimum,
/// so that no drain came for a minute.
#[test]
fn a_minimum_that_rose_is_looked_at_again() {
    let mut path = known();
    for least in [0.12, 0.14, 0.12] {
        path.end_drain(&CONFIG(), at(1000), &found(1.01 * least, least), false);
    }
    assert_eq!(path.min(), 0.12);
    let due_after = |path: &mut PathRtt, from: u64| {
        let seen = |path: &mut PathRtt, now: u64| {
            let ack = AckEvent::nothing_yet(at(now)).with_rtt(Duration::from_millis(120));
            path.on_ack(&CONFIG(), &ack, 0.0, true, true, false);
            is_due(path, at(now))
        };
        (from..from + 60_000)
            .step_by(500)
            .find(|now| seen(path, *now))
    };
    let due = due_after(&mut path, 1000).expect("it is looked at");
    assert!((12_000..15_000).contains(&due), "{due}");
    path.end_drain(&CONFIG(), at(due), &found(0.121, 0.12), false);
    // It was found again. From here on any packet may show it.
    assert_eq!(due_after(&mut path, due), None);
}

/// Fault: persistent congestion ends a drain, and the next one took its plateau for its own.
#[test]
fn a_plateau_belongs_to_one_drain() {
    let mut path = drained_for_a_plateau();
    let least = Duration::from_millis(100);
    rounds(&mut path, least, true, iter::once(50_000));
    path.begin_drain();
    path.end_drain(&CONFIG(), at(1200), &found(0.11, 0.11), false);
    assert_eq!(path.min(), 0.1);
}

/// A round is over when the next one begins: two of them show what it was like.
#[test]
fn packets_show_whether_there_is_a_queue() {
    for (rtt, queue, none) in [
        (100, Queue::None, true),
        (103, Queue::None, false),
        (120, Queue::None, false),
        (130, Queue::Stands, false),
    ] {
        let mut path = known();
        rounds(
            &mut path,
            Duration::from_millis(rtt),
            true,
            iter::repeat_n(50_000, 2),
        );
        assert_eq!(
            (path.queue(), path.found_no_queue()),
            (queue, none),
            "{rtt} ms"
        );
    }
    let mut filling = known();
    for rtt in [120, 130] {
        rounds(
            &mut filling,
            Duration::from_millis(rtt),
            true,
            iter::once(50_000),
        );
    }
    assert_eq!(filling.queue(), Queue::Found);
    // With noise a mean says nothing.
    let mut noisy = known();
    for _ in 0..2 {
        noisy.end_drain(
            &CONFIG(),
            at(0),
            &Drained {
                level: 0.13,
                ..found(0.15, 0.1)
            },
            false,
        );
    }
    rounds(
        &mut noisy,
        Duration::from_millis(120),
        true,
        iter::repeat_n(50_000, 2),
    );
    assert!(!noisy.found_no_queue());
}

/// Others' queue that two drains agree on is not told from a path: B is the mean of both, and the smaller one if they differ.
#[test]
fn the_base_is_what_two_drains_agree_on() {
    let mut path = known();
    for (mean, base) in [(0.16, 0.1), (0.17, 0.165), (0.25, 0.17), (0.24, 0.245)] {
        path.end_drain(
            &CONFIG(),
            at(0),
            &Drained {
                level: mean,
                ..found(0.3, mean - 0.01)
            },
            false,
        );
        assert!((path.base() - base).abs() < 1e-9, "{}", path.base());
    }
    assert!(path.others_queue());
}

/// Fault: where a packet takes a tenth of the round trip, a drain's pair of packets was others' queue. A path of 10 ms that then became one of 600
/// called for no second drain, and 17 % of it were used.
#[test]
fn a_packets_time_is_no_queue_of_others() {
    let mut path = known();
    path.set_link(0.012, false);
    path.end_drain(&CONFIG(), at(5000), &found(0.14, 0.121), false);
    assert!(!path.others_queue());
    path.end_drain(&CONFIG(), at(10_000), &found(0.125, 0.6), false);
    assert!(is_due(&path, at(10_001)));
    // More than that is one.
    let mut path = known();
    path.set_link(0.012, false);
    path.end_drain(&CONFIG(), at(5000), &found(0.14, 0.123), false);
    assert!(path.others_queue());
}

/// A base above the minimum may be others' queue, which a shallow drain would leave standing.
#[test]
fn a_path_varies_if_startup_saw_it_and_no_drain_finds_others() {
    let varies = |startup: f64, drains: &[Drained]| {
        let mut path = PathRtt::new(&CONFIG(), Timestamp::ZERO);
        let least = Duration::from_millis(100);
        rounds(&mut path, least, true, iter::once(50_000));
        path.take_min_as_base();
        path.take_base(startup);
        for drained in drains {
            path.end_drain(&CONFIG(), at(1000), drained, false);
        }
        path.varies()
    };
    let noise = Drained {
        level: 0.14,
        ..found(0.16, 0.1)
    };
    assert!(varies(0.14, &[]) && varies(0.14, &[noise, noise]));
    assert!(!varies(0.105, &[]) && !varies(0.105, &[noise, noise]));
    let others = found(0.2, 0.15);
    assert!(!varies(0.14, &[noise, others]));
    let quiet = found(0.12, 0.1);
    assert!(!varies(0.14, &[quiet, quiet]));
}

/// Fault: on a path that varies a round of one or two acknowledgements showed the minimum by chance, and was the base from then on: every packet seemed
/// to wait.
#[test]
fn a_round_of_few_acknowledgements_is_no_base() {
    let base_after = |acknowledgements: usize| {
        let mut path = known();
        path.take_base(0.12);
        // The last one begins the next round.
        for number in 0..=acknowledgements {
            let ack = AckEvent {
                round_start: number % acknowledgements == 0,
                ..AckEvent::nothing_yet(at(1000 + 10 * number as u64))
                    .with_rtt(Duration::from_millis(101))
            };
            path.on_ack(&CONFIG(), &ack, 0.0, true, true, false);
        }
        path.base()
    };
    assert_eq!(base_after(2), 0.12);
    assert!((base_after(4) - 0.101).abs() < 1e-9);
}

/// Fault: a packet that waited for less than the time between acknowledgements found the link busy with the one before it, and that one's time counted as
/// idle.
#[test]
fn a_packet_that_waited_found_the_link_busy_with_another() {
    let mut path = known();
    path.set_link(0.006, false);
    let waits = |newest, oldest, packets| {
        let (wait, before) = path.waits(0.1 + newest, 0.1 + oldest, packets);
        ((wait * 1e6).round(), (before * 1e6).round())
    };
    assert_eq!(waits(0.01, 0.03, 2), (10e3, 16e3));
    assert_eq!(waits(0.01, 0.012, 2), (10e3, 12e3));
    assert_eq!(waits(0.002, 0.03, 2), (2e3, 4e3));
    // The second packet of two waited for nothing, and the first one for it.
    assert_eq!(waits(0.0, 0.03, 2), (0.0, 0.0));
    assert_eq!(waits(0.01, 0.01, 1), (10e3, 10e3));
    // A lump was in the link for all of its oldest packet's wait.
    assert_eq!(waits(0.0, 0.03, 3), (0.0, 30e3));
}

/// Rounds of four acknowledgements each.
fn full_rounds(path: &mut PathRtt, rtts: impl Iterator<Item = u64>) {
    for (round, rtt) in rtts.enumerate() {
        for number in 0..4 {
            let ack = AckEvent {
                round_start: number == 0,
                ..AckEvent::nothing_yet(at(1000 + 100 * round as u64))
                    .with_rtt(Duration::from_millis(rtt))
            };
            path.on_ack(&CONFIG(), &ack, 0.0, true, true, false);
        }
    }
}

/// Fault: any round that showed the least delay made it the base, and a delay that comes back to it in turn was a queue from then on.
#[test]
fn the_base_of_a_path_that_swings_stays() {
    let mut path = known();
    let swing = |path: &mut PathRtt, rounds: usize| {
        full_rounds(path, [200, 200, 200, 100].into_iter().cycle().take(rounds));
    };
    swing(&mut path, 17);
    let base = path.base();
    assert!((0.19..0.2).contains(&base), "{base}");
    // What drains look for is the minimum, and what is tried waits in a queue that says nothing.
    assert!((path.measured_base() - 0.1).abs() < 1e-9);
    assert!(!path.drain_is_due(at(600_000), 0.1));
    swing(&mut path, 20);
    assert_eq!(path.base(), base);
    assert!(path.drain_is_due(at(600_000), 0.1));
    // A drain that finds the minimum is one of its phases.
    path.end_drain(&CONFIG(), at(9000), &found(0.12, 0.1), false);
    assert_eq!(path.base(), base);
    // It no longer swings.
    path.end_drain(&CONFIG(), at(18_000), &found(0.12, 0.1), false);
    assert!(path.base() < 0.13, "{}", path.base());
    assert_eq!(path.base(), path.measured_base());
}

/// Fault: on a slow link a few packets in flight showed the low of a longer path now and then, which was no longer than the low of the drain before it by a
/// tenth: no drain came. 1 Mb/s over a path of 20 ms that became 100 ms were used to 48 %.
#[test]
fn a_low_above_the_base_is_none() {
    for (millis, due) in [(105, false), (140, true)] {
        let mut path = known();
        // Three packets of 20 ms are more than the queue that stands.
        path.set_link(0.02, false);
        // One drain found it, and one does not raise the minimum.
        path.end_drain(
            &CONFIG(),
            at(900),
            &found(0.16, 0.001 * millis as f64),
            false,
        );
        full_rounds(&mut path, iter::repeat_n(millis, 120));
        // A path of noise is one that drains find longer.
        assert!(!path.is_noisy());
        assert_eq!(
            path.drain_is_due(at(12_900), 0.001 * millis as f64),
            due,
            "{millis}"
        );
    }
}

/// Fault: beside CUBIC two drains agreed within 3 %, and its queue was taken for the path. The third one found no queue of others.
#[test]
fn while_others_fill_the_queue_a_delay_that_stays_is_theirs() {
    for competing in [true, false] {
        let mut path = known();
        for second in 1..5 {
            let found = found(0.2, 0.15);
            path.end_drain(&CONFIG(), at(5_000 * second), &found, competing);
        }
        assert_eq!(path.others_queue(), competing);
        assert!((path.min() - if competing { 0.1 } else { 0.15 }).abs() < 1e-9);
        // What is in flight covers it all the same.
        assert!((path.base() - 0.15).abs() < 1e-9);
    }
}

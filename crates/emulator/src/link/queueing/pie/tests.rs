use proptest::prelude::*;

use super::*;
use crate::link::tests::arriving;
use crate::link::{Limit, MAHIMAHI_PIE_UPDATE};
use crate::packet::Ecn;

const fn ms(millis: u64) -> Nanos {
    Nanos::from_millis(millis)
}

/// A queue of ten packets with a given drop probability, past its burst allowance.
fn at(probability: f64, pie: Pie) -> PieQueue {
    let mut queue = PieQueue::new(pie, 1);
    for _ in 0..10 {
        queue.fifo.push(arriving(1500, Nanos::ZERO));
    }
    queue.sojourn = ms(100);
    queue.controller = Controller {
        probability,
        old_delay: ms(100),
        burst_allowance: Nanos::ZERO,
    };
    queue
}

#[test]
fn the_probability_is_updated_as_in_the_rfc() {
    // RFC 8033, section 4.2: alpha (delay - 15 ms) + beta (delay - old delay), in seconds, by the table.
    for (old_probability, old_delay, delay, expected) in [
        (0.0, 15, 35, (0.0025 + 0.025) / 2048.0),
        (0.000_000_9, 35, 35, 0.000_000_9 + 0.0025 / 2048.0),
        (0.000_001, 35, 35, 0.000_001 + 0.0025 / 512.0),
        (0.000_01, 35, 35, 0.000_01 + 0.0025 / 128.0),
        (0.000_1, 35, 35, 0.000_1 + 0.0025 / 32.0),
        (0.001, 35, 35, 0.001 + 0.0025 / 8.0),
        (0.01, 35, 35, 0.01 + 0.0025 / 2.0),
        (0.1, 35, 35, 0.1 + 0.0025),
        (0.5, 35, 15, 0.5 - 0.025),
        (0.5, 10, 10, 0.5 - 0.000_625),
        (0.5, 5, 0, 0.5 - 0.001_875 - 0.006_25),
        // An idle queue decays; bounds are kept.
        (0.5, 0, 0, (0.5 - 0.001_875) * 0.98),
        (0.000_000_1, 0, 0, 0.0),
        (0.999, 515, 515, 1.0),
    ] {
        let mut controller = Controller {
            probability: old_probability,
            old_delay: ms(old_delay),
            burst_allowance: ms(20),
        };
        controller.update(&Pie::default(), ms(delay));
        let new = controller.probability;
        assert!(
            (new - expected).abs() < 1e-12,
            "{old_probability}, {old_delay}, {delay}: {new}"
        );
        assert_eq!(controller.old_delay, ms(delay));
        assert_eq!(controller.burst_allowance, ms(5));
    }
}

#[test]
fn updates_happen_at_multiples_of_the_interval() {
    for (update, updates) in [(Pie::default().update, 66), (MAHIMAHI_PIE_UPDATE, 33)] {
        let mut queue = at(
            0.2,
            Pie {
                update,
                ..Pie::default()
            },
        );
        queue.update(Nanos(ms(1000).0 - 1));
        let expected = 0.2 + f64::from(updates) * 0.125 * 0.085;
        assert!((queue.controller.probability - expected).abs() < 1e-9);
        assert_eq!(queue.next_update, Nanos(update.0 * (updates as u64 + 1)));
    }
}

#[test]
fn a_burst_passes_and_calm_restores_the_allowance() {
    let (mut queue, mut stats) = (at(1.0, Pie::default()), LinkStats::new(false));
    queue.controller.burst_allowance = ms(150);
    for millis in [0, 50, 149] {
        assert!(
            queue
                .enqueue(arriving(1500, ms(millis)), &mut stats)
                .is_ok()
        );
    }
    let dropped = queue.enqueue(arriving(1500, ms(150)), &mut stats);
    assert_eq!(dropped, Err(DropCause::Aqm));

    let mut calm = PieQueue::new(Pie::default(), 1);
    calm.update(ms(1000));
    assert_eq!(calm.controller.burst_allowance, Nanos::ZERO);
    assert!(calm.enqueue(arriving(1500, ms(1000)), &mut stats).is_ok());
    assert_eq!(calm.controller.burst_allowance, ms(150));
}

#[test]
fn the_work_is_conserved() {
    let pie = Pie::default();
    let mut short = PieQueue::new(pie, 1);
    short.controller = at(1.0, pie).controller;
    short.fifo.push(arriving(2048, Nanos::ZERO));
    assert!(!short.strikes());
    short.fifo.push(arriving(1, Nanos::ZERO));
    assert!(short.strikes());
    for (probability, old_delay, may_strike) in [(0.19, 7, false), (0.19, 8, true), (0.2, 7, true)]
    {
        let mut queue = at(probability, pie);
        queue.controller.old_delay = ms(old_delay);
        assert_eq!((0..200).any(|_| queue.strikes()), may_strike);
    }
}

#[test]
fn drops_are_as_frequent_as_the_probability_and_evenly_apart_if_asked_for() {
    for derandomized in [false, true] {
        let pie = Pie {
            derandomized,
            ..Pie::default()
        };
        let mut queue = at(0.125, pie);
        let places: Vec<usize> = (0..50_000).filter(|_| queue.strikes()).collect();
        let distances = places.windows(2).map(|pair| pair[1] - pair[0]);
        let (min, max) = (distances.clone().min().unwrap(), distances.max().unwrap());
        if derandomized {
            assert_eq!(min, 7);
            assert!(max <= 68);
        } else {
            let share = places.len() as f64 / 50_000.0;
            assert!((share - 0.125).abs() < 0.005, "{share}");
            assert_eq!(min, 1);
        }
    }
}

#[test]
fn a_rare_drop_becomes_a_mark() {
    for (probability, ecn, codepoint, marks) in [
        (0.099, true, Some(Ecn::Ect0), true),
        (0.1, true, Some(Ecn::Ect0), false),
        (0.099, false, Some(Ecn::Ect0), false),
        (0.099, true, None, false),
    ] {
        let pie = Pie {
            ecn,
            limit: Some(Limit::packets(2_000)),
            ..Pie::default()
        };
        let (mut queue, mut stats) = (at(probability, pie), LinkStats::new(false));
        for _ in 0..1_000 {
            let mut queued = arriving(1500, Nanos::ZERO);
            queued.packet.ecn = codepoint;
            let _ = queue.enqueue(queued, &mut stats);
        }
        assert_eq!(stats.statistics.marked.packets > 50, marks);
        assert_eq!(queue.count().packets == 1_010, marks);
    }
}

#[test]
fn the_end_of_time_is_reached_at_once() {
    for pie in [
        Pie::default(),
        Pie {
            alpha: 0.0,
            beta: 0.0,
            ..Pie::default()
        },
        Pie {
            alpha: 1e-300,
            ..Pie::default()
        },
    ] {
        at(0.3, pie).update(Nanos::MAX);
        let mut empty = PieQueue::new(pie, 1);
        empty.controller.probability = 1.0;
        empty.update(Nanos::MAX);
        assert_eq!(empty.controller.probability, 0.0);
    }
}

proptest! {
    #[test]
    fn made_up_updates_are_those_made_in_time(
        probability in 0.0..1.0,
        delay in 0..100_u64,
        empty: bool,
        end in 0..20_000_u64,
    ) {
        let queue = || {
            let mut queue = at(probability, Pie::default());
            queue.sojourn = ms(delay);
            if empty {
                queue.fifo = Fifo::default();
            }
            queue
        };
        let (mut once, mut often) = (queue(), queue());
        once.update(ms(end));
        for millis in 0..=end {
            often.update(ms(millis));
        }
        prop_assert_eq!(once.controller, often.controller);
        prop_assert_eq!(once.next_update, often.next_update);
        prop_assert!(once.next_update > ms(end));
    }
}

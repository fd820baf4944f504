use proptest::prelude::*;

use super::*;

const MIN: f64 = 0.04;

/// Rounds of a delay that is 80 ms above the minimum in two of three rounds.
fn rounds(swings: &mut Swings, count: u32) {
    for round in 0..count {
        let high = round % 3 != 2;
        let least = if high { MIN + 0.08 } else { MIN };
        swings.on_round(least, least + 0.001, MIN, !high);
    }
}

fn mean_excess() -> f64 {
    0.08 * 2.0 / 3.0 + 0.001
}

/// What stays in looks is the path's, with its spread.
#[test]
fn a_delay_that_stays_in_looks_is_the_paths() {
    let mut swings = Swings::NONE;
    for look in 0..8 {
        assert_eq!(swings.path_excess().is_some(), look > 3, "{look}");
        rounds(&mut swings, 9);
        assert!(swings.look_is_due());
        swings.on_look(mean_excess());
        assert!(!swings.look_is_due());
    }
    let found = swings.path_excess().expect("it swings");
    assert!((found - SPREAD * mean_excess()).abs() < 1e-9, "{found}");
    // What is longer in a look is chance.
    rounds(&mut swings, 9);
    swings.on_look(1.0);
    let later = swings.path_excess().expect("it still does");
    assert!((later - found).abs() < 1e-9, "{later}");
}

/// A queue of its own falls by half or more. Looks at it become rare.
#[test]
fn a_queue_of_its_own_is_no_swing() {
    let mut swings = Swings::NONE;
    for look in 0..5 {
        rounds(&mut swings, 8 << look);
        assert!(swings.look_is_due(), "{look}");
        swings.on_look(0.4 * mean_excess());
        assert_eq!(swings.path_excess(), None);
    }
    // A look at which it stays makes them less rare, by half.
    rounds(&mut swings, 8 << 5);
    swings.on_look(mean_excess());
    rounds(&mut swings, (8 << 4) - 1);
    assert!(!swings.look_is_due());
    rounds(&mut swings, 1);
    assert!(swings.look_is_due());
}

/// Others' queue stands between drains, and goes in drains.
#[test]
fn a_delay_that_comes_back_in_drains_only_is_no_swing() {
    let mut swings = Swings::NONE;
    for _ in 0..100 {
        for _ in 0..10 {
            swings.on_round(MIN + 0.08, MIN + 0.08, MIN, false);
        }
        swings.on_drained();
        swings.on_round(MIN, MIN, MIN, true);
        assert!(!swings.look_is_due());
    }
}

/// Fault: in company others' drains showed the minimum now and then, each hundred rounds.
#[test]
fn a_delay_that_seldom_comes_back_is_no_swing() {
    for (every, due) in [(20, true), (70, false)] {
        let mut swings = Swings::NONE;
        let looked = (0..400).any(|round| {
            let least = if round % every == 0 { MIN } else { MIN + 0.08 };
            swings.on_round(least, least, MIN, least == MIN);
            swings.look_is_due()
        });
        assert_eq!(looked, due, "{every}");
    }
}

/// Fault: a quiet minute counted in the mean, so that swings after it were never looked at.
#[test]
fn swings_that_begin_late_are_looked_at() {
    for quiet in [0, 10, 1000, 100_000] {
        let mut swings = Swings::NONE;
        for _ in 0..quiet {
            swings.on_round(MIN, MIN, MIN, true);
        }
        let looked = (0..FORGOTTEN_AFTER / 3 + 4).any(|_| {
            rounds(&mut swings, 3);
            swings.look_is_due()
        });
        assert!(looked, "{quiet}");
    }
}

/// What leaves the minimum by little is noise. Fault: on a path of 5 ms the pauses of phones were looked at.
#[test]
fn small_swings_are_not_looked_at() {
    for (min, longer, due) in [
        (0.1, 0.045, false),
        (0.1, 0.105, true),
        (0.005, 0.02, false),
        (0.005, 0.055, true),
    ] {
        let mut swings = Swings::NONE;
        for round in 0..100 {
            let least = min + if round % 2 == 0 { longer } else { 0.0 };
            swings.on_round(least, least, min, least == min);
        }
        assert_eq!(swings.look_is_due(), due, "{min} and {longer} s");
    }
}

/// Where the delay no longer comes back nothing is looked at, and what looks have found is old.
#[test]
fn what_looks_found_is_forgotten() {
    let mut swings = Swings::NONE;
    for _ in 0..8 {
        rounds(&mut swings, 9);
        swings.on_look(mean_excess());
    }
    for round in 0..=FORGOTTEN_AFTER {
        assert!(swings.path_excess().is_some(), "{round}");
        swings.on_round(MIN, MIN, MIN, true);
    }
    assert_eq!(swings.path_excess(), None);
}

proptest! {
    /// Whatever comes, a path's delay is no longer than the longest mean that was seen, with its spread.
    #[test]
    fn the_delay_is_in_the_range_of_rounds(
        events in prop::collection::vec((0.04..1.0f64, 0.0..1.0f64, any::<bool>(), -1.0..2.0f64), 1..200),
    ) {
        let mut swings = Swings::NONE;
        for (least, beyond, look, excess) in events {
            let shows = least < 1.03 * MIN;
            swings.on_round(least, least + beyond, MIN, shows);
            if look {
                swings.on_look(excess);
            }
            let found = swings.path_excess().unwrap_or(0.0);
            prop_assert!((0.0..=SPREAD * 2.0).contains(&found), "{found}");
        }
    }
}

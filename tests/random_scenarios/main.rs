//! Random networks under random controllers: every simulation reaches its end, and whoever has a path makes progress.

#![allow(clippy::unwrap_used, reason = "this is test code")]

mod held_back;
mod run;
mod scenario;
mod strategy;

use std::cell::Cell;
use std::time::Duration;

use proptest::test_runner::{Config, RngSeed, TestRunner};

/// Runs so many scenarios of that length each.
fn all_end(cases: u32, seed: u64, duration: Duration) {
    let mut runner = TestRunner::new(Config {
        cases,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        max_shrink_iters: 60,
        ..Config::default()
    });
    let checked = Cell::new(0);
    let result = runner.run(&strategy::scenarios(duration), |scenario| {
        checked.set(checked.get() + run::check(&scenario)?);
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    // Most flows of most scenarios have a path for long enough.
    assert!(checked.get() > 10 * cases, "{}", checked.get());
}

#[test]
fn forty_random_scenarios_end() {
    all_end(40, 1, Duration::from_secs(30));
}

/// Found by the next test: a flow of which both ends wait for a probe timeout.
#[test]
fn a_flow_with_both_windows_full_is_no_stall() {
    let scenario = held_back::scenario();
    assert!(run::check(&scenario).unwrap() > 0);
}

/// `cargo test --release --test random_scenarios -- --ignored`
#[test]
#[ignore = "takes minutes"]
fn a_thousand_random_scenarios_end() {
    all_end(1000, 2, Duration::from_secs(60));
}

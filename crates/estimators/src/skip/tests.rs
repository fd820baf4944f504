use super::*;
use crate::atkf::tests::{configs, samples};
use proptest::prelude::*;

const RATE: f64 = 1e6;

fn settled(config: SkipConfig) -> Skip {
    let mut skip = Skip::new(&config, RATE).unwrap();
    for _ in 0..100 {
        assert_eq!(
            skip.sample(CapacitySample::new(RATE, 1.25 * RATE)),
            Ok(SkipMode::Normal)
        );
    }
    skip
}

fn feed(skip: &mut Skip, rate: f64) -> SkipMode {
    skip.sample(CapacitySample::uncensored(rate)).unwrap()
}

#[test]
fn a_passing_drop_is_ignored_and_a_lasting_one_resets() {
    for config in [SkipConfig::paper(), SkipConfig::tuned()] {
        let mut skip = settled(config);
        assert_eq!(feed(&mut skip, 0.4e6), SkipMode::Drop);
        assert_eq!(feed(&mut skip, 0.4e6), SkipMode::Drop);
        assert_eq!((skip.mean(), skip.drop_count()), (RATE, 2));
        feed(&mut skip, RATE);
        assert_eq!((skip.mean(), skip.drop_count()), (RATE, 0));
    }
    let mut skip = settled(SkipConfig::paper());
    feed(&mut skip, 0.3e6);
    feed(&mut skip, 0.4e6);
    assert_eq!(feed(&mut skip, 0.5e6), SkipMode::DropReset);
    assert!((skip.mean() - 0.4e6).abs() < 1e-6);
}

#[test]
fn a_lasting_step_resets_after_the_update() {
    let mut skip = settled(SkipConfig::paper());
    assert_eq!(feed(&mut skip, 2e6), SkipMode::Step);
    assert!(skip.mean() > RATE && skip.step_count() == 1);
    assert_eq!(feed(&mut skip, 3e6), SkipMode::Step);
    assert_eq!(feed(&mut skip, 4e6), SkipMode::StepReset);
    assert!((skip.mean() - 3e6).abs() < 1e-6);
}

#[test]
fn an_outage_falls_to_the_minimum() {
    let mut skip = settled(SkipConfig::tuned());
    for expected in [
        SkipMode::OutageWait,
        SkipMode::OutageWait,
        SkipMode::OutageReset,
    ] {
        assert_eq!(skip.sample(CapacitySample::outage()), Ok(expected));
    }
    assert_eq!(
        (skip.mean(), skip.outage_count(), skip.drop_count()),
        (50_000.0, 0, 0)
    );
}

#[test]
fn a_censored_sample_ends_every_run() {
    let mut skip = settled(SkipConfig::paper());
    feed(&mut skip, 0.0);
    feed(&mut skip, 0.0);
    assert_eq!((skip.outage_count(), skip.drop_count()), (2, 2));
    assert_eq!(
        skip.sample(CapacitySample::new(0.75e6, 0.75e6)),
        Ok(SkipMode::Censored)
    );
    assert_eq!(
        (
            skip.outage_count(),
            skip.drop_count(),
            skip.censored_count()
        ),
        (0, 0, 1)
    );
}

#[test]
fn only_the_tuned_preset_asks_for_another_probe() {
    for (config, wants) in [(SkipConfig::paper(), false), (SkipConfig::tuned(), true)] {
        let mut skip = settled(config);
        assert!(!skip.wants_probe());
        skip.sample(CapacitySample::new(1.25e6, 1.25e6)).unwrap();
        assert_eq!(skip.wants_probe(), wants);
        feed(&mut skip, 1.1e6);
        assert!(!skip.wants_probe());
    }
}

#[test]
fn a_reset_can_widen_the_belief() {
    let variance = |psi_reset| {
        let mut skip = settled(SkipConfig {
            psi_reset,
            ..SkipConfig::paper()
        });
        for _ in 0..3 {
            feed(&mut skip, 0.5e6);
        }
        skip.variance() / skip.measurement_noise()
    };
    assert!(variance(false) < variance(true) && variance(true) >= 1.0 / 3.0);
}

#[test]
fn odd_samples_leave_no_trace() {
    let mut skip = settled(SkipConfig::tuned());
    feed(&mut skip, 0.3e6);
    let before = std::format!("{skip:?}");
    assert_eq!(
        skip.sample(CapacitySample::new(-1.0, 1.0)),
        Err(SampleError::Rate(-1.0))
    );
    assert!(skip.sample(CapacitySample::new(1.0, f64::NAN)).is_err());
    assert!(
        skip.sample(CapacitySample::uncensored(f64::INFINITY))
            .is_err()
    );
    assert_eq!(std::format!("{skip:?}"), before);
}

#[test]
fn an_infinite_sending_rate_is_never_censored() {
    let mut skip = settled(SkipConfig::tuned());
    assert_eq!(feed(&mut skip, RATE), SkipMode::Normal);
    assert_eq!(
        skip.sample(CapacitySample::new(RATE, RATE)),
        Ok(SkipMode::Censored)
    );
}

/// Round trips until the estimate is within a tenth of a capacity that has risen by a factor, at one sample per round trip
/// and BBR's gain cycle, where a probe is repeated as long as the filter asks for it.
fn round_trips_to_follow(config: SkipConfig, factor: f64) -> u32 {
    let mut skip = Skip::new(&config, RATE).unwrap();
    let mut noise = 0x9E37_79B9u32;
    let mut run = |skip: &mut Skip, capacity: f64, limit: u32| {
        let mut phase = 0;
        for round in 1..=limit {
            noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let jitter = 1.0 + 0.1 * (f64::from(noise >> 8) / f64::from(1u32 << 24) - 0.5);
            let gain = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0][phase];
            let sent_rate = gain * skip.mean();
            skip.sample(CapacitySample::new(
                (capacity * jitter).min(sent_rate),
                sent_rate,
            ))
            .unwrap();
            if !(phase == 0 && skip.wants_probe()) {
                phase = (phase + 1) % 8;
            }
            if skip.mean() >= 0.9 * capacity && limit < 1_000 {
                return round;
            }
        }
        limit
    };
    run(&mut skip, RATE, 1_000);
    run(&mut skip, factor * RATE, 999)
}

#[test]
fn the_options_shorten_the_way_up() {
    for (factor, paper_bound, tuned_bound) in [(2.0, 20, 16), (4.0, 30, 24)] {
        let paper = round_trips_to_follow(SkipConfig::paper(), factor);
        let repeat = round_trips_to_follow(
            SkipConfig {
                repeat_probe: true,
                ..SkipConfig::paper()
            },
            factor,
        );
        let tuned = round_trips_to_follow(SkipConfig::tuned(), factor);
        assert!(
            tuned <= tuned_bound && paper >= paper_bound,
            "{factor}: {paper} {repeat} {tuned}"
        );
        assert!(
            tuned < repeat && repeat < paper,
            "{factor}: {paper} {repeat} {tuned}"
        );
    }
}

proptest! {
    #[test]
    fn no_samples_yield_anything_but_a_belief(filter in configs(), samples in samples(), tuned: bool, initial in 0.0..1e11) {
        let preset = if tuned { SkipConfig::tuned() } else { SkipConfig::paper() };
        let mut skip = Skip::new(&SkipConfig { filter, ..preset }, initial).unwrap();
        for sample in samples {
            let _ = skip.sample(sample);
            prop_assert!(skip.mean() >= filter.floor && skip.mean() <= crate::MAX_RATE, "{skip:?}");
            prop_assert!(skip.variance() >= 0.0 && skip.variance().is_finite(), "{skip:?}");
            prop_assert!(skip.process_noise() > 0.0 && skip.measurement_noise() > 0.0, "{skip:?}");
            prop_assert!(skip.sigma() > 0.0 && skip.sigma().is_finite(), "{skip:?}");
        }
    }

    #[test]
    fn a_constant_is_a_fixed_point(filter in configs(), exponent in 0.0..11.0f64, tuned: bool) {
        let rate = 10f64.powf(exponent).max(filter.floor);
        let preset = if tuned { SkipConfig::tuned() } else { SkipConfig::paper() };
        let mut skip = Skip::new(&SkipConfig { filter, ..preset }, rate).unwrap();
        for _ in 0..100 {
            prop_assert_eq!(skip.sample(CapacitySample::uncensored(rate)), Ok(SkipMode::Normal));
        }
        prop_assert!((skip.mean() - rate).abs() <= 1e-9 * rate);
    }
}

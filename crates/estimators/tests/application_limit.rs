//! An application that sends less than the link carries, for an hour: 50 lower bounds per second.

use kneepoint_estimators::{Atkf, AtkfConfig, CapacitySample, LowerBounds, Skip, SkipConfig};
use proptest::prelude::*;

/// Bytes/s: 10 Mb/s.
const LINK: f64 = 1.25e6;

const AN_HOUR: u32 = 180_000;

/// The default, and one that expects noise of a tenth of the rate at least.
fn configs() -> [AtkfConfig; 2] {
    let default = AtkfConfig::default();
    let mut cellular = default;
    cellular.min_process_noise = 0.03;
    cellular.max_process_noise = 0.06;
    cellular.min_measurement_noise = 0.1;
    cellular.initial_measurement_noise = 0.5;
    cellular.initial_process_noise = 1.0;
    [default, cellular]
}

/// SKIP that knows the link.
fn settled(filter: AtkfConfig) -> Skip {
    let mut config = SkipConfig::tuned();
    config.filter = filter;
    let mut skip = Skip::new(&config, LINK).expect("a valid configuration");
    for _ in 0..300 {
        let sample = CapacitySample::uncensored(LINK);
        skip.sample(sample).expect("a valid sample");
    }
    skip
}

/// How many samples SKIP needs to come within a tenth of `capacity`, in BBR's gain cycle.
fn samples_to_find(skip: &mut Skip, capacity: f64) -> Option<usize> {
    let gains = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
    let mut phase = 0;
    (0..200).find(|_| {
        let sent_rate: f64 = gains[phase] * skip.mean();
        let sample = CapacitySample::new(capacity.min(sent_rate), sent_rate);
        skip.sample(sample).expect("a valid sample");
        if !(phase == 0 && skip.wants_probe()) {
            phase = (phase + 1) % gains.len();
        }
        (skip.mean() / capacity - 1.0).abs() < 0.1
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Trap: each lower bound adds process noise, and the noises grow with the mean.
    #[test]
    fn an_hour_of_lower_bounds_does_not_move_a_known_link(
        min in 0.0..1.0f64, max in 0.0..1.0f64, rising: bool, seed: u32,
    ) {
        let (min, max) = (min.min(max), min.max(max));
        for config in configs() {
            let mut skip = settled(config);
            let mut random = seed;
            for step in 0..AN_HOUR {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let share = if rising {
                    f64::from(step) / f64::from(AN_HOUR)
                } else {
                    f64::from(random >> 8) / f64::from(1u32 << 24)
                };
                let sent = (min + share * (max - min)) * LINK;
                skip.sample(CapacitySample::new(sent, sent)).expect("a valid sample");
                let error = (skip.mean() / LINK - 1.0).abs();
                prop_assert!(error < 0.1, "{} after {step} bounds up to {max}", skip.mean());
            }
            for factor in [2.0, 0.5] {
                let mut skip = skip.clone();
                let samples = samples_to_find(&mut skip, factor * LINK);
                prop_assert!(samples.is_some_and(|samples| samples < 30), "{factor}: {samples:?}");
            }
        }
    }

    /// A lower bound above the mean raises the mean, whatever came before.
    #[test]
    fn a_bound_above_the_mean_is_news(share in 0.0..1.0f64, excess in 1.0..1.3f64) {
        for config in configs() {
            let mut skip = settled(config);
            for _ in 0..1000 {
                skip.sample(CapacitySample::new(share * LINK, share * LINK)).expect("a valid sample");
            }
            let before = skip.mean();
            skip.sample(CapacitySample::new(excess * before, excess * before)).expect("a valid sample");
            prop_assert!(skip.mean() > before);
        }
    }
}

/// What the bounded rule is there for.
#[test]
fn as_published_the_estimate_diverges() {
    let mut config = AtkfConfig::default();
    config.lower_bounds = LowerBounds::AsPublished;
    let mut filter = Atkf::new(&config, LINK).expect("a valid configuration");
    for _ in 0..AN_HOUR / 6 {
        let sample = CapacitySample::new(0.2 * LINK, 0.2 * LINK);
        filter.update(sample).expect("a valid sample");
    }
    assert!(filter.mean() > 100.0 * LINK, "{}", filter.mean());
}

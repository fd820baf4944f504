use super::*;
use crate::tobit::TobitVariant;
use proptest::prelude::*;
use std::vec::Vec;

/// A standard normal number, from a seeded linear congruential generator and Box and Muller's transform.
struct Gauss(u64);

impl Gauss {
    fn uniform(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    fn next(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (core::f64::consts::TAU * self.uniform()).cos()
    }
}

/// The gain cycle of BBR.
const GAINS: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];

/// Bias and root mean square error of an estimator whose sender follows it, with `Q = 1`, `R = 25` and a capacity of 100
/// that is held near there.
fn in_closed_loop(
    mut estimate: f64,
    mut update: impl FnMut(f64, CapacitySample) -> f64,
) -> (f64, f64) {
    let mut gauss = Gauss(7);
    let (mut capacity, mut sum, mut squares) = (100.0f64, 0.0, 0.0);
    let steps = 60_000;
    for step in 0..steps {
        capacity = (capacity + gauss.next()).clamp(60.0, 140.0);
        let sent_rate = GAINS[step % GAINS.len()] * estimate;
        let rate = (capacity + 5.0 * gauss.next()).min(sent_rate).max(0.0);
        estimate = update(estimate, CapacitySample::new(rate, sent_rate));
        let error = estimate - capacity;
        sum += error;
        squares += error * error;
    }
    (sum / steps as f64, (squares / steps as f64).sqrt())
}

fn tobit_in_closed_loop(variant: TobitVariant) -> (f64, f64) {
    let mut variance = 25.0;
    in_closed_loop(100.0, |mean, sample| {
        let update = variant.step(mean, variance + 1.0, 25.0, sample).unwrap();
        variance = update.variance;
        update.mean
    })
}

#[test]
fn in_a_senders_loop_only_the_exact_variant_is_unbiased() {
    let (exact_bias, exact_error) = tobit_in_closed_loop(TobitVariant::ExactBayes);
    let (allik_bias, allik_error) = tobit_in_closed_loop(TobitVariant::Allik);
    assert!(exact_bias.abs() < 0.1, "{exact_bias}");
    assert!((-0.7..-0.25).contains(&allik_bias), "{allik_bias}");
    assert!(exact_error < allik_error, "{exact_error} {allik_error}");
    assert!((2.1..2.6).contains(&exact_error), "{exact_error}");
}

#[test]
fn in_a_senders_loop_averages_collapse_and_maxima_overshoot() {
    let mut average = crate::SlidingMean::new(10);
    let (average_bias, _) = in_closed_loop(100.0, |_, sample| average.push(sample.rate));
    assert!(average_bias < -50.0, "{average_bias}");

    let mut variance = 25.0;
    let (kalman_bias, _) = in_closed_loop(100.0, |mean, sample| {
        let sample = CapacitySample::uncensored(sample.rate);
        let update = TobitVariant::ExactBayes
            .step(mean, variance + 1.0, 25.0, sample)
            .unwrap();
        variance = update.variance;
        update.mean
    });
    assert!(kalman_bias < -50.0, "{kalman_bias}");

    use crate::windowed::WindowedFilter;
    let mut max = crate::ExactWindow::<f64, crate::Max>::new(9);
    let mut now = 0;
    let (max_bias, _) = in_closed_loop(100.0, |_, sample| {
        now += 1;
        max.update(now, sample.rate)
    });
    assert!((3.0..6.0).contains(&max_bias), "{max_bias}");
}

/// The noises that a filter ends up with, as `(Q/R, R)`, from uncensored samples of a random walk with `Q = 4`, `R = 100`
/// that is held near 200.
fn learned(adaptation: Adaptation, initial_process_noise: f64) -> (f64, f64) {
    let config = AtkfConfig {
        adaptation,
        initial_process_noise,
        floor: 1.0,
        ..smooth()
    };
    let mut filter = Atkf::new(&config, 200.0).unwrap();
    let mut gauss = Gauss(11);
    let (mut capacity, mut ratio, mut measurement) = (200.0, 0.0, 0.0);
    let (settle, steps) = (2_000, 20_000);
    for step in 0..settle + steps {
        capacity += 2.0 * gauss.next() + 0.002 * (200.0 - capacity);
        filter
            .update(CapacitySample::uncensored(capacity + 10.0 * gauss.next()))
            .unwrap();
        if step >= settle {
            ratio += filter.process_noise() / filter.measurement_noise() / f64::from(steps);
            measurement += filter.measurement_noise() / f64::from(steps);
        }
    }
    (ratio, measurement)
}

#[test]
fn the_lagged_rule_finds_the_noises_from_either_side() {
    let (from_below, measurement) = learned(Adaptation::LagOne, 0.001);
    let (from_above, _) = learned(Adaptation::LagOne, 1.0);
    assert!(
        (from_below - from_above).abs() < 0.005,
        "{from_below} {from_above}"
    );
    assert!((0.02..0.08).contains(&from_below), "{from_below}");
    assert!((90.0..110.0).contains(&measurement), "{measurement}");
}

#[test]
fn the_published_rule_does_not_identify_the_noises() {
    let (lagged, _) = learned(Adaptation::LagOne, 0.04);
    let (published, _) = learned(Adaptation::AsPublished, 0.04);
    assert!(
        !(0.5..2.0).contains(&(published / lagged)),
        "{published} {lagged}"
    );
}

/// Noise estimates that remember twice as many samples as the default's.
fn smooth() -> AtkfConfig {
    AtkfConfig {
        fading: 0.99,
        window: 32,
        ..AtkfConfig::default()
    }
}

#[test]
fn the_fixed_ratio_stays_and_its_scale_is_learned() {
    let config = AtkfConfig {
        adaptation: Adaptation::Fixed { q_over_r: 0.04 },
        floor: 1.0,
        ..smooth()
    };
    let mut filter = Atkf::new(&config, 100.0).unwrap();
    let mut gauss = Gauss(3);
    let (mut capacity, mut measurement) = (100.0, 0.0);
    for step in 0..6_000 {
        capacity += 2.0 * gauss.next() + 0.01 * (100.0 - capacity);
        filter
            .update(CapacitySample::uncensored(capacity + 10.0 * gauss.next()))
            .unwrap();
        assert!((filter.process_noise() / filter.measurement_noise() - 0.04).abs() < 1e-12);
        if step >= 1_000 {
            measurement += filter.measurement_noise() / 5_000.0;
        }
    }
    assert!((measurement - 100.0).abs() < 15.0, "{measurement}");
}

#[test]
fn odd_samples_leave_no_trace() {
    let mut filter = Atkf::new(&AtkfConfig::default(), 1e6).unwrap();
    filter.update(CapacitySample::uncensored(1.1e6)).unwrap();
    let before = std::format!("{filter:?}");
    for (rate, sent_rate) in [
        (f64::NAN, 1.0),
        (-1.0, 1.0),
        (f64::INFINITY, 1.0),
        (1.0, f64::NAN),
        (1.0, -1.0),
    ] {
        assert!(filter.update(CapacitySample::new(rate, sent_rate)).is_err());
    }
    assert_eq!(std::format!("{filter:?}"), before);
}

#[test]
fn the_initial_rate_is_checked_and_raised_to_the_floor() {
    for rate in [f64::NAN, -1.0, f64::INFINITY, 1e16] {
        assert_eq!(
            Atkf::new(&AtkfConfig::default(), rate)
                .unwrap_err()
                .parameter,
            "initial_rate"
        );
    }
    assert_eq!(
        Atkf::new(&AtkfConfig::default(), 0.0).unwrap().mean(),
        50_000.0
    );
}

fn rates() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>(),
        0.0..1e11,
        (-3.0..15.0f64).prop_map(|exponent| 10f64.powf(exponent)),
        Just(0.0)
    ]
}

pub(crate) fn samples() -> impl Strategy<Value = Vec<CapacitySample>> {
    let sample = (
        rates(),
        prop_oneof![rates(), Just(f64::INFINITY)],
        any::<bool>(),
    )
        .prop_map(|(rate, sent_rate, all)| {
            CapacitySample::new(rate, if all { rate } else { sent_rate })
        });
    prop::collection::vec(sample, 1..200)
}

pub(crate) fn configs() -> impl Strategy<Value = AtkfConfig> {
    (
        prop::sample::select(&[TobitVariant::Allik, TobitVariant::ExactBayes][..]),
        prop::sample::select(
            &[
                Adaptation::LagOne,
                Adaptation::AsPublished,
                Adaptation::Fixed { q_over_r: 0.02 },
            ][..],
        ),
        prop_oneof![Just(0.001), Just(1.0), Just(50_000.0)],
        0.0..0.999,
        1usize..40,
    )
        .prop_map(|(variant, adaptation, floor, fading, window)| AtkfConfig {
            variant,
            adaptation,
            floor,
            fading,
            window,
            ..AtkfConfig::default()
        })
}

proptest! {
    #[test]
    fn no_samples_yield_anything_but_a_belief(config in configs(), samples in samples(), initial in rates()) {
        let Ok(mut filter) = Atkf::new(&config, initial) else { return Ok(()) };
        for sample in samples {
            let _ = filter.update(sample);
            prop_assert!(filter.mean() >= config.floor && filter.mean() <= MAX_RATE, "{filter:?}");
            prop_assert!(filter.variance() >= 0.0 && filter.variance().is_finite(), "{filter:?}");
            prop_assert!(filter.process_noise() > 0.0 && filter.measurement_noise() > 0.0, "{filter:?}");
            prop_assert!(filter.sigma() > 0.0 && filter.sigma().is_finite(), "{filter:?}");
        }
    }

    #[test]
    fn a_constant_is_a_fixed_point(config in configs(), exponent in 0.0..11.0f64, unlimited: bool) {
        let rate = 10f64.powf(exponent).max(config.floor);
        // A finite limit has to be out of reach: the linear variants are drawn towards one that is not.
        let sent_rate = if unlimited { f64::INFINITY } else { 100.0 * rate };
        let mut filter = Atkf::new(&config, rate).unwrap();
        for _ in 0..200 {
            filter.update(CapacitySample::new(rate, sent_rate)).unwrap();
        }
        prop_assert!((filter.mean() - rate).abs() <= 1e-9 * rate, "{} is not {rate}", filter.mean());
    }
}

//! The generators' statistics over long runs against their parameters.

use rand::SeedableRng;
use rand_pcg::Pcg64;

use super::model::{OUTAGE_LN_SD, Spells};
use super::outages::Outages;
use super::rate::Rates;
use super::*;
use crate::trace::OPPORTUNITY_BYTES;

/// Eleven hours in steps of 100 ms.
const STEPS: usize = 400_000;

fn sorted_rates(profile: Profile) -> Vec<f64> {
    let mut rates: Vec<f64> = Rates::new(profile.model(), 7).take(STEPS).collect();
    rates.sort_by(f64::total_cmp);
    rates
}

fn assert_close(what: &str, profile: Profile, measured: f64, expected: f64, tolerance: f64) {
    let relative = measured / expected - 1.0;
    assert!(
        relative.abs() <= tolerance,
        "{profile}: {what} is {measured}, not {expected}"
    );
}

#[test]
fn rates_have_the_median_spread_and_cap_of_their_profile() {
    // The expected spread: white noise and swings are independent and normal.
    for profile in Profile::ALL {
        let model = profile.model();
        let [state] = model.states else { continue };
        let swings: f64 = state.swings.iter().map(|swing| swing.sd * swing.sd).sum();
        let sd = (swings + model.white_sd * model.white_sd).sqrt();
        let rates = sorted_rates(profile);
        let quantile = |part: f64| rates[(part * STEPS as f64) as usize];
        assert_close(
            "the median",
            profile,
            quantile(0.5),
            state.median_mbps,
            0.06,
        );
        assert_close(
            "-1 sd",
            profile,
            quantile(0.158_655),
            state.median_mbps / sd.exp(),
            0.08,
        );
        assert_eq!(rates.last(), Some(&model.cap_mbps), "{profile}");
    }
}

#[test]
fn millimetre_wave_spends_half_its_time_in_each_state() {
    let profile = Profile::FiveGMmwaveWalking;
    let rates = sorted_rates(profile);
    // Below the lower median lies half of the lower state's time; above the higher median, half of the higher's and
    // the little that the lower state's tail adds: P(ln-rate > ln 84) = P(z > 1.555) = .060 of it.
    let below = rates.partition_point(|rate| *rate < 27.0) as f64 / STEPS as f64;
    let above = 1.0 - rates.partition_point(|rate| *rate < 84.0) as f64 / STEPS as f64;
    assert_close("the share below 27 Mb/s", profile, below, 0.25, 0.04);
    assert_close(
        "the share above 84 Mb/s",
        profile,
        above,
        0.25 + 0.060 / 2.0,
        0.04,
    );

    let unsorted: Vec<f64> = Rates::new(profile.model(), 7).take(STEPS).collect();
    let low = unsorted.iter().map(|rate| (*rate < 50.0) as u8 as f64);
    let mean: f64 = low.clone().sum::<f64>() / STEPS as f64;
    let lag = 14;
    let pairs = low.clone().zip(low.skip(lag));
    let covariance = pairs.map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>() / STEPS as f64;
    // Two states of mean dwell D are correlated as exp(-2 t / D). Telling them apart at 50 Mb/s errs by the states'
    // tails: P(z > .844) = .199 of the lower, P(z < -2.358) = .009 of the higher.
    let contrast = 1.0 - 0.199 - 0.009;
    let expected = 0.25 * contrast * contrast * (-2.0 * lag as f64 * 0.1 / 2.8_f64).exp();
    assert_close(
        "the covariance after 1.4 s",
        profile,
        covariance,
        expected,
        0.1,
    );
}

#[test]
fn swings_are_correlated_over_their_time() {
    let profile = Profile::LteDrivingFast;
    let logs: Vec<f64> = Rates::new(profile.model(), 3)
        .take(STEPS)
        .map(f64::ln)
        .collect();
    let covariance = |lag: usize| {
        // The cap cuts the logarithm's upper tail off, so only signs are used; arcsine law of normal processes.
        let above = |log: f64| if log > 9.0_f64.ln() { 1.0 } else { -1.0 };
        let pairs = logs.iter().zip(&logs[lag..]);
        let mean = pairs.map(|(a, b)| above(*a) * above(*b)).sum::<f64>() / (STEPS - lag) as f64;
        (mean * core::f64::consts::FRAC_PI_2).sin()
    };
    let variance = 0.48_f64.powi(2) + 0.84_f64.powi(2) + 0.40_f64.powi(2);
    for lag in [1, 4, 20, 100] {
        let time = lag as f64 * 100.0;
        let fast = 0.48_f64.powi(2) * (-time / 400.0).exp();
        let slow = 0.84_f64.powi(2) * (-time / 10_000.0).exp();
        let expected = (fast + slow) / variance;
        assert_close(
            &format!("correlation over {time} ms"),
            profile,
            covariance(lag),
            expected,
            0.1,
        );
    }
}

#[test]
fn outages_have_the_number_and_duration_of_their_profile() {
    for profile in Profile::ALL {
        let model = profile.model();
        let outages: Vec<(f64, f64)> = Outages::new(model, 5).take(20_000).collect();
        let total: f64 = outages.iter().map(|(start, end)| end - start).sum();
        assert_close(
            "the mean outage",
            profile,
            total / 20_000.0,
            model.outage_millis,
            0.02,
        );
        let per_minute = 20_000.0 * 60_000.0 / outages[19_999].1;
        assert_close(
            "outages a minute",
            profile,
            per_minute,
            model.outages_per_minute,
            0.03,
        );
        assert!(
            outages.windows(2).all(|pair| pair[0].1 <= pair[1].0),
            "{profile}"
        );
        let logs = outages.iter().map(|(start, end)| (end - start).ln());
        let mean = logs.clone().sum::<f64>() / 20_000.0;
        let sd = (logs.map(|log| (log - mean).powi(2)).sum::<f64>() / 20_000.0).sqrt();
        match model.spells {
            Spells::Unbounded => {
                assert_close("the durations' spread", profile, sd, OUTAGE_LN_SD, 0.02);
            }
            Spells::Bounded { .. } => assert!(sd < OUTAGE_LN_SD, "{profile}: {sd}"),
        }
    }
}

#[test]
fn batches_have_their_mean() {
    for mean in [1.6, 2.0, 4.0, 12.0] {
        let mut generator = Pcg64::seed_from_u64(9);
        let sizes = (0..100_000).map(|_| random::geometric(&mut generator, mean));
        let measured = sizes.sum::<u64>() as f64 / 100_000.0;
        assert!(
            (measured / mean - 1.0).abs() < 0.02,
            "{measured} instead of {mean}"
        );
    }
}

/// What a trace carries is what its rates and outages allow: the same streams, drawn separately.
#[test]
fn traces_deliver_the_rate_outside_outages() {
    const MINUTES: f64 = 5.0;
    let duration = Nanos::from_millis((MINUTES * 60_000.0) as u64);
    for profile in [
        Profile::LteDrivingSlow,
        Profile::ThreeG,
        Profile::LteWalking,
    ] {
        let (mut carried, mut allowed) = (0.0, 0.0);
        for seed in 0..10 {
            carried += generate(profile, seed, duration).mean_rate() * 8.0 / 1e6;
            let mut seeds = Pcg64::seed_from_u64(seed);
            let rates = Rates::new(profile.model(), rand::Rng::next_u64(&mut seeds));
            let steps = MINUTES as usize * 600;
            allowed += rates.take(steps).sum::<f64>() / steps as f64;
        }
        let model = profile.model();
        let on = 1.0 - model.outages_per_minute * model.outage_millis / 60_000.0;
        assert_close("what is carried", profile, carried, allowed * on, 0.03);
    }
}

#[test]
fn blocked_wigig_shows_in_its_trace() {
    let minutes = 20;
    let trace = generate(
        Profile::WigigBlockage,
        1,
        Nanos::from_millis(minutes * 60_000),
    );
    // Without a blockage, 40 ms without a batch have a probability of exp(-40 * 1.07).
    let gaps = trace
        .millis()
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .filter(|gap| *gap > 40);
    let per_minute = gaps.count() as f64 / minutes as f64;
    assert_close(
        "blockages a minute",
        Profile::WigigBlockage,
        per_minute,
        40.0,
        0.08,
    );
    let share = 1.0 - 40.0 * 0.3 / 60.0;
    let on = trace.mean_rate() * 8.0 / 1e6 / share;
    assert_close("the rate while on", Profile::WigigBlockage, on, 155.0, 0.03);
}

#[test]
fn a_crowd_opens_and_blocks_within_its_bounds() {
    let profile = Profile::WigigCrowd;
    let outages: Vec<(f64, f64)> = Outages::new(profile.model(), 5).take(20_000).collect();
    let blocked = outages.iter().map(|(start, end)| end - start);
    assert!(blocked.clone().all(|ms| (200.0..=1_500.0).contains(&ms)));
    let open: Vec<f64> = outages
        .windows(2)
        .map(|pair| pair[1].0 - pair[0].1)
        .collect();
    assert!(open.iter().all(|ms| (99.9..=300.1).contains(ms)));
    let mean = open.iter().sum::<f64>() / open.len() as f64;
    assert_close("the mean open time", profile, mean, 200.0, 0.02);
    let rates = sorted_rates(profile);
    assert_eq!((rates[0], rates[STEPS - 1]), (100.0, 150.0));
    let inside = rates.iter().filter(|rate| (101.0..149.0).contains(*rate));
    assert!(inside.count() > STEPS * 8 / 10);
}

/// What the profile is for: the link is open for a quarter of the time, and opens about eighty times a minute.
#[test]
fn a_crowd_shows_in_its_trace() {
    let profile = Profile::WigigCrowd;
    for seed in 1..=5 {
        let minutes = 10;
        let trace = generate(profile, seed, Nanos::from_millis(minutes * 60_000));
        let gaps = trace.millis().windows(2).map(|pair| pair[1] - pair[0]);
        let blocked = gaps.filter(|gap| *gap >= 150).count() as f64;
        let per_minute = blocked / minutes as f64;
        assert_close("blockages a minute", profile, per_minute, 80.0, 0.06);
        let rate = trace.mean_rate() * 8.0 / 1e6;
        assert_close("the mean rate", profile, rate, 125.0 * 200.0 / 750.0, 0.06);
    }
}

#[test]
fn the_period_is_the_duration() {
    for profile in Profile::ALL {
        for (duration, period) in [
            (Nanos::ZERO, 1),
            (Nanos::from_micros(1_999), 1),
            (Nanos::from_millis(50), 50),
            (Nanos::from_millis(10_000), 10_000),
        ] {
            let trace = generate(profile, 3, duration);
            assert_eq!(trace.period(), Nanos::from_millis(period), "{profile}");
            assert!(trace.millis().is_sorted());
            let reparsed = Trace::from_millis(trace.millis().to_vec(), profile.name()).unwrap();
            assert_eq!(reparsed, trace);
        }
    }
    let long = generate(Profile::ThreeG, 3, Nanos::MAX);
    assert_eq!(long.period(), MAX_DURATION);
}

#[test]
fn the_seed_decides() {
    let duration = Nanos::from_millis(10_000);
    for profile in Profile::ALL {
        let trace = generate(profile, 1, duration);
        assert_eq!(trace, generate(profile, 1, duration));
        assert_ne!(trace, generate(profile, 2, duration));
        // A longer trace continues a shorter one.
        let longer = generate(profile, 1, Nanos::from_millis(20_000));
        let shared = trace.millis().len() - 1;
        assert_eq!(trace.millis()[..shared], longer.millis()[..shared]);
    }
}

#[test]
fn capacity_of_a_generated_trace() {
    let trace = generate(Profile::LteWalking, 1, Nanos::from_millis(5_000));
    let total = trace.millis().len() as u64 * OPPORTUNITY_BYTES;
    assert_eq!(trace.capacity(Nanos::ZERO, trace.period()), total);
}

#[test]
fn names_round_trip_and_unknown_ones_list_all() {
    for profile in Profile::ALL {
        assert_eq!(profile.to_string().parse(), Ok(profile));
        assert!(!profile.description().is_empty());
    }
    let error = "lte".parse::<Profile>().unwrap_err().to_string();
    assert_eq!(
        error,
        "unknown trace profile \"lte\"; there are: lte-driving-slow, lte-driving-fast, \
         lte-walking, 3g, wifi-busy, 5g-mmwave-walking, wigig-blockage, wigig-crowd"
    );
}

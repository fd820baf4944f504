//! Traces written, scaled, cut, made of rates, and in numbers.

use kneepoint_emulator::generate::{Profile, generate};
use kneepoint_emulator::time::Nanos;
use kneepoint_emulator::trace::{CutError, RateSample, RatesError, ScaleError, Trace};
use proptest::prelude::*;

use crate::common::ms;
use crate::strategies::traces;

fn written(trace: &Trace) -> Trace {
    let mut text = Vec::new();
    trace.write(&mut text).unwrap();
    Trace::parse(text, trace.name()).unwrap()
}

fn generated() -> impl Strategy<Value = Trace> {
    let profiles = proptest::sample::select(&Profile::ALL[..]);
    (profiles, any::<u64>(), 1..1000_u64)
        .prop_map(|(profile, seed, millis)| generate(profile, seed, ms(millis)))
}

fn any_trace() -> impl Strategy<Value = Trace> {
    prop_oneof![traces(), generated()]
}

proptest! {
    #[test]
    fn what_is_written_is_read(trace in any_trace()) {
        prop_assert_eq!(written(&trace), trace);
    }

    #[test]
    fn scaling_scales_the_number_of_opportunities(trace in any_trace(), factor in 0.01..5.0_f64) {
        let scaled = trace.scaled(factor).unwrap();
        let exact = trace.millis().len() as f64 * factor;
        prop_assert!((scaled.millis().len() as f64 - exact).abs() <= 1.0);
        prop_assert_eq!(scaled.period(), trace.period());
        prop_assert_eq!(&written(&scaled), &scaled);
        // So far and no further at any time, too.
        for time in trace.millis().iter().step_by(trace.millis().len() / 20 + 1) {
            let until = |trace: &Trace| trace.millis().partition_point(|t| t <= time) as f64;
            prop_assert!((until(&scaled) - until(&trace) * factor).abs() <= 2.0);
        }
    }

    #[test]
    fn scaling_by_one_changes_nothing(trace in any_trace()) {
        prop_assert_eq!(trace.scaled(1.0).unwrap(), trace);
    }

    #[test]
    fn a_cut_holds_what_lies_in_it(trace in any_trace(), a in 0.0..1.0_f64, b in 0.0..1.0_f64) {
        let period = trace.period().0 / 1_000_000;
        let border = |share: f64| (share * (period + 1) as f64) as u64;
        let (from, to) = (border(a.min(b)), border(a.max(b)));
        let kept: Vec<u64> = trace
            .millis()
            .iter()
            .filter(|time| (**time > from || from == 0) && **time <= to)
            .map(|time| time - from)
            .collect();
        match trace.cut(ms(from), ms(to)) {
            Ok(cut) => {
                prop_assert_eq!(cut.millis(), kept);
                prop_assert_eq!(&written(&cut), &cut);
            }
            Err(CutError::NoOpportunity { .. }) => prop_assert!(kept.iter().all(|time| *time == 0)),
            Err(_) => prop_assert_eq!(from, to),
        }
    }

    #[test]
    fn a_cut_of_everything_changes_nothing(trace in any_trace()) {
        prop_assert_eq!(trace.cut(Nanos::ZERO, trace.period()).unwrap(), trace);
    }

    #[test]
    fn a_trace_of_rates_delivers_what_they_add_up_to(
        rates in proptest::collection::vec((1..500_u32, 0.0..3e6_f64), 2..20),
        start in 0.0..1e9_f64,
    ) {
        let mut millis = start.floor();
        let mut samples = Vec::new();
        for (length, bytes_per_second) in &rates {
            samples.push(RateSample { millis, bytes_per_second: *bytes_per_second });
            millis += f64::from(*length);
        }
        let trace = Trace::from_rates(&samples, "t").unwrap();
        prop_assert_eq!(&written(&trace), &trace);
        let mut sum = 0.0;
        let mut time = 0;
        for (index, (length, rate)) in rates.iter().enumerate() {
            let last = index + 1 == rates.len();
            let length = if last { rates[index - 1].0 } else { *length };
            sum += f64::from(length) * rate / 1e3;
            time += u64::from(length);
            let delivered = trace.millis().iter().filter(|t| **t <= time).count() as f64;
            let expected = sum / 1504.0;
            // One more at the very end, where the period takes it.
            prop_assert!(delivered > expected - 1.001, "{} {}", delivered, expected);
            prop_assert!(delivered < expected + 0.001 + f64::from(last), "{} {}", delivered, expected);
        }
        prop_assert_eq!(trace.period(), ms(time));
    }

    #[test]
    fn statistics_hold_together(trace in any_trace()) {
        let statistics = trace.statistics();
        let counted: u64 = trace.bins(7).map(|(_, count)| count).sum();
        prop_assert_eq!(counted, statistics.opportunities);
        for bins in [statistics.rates_100ms, statistics.rates_1s] {
            let rates = [bins.min, bins.p5, bins.p25, bins.p50, bins.p75, bins.p95, bins.max];
            prop_assert!(rates.is_sorted(), "{:?}", rates);
        }
    }
}

#[test]
fn a_small_trace_in_numbers() {
    // Two opportunities in the first of seven bins, three in the last.
    let trace = Trace::parse("0\n100\n601\n602\n700\n", "t").unwrap();
    let statistics = trace.statistics();
    assert_eq!(statistics.duration, ms(700));
    assert_eq!(statistics.opportunities, 5);
    assert!((statistics.mean_rate - 5.0 * 1504.0 / 0.7).abs() < 1e-6);
    assert_eq!((statistics.outages, statistics.max_gap), (1, ms(501)));
    let bins = statistics.rates_100ms;
    assert_eq!((bins.min, bins.p50, bins.p75), (0.0, 0.0, 30_080.0));
    assert_eq!((bins.p95, bins.max), (45_120.0, 45_120.0));
    assert_eq!(trace.bins(100).collect::<Vec<_>>(), [(0, 2), (6, 3)]);
    // The only bin of a second, over what there is of it.
    assert!((statistics.rates_1s.p50 - statistics.mean_rate).abs() < 1e-6);
    assert_eq!(
        (statistics.wrap.gap, statistics.wrap.coinciding),
        (ms(0), 1)
    );
}

#[test]
fn the_gap_at_the_wrap_is_an_outage_too() {
    let trace = Trace::parse("400\n2000\n", "t").unwrap();
    let statistics = trace.statistics();
    assert_eq!((statistics.outages, statistics.max_gap), (2, ms(1600)));
    assert_eq!(
        (statistics.wrap.gap, statistics.wrap.coinciding),
        (ms(400), 0)
    );
    assert_eq!(statistics.wrap.rate_before, 1504.0);
    assert_eq!(statistics.wrap.rate_after, 1504.0);
    let short = Trace::parse("300\n600\n", "t").unwrap();
    assert_eq!(short.statistics().outages, 0);
    let age = Trace::parse("1\n18446744073709551615\n", "t").unwrap();
    assert_eq!(age.statistics().rates_100ms.p95, 0.0);
}

#[test]
fn rates_of_whole_opportunities_come_out_even() {
    let sample = |millis, bytes_per_second| RateSample {
        millis,
        bytes_per_second,
    };
    let trace = |samples: &[RateSample]| Trace::from_rates(samples, "t").unwrap().millis().to_vec();
    assert_eq!(
        trace(&[sample(5.0, 1_504_000.0), sample(7.0, 3_008_000.0)]),
        [1, 2, 3, 3, 4, 4]
    );
    assert_eq!(trace(&[sample(0.0, 0.0), sample(3.0, 0.0)]), [6]);
    assert_eq!(
        trace(&[sample(0.0, 150_400.0), sample(15.0, 300_800.0)]),
        [10, 18, 23, 28, 30]
    );
}

#[test]
fn impossible_configurations_are_rejected() {
    let sample = |millis, bytes_per_second| RateSample {
        millis,
        bytes_per_second,
    };
    for (samples, error) in [
        (vec![], RatesError::TooFew),
        (vec![sample(0.0, 1.0)], RatesError::TooFew),
        (
            vec![sample(1.0, 1.0), sample(1.0, 1.0)],
            RatesError::Time {
                index: 1,
                millis: 1.0,
            },
        ),
        (
            vec![sample(0.0, 1.0), sample(1.0, -1.0)],
            RatesError::Rate {
                index: 1,
                bytes_per_second: -1.0,
            },
        ),
        (
            vec![sample(0.0, 1.0), sample(0.1, 1.0)],
            RatesError::TooShort,
        ),
        (
            vec![sample(0.0, 1.0), sample(1e12, 1.0)],
            RatesError::TooLong { millis: 2e12 },
        ),
        (
            vec![sample(0.0, 1e300), sample(1.0, 1.0)],
            RatesError::TooLarge,
        ),
    ] {
        assert_eq!(Trace::from_rates(&samples, "t").unwrap_err(), error);
    }
    let trace = Trace::parse("5\n10\n", "t").unwrap();
    assert_eq!(trace.scaled(0.0).unwrap_err(), ScaleError::Factor(0.0));
    assert!(matches!(trace.scaled(f64::NAN), Err(ScaleError::Factor(_))));
    assert_eq!(
        trace.scaled(1e9).unwrap_err(),
        ScaleError::TooLarge { factor: 1e9 }
    );
    assert_eq!(trace.scaled(0.01).unwrap().millis(), [10]);
    let (to, end) = (ms(11), ms(10));
    assert_eq!(
        trace.cut(ms(0), to).unwrap_err(),
        CutError::BeyondEnd { to, end }
    );
    assert_eq!(
        trace.cut(Nanos(1), end).unwrap_err(),
        CutError::NotWhole(Nanos(1))
    );
    let (from, to) = (ms(5), ms(9));
    assert_eq!(
        trace.cut(from, to).unwrap_err(),
        CutError::NoOpportunity { from, to }
    );
    assert_eq!(
        trace.cut(to, from).unwrap_err(),
        CutError::Empty { from: to, to: from }
    );
}

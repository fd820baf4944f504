//! Nanoseconds per update of every estimator.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use kneepoint_estimators::capacity::{AckedPacket, CapacityInterval, IntervalConfig};
use kneepoint_estimators::{
    ApproximateWindow, Atkf, AtkfConfig, CapacitySample, ExactWindow, Max, PercentileHistory, Skip,
    SkipConfig, TobitVariant, WindowedFilter,
};

/// Rates that look random and always are the same, bytes/s.
struct Rates(u32);

impl Rates {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        1e6 + 1e5 * f64::from(self.0 >> 8) / f64::from(1u32 << 24)
    }
}

fn windows(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("window");
    let mut rates = Rates(1);
    let mut key = 0;
    let mut exact = ExactWindow::<f64, Max>::new(WINDOW);
    group.bench_function("exact_max", |bencher| {
        bencher.iter(|| {
            key += 1;
            black_box(exact.update(key, rates.next()))
        });
    });
    let mut approximate = ApproximateWindow::<f64, Max>::new(WINDOW);
    group.bench_function("approximate_max", |bencher| {
        bencher.iter(|| {
            key += 1;
            black_box(approximate.update(key, rates.next()))
        });
    });
    group.finish();
}

fn percentile(criterion: &mut Criterion) {
    let mut rates = Rates(2);
    let mut history = PercentileHistory::<f64>::new(0.85).expect("the default is valid");
    criterion.bench_function("percentile_of_100", |bencher| {
        bencher.iter(|| {
            history.push(rates.next());
            black_box(history.get())
        });
    });
}

fn kalman(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("kalman");
    let mut rates = Rates(3);
    for variant in [TobitVariant::Allik, TobitVariant::ExactBayes] {
        group.bench_function(
            format!("tobit_{variant:?}_censored").to_lowercase(),
            |bencher| {
                bencher.iter(|| {
                    let rate = rates.next();
                    black_box(variant.step(1e6, 4e8, 1e10, CapacitySample::new(rate, rate)))
                });
            },
        );
    }
    let mut filter = Atkf::new(&AtkfConfig::default(), 1e6).expect("the default is valid");
    group.bench_function("atkf", |bencher| {
        bencher.iter(|| black_box(filter.update(CapacitySample::new(rates.next(), 1.05e6))));
    });
    for (name, config) in [
        ("skip_paper", SkipConfig::paper()),
        ("skip_tuned", SkipConfig::tuned()),
    ] {
        let mut skip = Skip::new(&config, 1e6).expect("the preset is valid");
        group.bench_function(name, |bencher| {
            bencher.iter(|| black_box(skip.sample(CapacitySample::new(rates.next(), 1.05e6))));
        });
    }
    group.finish();
}

fn capacity(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("capacity");
    let mut interval =
        CapacityInterval::new(&IntervalConfig::default()).expect("the default is valid");
    let mut packet = AckedPacket::new(0, 20_000_000, 1250);
    group.bench_function("packet", |bencher| {
        bencher.iter(|| {
            packet.sent_at += 1_000_000;
            packet.acked_at += 1_250_000;
            black_box(interval.push(packet))
        });
    });
    group.bench_function("packet_and_close", |bencher| {
        bencher.iter(|| {
            packet.sent_at += 1_000_000;
            packet.acked_at += 1_250_000;
            let pushed = interval.push(packet);
            black_box((pushed, interval.close(20_000_000)))
        });
    });
    group.finish();
}

/// Samples: a long window, in which the monotonic queue holds several.
const WINDOW: u64 = 100;

criterion_group!(benches, windows, percentile, kalman, capacity);
criterion_main!(benches);

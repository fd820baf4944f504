//! Every estimator, fed with numbers that no path produces.

use kneepoint_estimators::capacity::{
    AckedPacket, CapacityInterval, DeliveryRate, IntervalConfig, LinearFit,
};
use kneepoint_estimators::{
    ApproximateWindow, Atkf, AtkfConfig, BusyRate, BusyRateConfig, CapacitySample, DecayingRatio,
    ExactWindow, Max, Min, PercentileHistory, QueueCorrection, Skip, SkipConfig, SlidingMean,
    TobitVariant, WindowedFilter, normal,
};

/// Feeds every estimator with the numbers that the words stand for.
///
/// # Errors
/// Which estimate is no number, or outside of its range.
pub(crate) fn survive(words: impl IntoIterator<Item = u64>) -> Result<(), String> {
    let mut estimators = Estimators::new();
    let mut numbers = Numbers {
        words: words.into_iter(),
        key: 0,
    };
    while let Some(sample) = numbers.sample() {
        let estimates = estimators.feed(sample);
        if let Some((name, value)) = estimates.iter().find(|(_, value)| !value.is_finite()) {
            return Err(format!(
                "{name} is {value} after {sample:?}: {estimators:?}"
            ));
        }
        if let Some((name, value)) = estimates.iter().find(|(_, value)| *value < 0.0) {
            return Err(format!(
                "{name} is {value} after {sample:?}: {estimators:?}"
            ));
        }
    }
    Ok(())
}

/// What one step feeds.
#[derive(Debug, Clone, Copy)]
struct Sample {
    /// A time or a count, which mostly grows.
    key: u64,
    integer: u64,
    values: [f64; 4],
}

struct Numbers<W> {
    words: W,
    key: u64,
}

impl<W: Iterator<Item = u64>> Numbers<W> {
    fn sample(&mut self) -> Option<Sample> {
        let (first, integer) = (self.words.next()?, self.words.next()?);
        self.key = match first % 64 {
            0..24 => self.key,
            24..60 => self.key.saturating_add(first >> (first % 40 + 24)),
            60 | 61 => self.key.saturating_sub(first >> 40),
            62 => 0,
            _ => u64::MAX,
        };
        let mut values = [0.0; 4];
        for value in &mut values {
            *value = number(self.words.next()?);
        }
        let integer = integer >> (first >> 58);
        Some(Sample {
            key: self.key,
            integer,
            values,
        })
    }
}

/// Half of them are rates, the others denormals, infinities, no numbers, and anything.
fn number(word: u64) -> f64 {
    let share = (word >> 12) as f64 / (1u64 << 52) as f64;
    match word % 32 {
        0 => 0.0,
        1 => -0.0,
        2 => f64::from_bits(1 + (word >> 13)),
        3 => f64::MIN_POSITIVE,
        4 => f64::MAX,
        5 => f64::MIN,
        6 => f64::INFINITY,
        7 => f64::NEG_INFINITY,
        8 => f64::NAN,
        9 => -share,
        10 => f64::EPSILON,
        11..14 => f64::from_bits(word),
        14..18 => share,
        18..22 => 1e15 * share,
        _ => 10f64.powf(12.0 * share),
    }
}

#[derive(Debug)]
struct Estimators {
    exact: ExactWindow<f64, Max>,
    approximate: ApproximateWindow<f64, Min>,
    percentile: PercentileHistory<f64, 20>,
    mean: SlidingMean,
    ratio: DecayingRatio,
    busy: BusyRate,
    kalman: Vec<Atkf>,
    skip: Vec<Skip>,
    interval: CapacityInterval,
    line: LinearFit,
}

impl Estimators {
    fn new() -> Self {
        let skip = [
            SkipConfig::paper(),
            SkipConfig::tuned(),
            SkipConfig::published(),
        ];
        let kalman = [TobitVariant::Allik, TobitVariant::ExactBayes];
        let kalman = kalman.map(|variant| {
            let mut config = AtkfConfig::default();
            config.variant = variant;
            Atkf::new(&config, 1e6).expect("the configuration is valid")
        });
        let skip = skip.map(|config| Skip::new(&config, 1e6).expect("the configuration is valid"));
        let interval = CapacityInterval::new(&IntervalConfig::default());
        Self {
            exact: ExactWindow::new(1000),
            approximate: ApproximateWindow::new(1000),
            percentile: PercentileHistory::new(0.85).expect("it is a percentile"),
            mean: SlidingMean::new(7),
            ratio: DecayingRatio::new(1.0, 1.0),
            busy: BusyRate::new(BusyRateConfig::default(), 1e6, 0.04),
            kalman: kalman.to_vec(),
            skip: skip.to_vec(),
            interval: interval.expect("the configuration is valid"),
            line: LinearFit::new(),
        }
    }

    /// All estimates after a sample, none negative.
    fn feed(
        &mut self,
        Sample {
            key,
            integer,
            values,
        }: Sample,
    ) -> Vec<(&'static str, f64)> {
        let [first, second, third, fourth] = values;
        let positive = |value: f64| if value.is_finite() { value.abs() } else { 1.0 };
        let mut estimates = Vec::new();
        // An infinity is a sample like others there: what comes out is what went in.
        let extreme = [
            self.exact.update(key, positive(first)),
            self.approximate.update(key, positive(first)),
        ];
        self.percentile.push(positive(first));
        self.exact.update(key, f64::NAN);
        self.percentile.push(f64::NAN);
        estimates.extend(extreme.map(|value| ("an extreme", value)));
        estimates.push(("the percentile", self.percentile.get().unwrap_or(f64::NAN)));
        estimates.push(("the sliding mean", self.mean.push(first).abs()));
        self.ratio.add(first, second, third);
        estimates.push(("the decaying ratio", self.ratio.ratio()));
        self.busy.add(first, second, third, fourth);
        let horizon = positive(fourth).clamp(1e-9, 60.0);
        estimates.push(("the busy rate", self.busy.rate(horizon)));
        estimates.push(("the busy rate's average", self.busy.usual()));
        let sample = CapacitySample::new(first, if integer % 3 == 0 { first } else { second });
        for filter in &mut self.kalman {
            // What is no sample changes nothing.
            let _ = filter.update(sample);
            match integer % 64 {
                0 => filter.reset_mean(third),
                1 => filter.predict(),
                _ => {}
            }
            let values = [
                filter.mean(),
                filter.variance(),
                filter.process_noise(),
                filter.measurement_noise(),
                filter.sigma(),
                filter.innovation_square(),
            ];
            estimates.extend(values.map(|value| ("the Kalman filter", value)));
        }
        for filter in &mut self.skip {
            let _ = filter.sample(sample);
            let values = [
                filter.mean(),
                filter.variance(),
                filter.process_noise(),
                filter.measurement_noise(),
                filter.sigma(),
            ];
            estimates.extend(values.map(|value| ("SKIP", value)));
        }
        for variant in [TobitVariant::Allik, TobitVariant::ExactBayes] {
            if let Ok(update) = variant.step(third, second, fourth, sample) {
                let values = [
                    update.mean.abs(),
                    update.variance,
                    update.innovation.abs(),
                    update.gain,
                ];
                estimates.extend(values.map(|value| ("a Tobit update", value)));
            }
        }
        if let Ok(correction) = QueueCorrection::new(third) {
            let corrected = correction.apply(positive(first), integer, key);
            estimates.push(("the corrected rate", corrected));
        }
        if let Ok(delivery) = DeliveryRate::new(integer, key, (positive(first)) as u64) {
            estimates.push(("the delivery rate", delivery.rate));
        }
        let sent = key.saturating_sub(positive(second) as u64);
        let _ = self.interval.push(AckedPacket::new(sent, key, integer));
        if let Ok(estimate) = self.interval.close(positive(third) as u64) {
            estimates.push(("the capacity", estimate.sample.rate));
        }
        self.line.push(first, second);
        let fit = [
            self.line.slope().map(f64::abs),
            self.line.residual_deviation(),
            self.line.slope_error(),
        ];
        estimates.extend(fit.into_iter().flatten().map(|value| ("the line", value)));
        if !first.is_nan() {
            let moments = [
                normal::density(first),
                normal::cumulative(first),
                normal::truncated_variance(first),
            ];
            estimates.extend(moments.map(|value| ("a moment", value)));
        }
        if integer % 4096 == 0 {
            *self = Self::new();
        }
        estimates
    }
}

//! From values to places along an axis, and the ticks in between.

/// One axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Scale {
    /// Equal differences are equally far apart.
    Linear {
        /// The axis's start.
        low: f64,
        /// The axis's end.
        high: f64,
    },
    /// Equal ratios are equally far apart.
    Log {
        /// The axis's start, positive.
        low: f64,
        /// The axis's end.
        high: f64,
    },
}

/// A marked value on an axis.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tick {
    /// Where.
    pub(super) value: f64,
    /// The label; empty for a line without one.
    pub(super) label: String,
}

impl Scale {
    /// The place of a value: 0 at the axis's start, 1 at its end, and never beyond.
    pub(super) fn fraction(self, value: f64) -> f64 {
        let fraction = match self {
            Self::Linear { low, high } => (value - low) / (high - low),
            Self::Log { low, high } => (value.max(low) / low).ln() / (high / low).ln(),
        };
        if fraction.is_nan() {
            0.0
        } else {
            fraction.clamp(0.0, 1.0)
        }
    }

    /// Whether a value lies on the axis.
    pub(super) fn has(self, value: f64) -> bool {
        let (Self::Linear { low, high } | Self::Log { low, high }) = self;
        (low..=high).contains(&value)
    }

    /// Round values along the axis, about `count` of them with a label.
    pub(super) fn ticks(self, count: u32) -> Vec<Tick> {
        match self {
            Self::Linear { low, high } => linear_ticks(low, high, count),
            Self::Log { low, high } => {
                // The digits with a label, and the digits with a line.
                let (labels, lines): (&[u32], &[u32]) = match (high / low).log10() {
                    decades if decades < 0.7 => return linear_ticks(low, high, count),
                    decades if decades < 2.2 => (&[1, 2, 5], &[1, 2, 3, 4, 5, 6, 7, 8, 9]),
                    _ => (&[1], &[1, 2, 5]),
                };
                log_ticks(low, high, labels, lines)
            }
        }
    }
}

/// Multiples of 1, 2 or 5 times a power of ten.
fn linear_ticks(low: f64, high: f64, count: u32) -> Vec<Tick> {
    let rough = (high - low) / f64::from(count.max(1));
    if !(rough.is_finite() && rough > 0.0) {
        return Vec::new();
    }
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= rough * 0.999)
        .unwrap_or(10.0 * power);
    let digits = (-step.log10().floor()).max(0.0) as usize;
    let first = (low / step - 1e-6).ceil() as i64;
    let last = (high / step + 1e-6).floor() as i64;
    (first..=last)
        .map(|multiple| {
            let value = multiple as f64 * step;
            Tick {
                value,
                label: format!("{value:.digits$}"),
            }
        })
        .collect()
}

/// Each digit of `lines` times every power of ten, with labels at those of `labels`.
fn log_ticks(low: f64, high: f64, labels: &[u32], lines: &[u32]) -> Vec<Tick> {
    let (first, last) = (low.log10().floor() as i32, high.log10().floor() as i32);
    (first..=last)
        .flat_map(|power| lines.iter().map(move |&digit| (power, digit)))
        .map(|(power, digit)| {
            let value = f64::from(digit) * 10_f64.powi(power);
            let digits = usize::try_from(-power).unwrap_or(0);
            let label = if labels.contains(&digit) {
                format!("{value:.digits$}")
            } else {
                String::new()
            };
            Tick { value, label }
        })
        .filter(|tick| tick.value >= low * (1.0 - 1e-9) && tick.value <= high * (1.0 + 1e-9))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &[Tick]) -> Vec<&str> {
        ticks
            .iter()
            .map(|tick| tick.label.as_str())
            .filter(|label| !label.is_empty())
            .collect()
    }

    #[test]
    fn linear() {
        let scale = Scale::Linear {
            low: 0.0,
            high: 60.0,
        };
        assert_eq!(scale.fraction(15.0), 0.25);
        assert_eq!(scale.fraction(99.0), 1.0);
        assert_eq!(
            labels(&scale.ticks(6)),
            ["0", "10", "20", "30", "40", "50", "60"]
        );
        let fine = Scale::Linear {
            low: 0.0,
            high: 0.5,
        };
        assert_eq!(
            labels(&fine.ticks(5)),
            ["0.0", "0.1", "0.2", "0.3", "0.4", "0.5"]
        );
    }

    #[test]
    fn logarithmic() {
        let scale = Scale::Log {
            low: 1.0,
            high: 1_000.0,
        };
        assert!((scale.fraction(10.0) - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(scale.fraction(0.0), 0.0);
        let ticks = scale.ticks(5);
        assert_eq!(labels(&ticks), ["1", "10", "100", "1000"]);
        assert_eq!(ticks.len(), 10);
        let middle = Scale::Log {
            low: 30.0,
            high: 600.0,
        };
        assert_eq!(labels(&middle.ticks(5)), ["50", "100", "200", "500"]);
        assert_eq!(middle.ticks(5).len(), 13);
        let wide = Scale::Log {
            low: 0.1,
            high: 5_000.0,
        };
        assert_eq!(labels(&wide.ticks(5)), ["0.1", "1", "10", "100", "1000"]);
        let narrow = Scale::Log {
            low: 40.0,
            high: 60.0,
        };
        assert_eq!(labels(&narrow.ticks(4)), ["40", "45", "50", "55", "60"]);
    }

    #[test]
    fn an_empty_axis_has_no_ticks_and_one_place() {
        let scale = Scale::Linear {
            low: 1.0,
            high: 1.0,
        };
        assert_eq!(scale.ticks(5), []);
        assert_eq!(scale.fraction(1.0), 0.0);
    }
}

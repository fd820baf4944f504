//! What values are in text.

use core::time::Duration;

use kneepoint_estimators::capacity::{IntervalConfig, Method};
use kneepoint_estimators::{Adaptation, AtkfConfig, LowerBounds, SkipConfig, TobitVariant};

use super::{AsField, Field, Scalar, Value, fields};
use crate::bbr::ProbeRttWindow;
use crate::config::WindowPolicy;
use crate::units::Gain;

impl<T: Value> AsField for T {
    fn as_field(&mut self) -> Field<'_> {
        Field::Value(self)
    }
}

impl Value for bool {
    fn get(&self) -> Scalar {
        Scalar::Bool(*self)
    }

    fn set(&mut self, text: &str) -> Result<(), String> {
        *self = text.parse().map_err(|_| "true or false".to_owned())?;
        Ok(())
    }
}

macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl Value for $integer {
            fn get(&self) -> Scalar {
                Scalar::Integer(u64::try_from(*self).unwrap_or(u64::MAX))
            }

            fn set(&mut self, text: &str) -> Result<(), String> {
                *self = text.parse().map_err(|_| format!("a whole number of 0 to {}", Self::MAX))?;
                Ok(())
            }
        }
    )*};
}

integers!(u8, u16, u32, usize);

impl Value for f64 {
    fn get(&self) -> Scalar {
        Scalar::Float(*self)
    }

    fn set(&mut self, text: &str) -> Result<(), String> {
        *self = text.parse().map_err(|_| "a number".to_owned())?;
        Ok(())
    }
}

/// A decimal where millionths suffice, and a fraction where not: 1.25, 1000/2885.
impl Value for Gain {
    fn get(&self) -> Scalar {
        let decimal = self.as_f64();
        if from_decimal(decimal) == Some(*self) {
            return Scalar::Float(decimal);
        }
        Scalar::Text(format!("{self:?}"))
    }

    fn set(&mut self, text: &str) -> Result<(), String> {
        let gain = match text.split_once('/') {
            Some((numerator, denominator)) => fraction(numerator, denominator),
            None => text.parse().ok().and_then(from_decimal),
        };
        *self = gain.ok_or("a factor of 0 to 4294, such as 1.25 or 5/4")?;
        Ok(())
    }
}

/// The nearest millionth.
fn from_decimal(factor: f64) -> Option<Gain> {
    let millionths = (factor * f64::from(MILLION)).round();
    let representable = (0.0..=f64::from(u32::MAX)).contains(&millionths);
    representable.then(|| Gain::new(millionths as u32, MILLION))
}

const MILLION: u32 = 1_000_000;

fn fraction(numerator: &str, denominator: &str) -> Option<Gain> {
    let denominator = denominator.trim().parse().ok().filter(|&it| it > 0)?;
    Some(Gain::new(numerator.trim().parse().ok()?, denominator))
}

/// A number with its unit: 20s, 1.5s, 150ms.
impl Value for Duration {
    fn get(&self) -> Scalar {
        let nanos = self.as_nanos();
        let of_unit = |unit: &&(&str, u64)| nanos.is_multiple_of(u128::from(unit.1));
        let (name, unit) = UNITS.iter().find(of_unit).unwrap_or(&("ns", 1));
        Scalar::Text(format!("{}{name}", nanos / u128::from(*unit)))
    }

    fn set(&mut self, text: &str) -> Result<(), String> {
        *self = duration(text).ok_or("a number with its unit, such as 20s or 150ms")?;
        Ok(())
    }
}

fn duration(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_at(text.find(char::is_alphabetic)?);
    let (_, unit) = UNITS.iter().find(|(name, _)| *name == unit)?;
    let number = number.trim();
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(*unit).map(Duration::from_nanos);
    }
    let seconds = number.parse::<f64>().ok()? * *unit as f64 / 1e9;
    Duration::try_from_secs_f64(seconds).ok()
}

/// In nanoseconds, those that are written first.
const UNITS: [(&str, u64); 6] = [
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

macro_rules! options {
    ($($value:ty = $any:expr),*) => {$(
        impl Value for Option<$value> {
            fn get(&self) -> Scalar {
                self.as_ref().map_or(Scalar::Text(NONE.to_owned()), Value::get)
            }

            fn set(&mut self, text: &str) -> Result<(), String> {
                let mut value = $any;
                *self = match text {
                    NONE => None,
                    _ => {
                        let refused = |expected| format!("{expected}, or {NONE}");
                        Value::set(&mut value, text).map_err(refused)?;
                        Some(value)
                    }
                };
                Ok(())
            }
        }
    )*};
}

options!(u16 = 0_u16, f64 = 0.0_f64, Gain = Gain::UNIT);

/// An option that holds nothing; what a format calls null is read as this.
pub(super) const NONE: &str = "none";

/// Names the variants of an enum: all of them, or those of another crate's.
macro_rules! words {
    ($enum:ty { $($variant:ident = $word:literal),+ $(, _ => $other:literal)? $(,)? }) => {
        impl $crate::text::Value for $enum {
            fn get(&self) -> $crate::text::Scalar {
                let word = match self {
                    $(Self::$variant => $word,)+
                    $(_ => $other,)?
                };
                $crate::text::Scalar::Text(word.to_owned())
            }

            fn set(&mut self, text: &str) -> Result<(), String> {
                *self = match text {
                    $($word => Self::$variant,)+
                    _ => return Err([$($word),+].join(" or ")),
                };
                Ok(())
            }
        }
    };
}

pub(crate) use words;

words!(Method {
    RttGradient = "rtt-gradient",
    DeliveryRate = "delivery-rate",
    _ => "",
});

words!(TobitVariant {
    Allik = "allik",
    ExactBayes = "exact-bayes",
    _ => "",
});

words!(LowerBounds {
    Bounded = "bounded",
    AsPublished = "as-published",
    _ => "",
});

fields!(foreign IntervalConfig { method, min_rtts, min_packets, min_batches });

fields!(foreign SkipConfig {
    filter, threshold, outlier_deviations, outage_rate, inflate, feed_drop, psi_reset, repeat_probe
});

fields!(foreign AtkfConfig {
    variant, adaptation, lower_bounds, window, fading, fading_offset, min_measurement_noise,
    max_measurement_noise, min_process_noise, max_process_noise, floor, clip,
    initial_measurement_noise, initial_process_noise, initial_variance
});

impl Value for Adaptation {
    fn get(&self) -> Scalar {
        Scalar::Text(match self {
            Self::LagOne => "lag-one".to_owned(),
            Self::AsPublished => "as-published".to_owned(),
            Self::Fixed { q_over_r } => format!("fixed({q_over_r})"),
            _ => String::new(),
        })
    }

    fn set(&mut self, text: &str) -> Result<(), String> {
        let (name, arguments) = call(text);
        *self = match (name, arguments.as_slice()) {
            ("lag-one", []) => Self::LagOne,
            ("as-published", []) => Self::AsPublished,
            ("fixed", [ratio]) => {
                let mut q_over_r = 0.0;
                Value::set(&mut q_over_r, ratio)?;
                Self::Fixed { q_over_r }
            }
            _ => return Err("lag-one, as-published or fixed(Q/R)".to_owned()),
        };
        Ok(())
    }
}

impl Value for ProbeRttWindow {
    fn get(&self) -> Scalar {
        Scalar::Text(match self {
            Self::Packets(packets) => format!("packets({packets})"),
            Self::Bdp(share) => format!("bdp({})", share.get()),
        })
    }

    fn set(&mut self, text: &str) -> Result<(), String> {
        let (name, arguments) = call(text);
        *self = match (name, arguments.as_slice()) {
            ("packets", [count]) => {
                let mut packets = 0;
                Value::set(&mut packets, count)?;
                Self::Packets(packets)
            }
            ("bdp", [share]) => Self::Bdp(gain(share)?),
            _ => return Err("packets(NUMBER) or bdp(SHARE)".to_owned()),
        };
        Ok(())
    }
}

impl Value for WindowPolicy {
    fn get(&self) -> Scalar {
        Scalar::Text(match self {
            Self::Window => "window".to_owned(),
            Self::Rate => "rate".to_owned(),
            Self::RttCapped => "rtt-capped".to_owned(),
            Self::Bdp { gain } => format!("bdp({})", gain.get()),
        })
    }

    fn set(&mut self, text: &str) -> Result<(), String> {
        let (name, arguments) = call(text);
        *self = match (name, arguments.as_slice()) {
            ("window", []) => Self::Window,
            ("rate", []) => Self::Rate,
            ("rtt-capped", []) => Self::RttCapped,
            ("bdp", [factor]) => Self::Bdp {
                gain: gain(factor)?,
            },
            _ => return Err("window, rate, rtt-capped or bdp(GAIN)".to_owned()),
        };
        Ok(())
    }
}

/// `name(argument argument)`, or the name alone.
fn call(text: &str) -> (&str, Vec<&str>) {
    let inside = text.strip_suffix(')').and_then(|text| text.split_once('('));
    match inside {
        Some((name, arguments)) => (name, arguments.split_whitespace().collect()),
        None => (text, Vec::new()),
    }
}

fn gain(text: &str) -> Result<Gain, String> {
    let mut gain = Gain::UNIT;
    gain.set(text)?;
    Ok(gain)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads what is written, and writes what is expected.
    fn check<T: Value + Copy + PartialEq + core::fmt::Debug>(value: T, other: T, written: &str) {
        assert_eq!(value.get().to_string(), written);
        let mut read = other;
        assert_eq!(read.set(written), Ok(()));
        assert_eq!(read, value);
    }

    #[test]
    fn values_survive_the_round_trip() {
        for (value, written) in [
            (Duration::ZERO, "0s"),
            (Duration::from_secs(20), "20s"),
            (Duration::from_millis(1500), "1500ms"),
            (Duration::from_nanos(1), "1ns"),
        ] {
            check(value, Duration::MAX, written);
        }
        for (value, written) in [
            (Gain::new(5, 4), "1.25"),
            (Gain::new(1000, 2885), "1000/2885"),
            (Gain::new(38, 1000), "0.038"),
            (Gain::new(u32::MAX, 1), "4294967295/1"),
        ] {
            check(value, Gain::UNIT, written);
        }
        check(None, Some(Gain::UNIT), "none");
        check(Some(Gain::new(2, 1)), None, "2");
        check(1e-15, 0.0, "0.000000000000001");
        check(
            ProbeRttWindow::Packets(4),
            ProbeRttWindow::Packets(2),
            "packets(4)",
        );
        check(
            ProbeRttWindow::Bdp(Gain::new(1, 2)),
            ProbeRttWindow::Packets(2),
            "bdp(0.5)",
        );
        for (value, written) in [
            (WindowPolicy::RttCapped, "rtt-capped"),
            (
                WindowPolicy::Bdp {
                    gain: Gain::new(3, 2),
                },
                "bdp(1.5)",
            ),
        ] {
            check(value, WindowPolicy::Window, written);
        }
        check(
            Adaptation::Fixed { q_over_r: 0.02 },
            Adaptation::LagOne,
            "fixed(0.02)",
        );
        check(Method::DeliveryRate, Method::RttGradient, "delivery-rate");
    }

    #[test]
    fn durations_have_a_unit_and_may_have_a_fraction() {
        assert_eq!(duration("1.5 s"), Some(Duration::from_millis(1500)));
        assert_eq!(duration("2min"), Some(Duration::from_secs(120)));
        for refused in ["", "20", "s", "-1s", "1e400s", "99999999999h", "20 parsecs"] {
            assert_eq!(duration(refused), None, "{refused}");
        }
    }

    #[test]
    fn a_refused_value_says_what_it_may_be() {
        let mut rule = crate::bbr::EcnRule::Ignore;
        assert_eq!(rule.set("bind"), Err("ignore or bound".to_owned()));
        assert_eq!(
            0_u16.set("70000"),
            Err("a whole number of 0 to 65535".to_owned())
        );
        for refused in ["-1", "5000", "1/0", "1/", "nan"] {
            assert!(gain(refused).is_err(), "{refused}");
        }
    }
}

//! Quantities as people write them: `10Mbps`, `40ms`, `3MB`, `100p`.
//!
//! Every type reads the text it prints, so a row of results can be fed back to the command line.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use kneepoint_emulator::link::{Limit, Queue};
use serde::Serialize;
use thiserror::Error;

/// Why a quantity could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum UnitError {
    /// The text does not start with a decimal number.
    #[error("expected a number from zero on, such as {example}")]
    NoNumber {
        /// A well-formed value.
        example: &'static str,
    },
    /// The number stands alone.
    #[error("the unit is missing: write it like {example}")]
    NoUnit {
        /// A well-formed value.
        example: &'static str,
    },
    /// The unit is not one of those known here.
    #[error("unknown unit '{unit}': expected one of {expected}")]
    UnknownUnit {
        /// What was written.
        unit: String,
        /// The units known here.
        expected: String,
    },
    /// The value lies outside what the emulator can represent.
    #[error("out of range: expected {range}")]
    OutOfRange {
        /// The permitted values, in words.
        range: &'static str,
    },
}

/// A bit rate, in bits per second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Rate(u64);

impl Rate {
    /// A rate of so many bits per second, at least 1.
    pub const fn from_bits_per_second(bits: u64) -> Self {
        Self(if bits == 0 { 1 } else { bits })
    }

    /// The rate in bits per second, never zero.
    pub const fn bits_per_second(self) -> u64 {
        self.0
    }
}

impl FromStr for Rate {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        within(
            1e3..=1e12,
            "1kbps to 1000Gbps",
            scaled(text, "10Mbps", RATE_UNITS)?,
        )
        .map(Self)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, unit) = decimal_prefix(self.0, ["bps", "kbps", "Mbps", "Gbps"]);
        write!(f, "{value}{unit}")
    }
}

/// How much a queue holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum QueueSize {
    /// Never full.
    Infinite,
    /// So many bytes, as they count on the wire.
    Bytes(u64),
    /// So many packets.
    Packets(u64),
}

impl From<QueueSize> for Queue {
    fn from(size: QueueSize) -> Self {
        match size {
            QueueSize::Infinite => Self::Infinite,
            QueueSize::Bytes(bytes) => Self::DropTail(Limit::bytes(bytes)),
            QueueSize::Packets(packets) => Self::DropTail(Limit::packets(packets)),
        }
    }
}

impl FromStr for QueueSize {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        if text.trim() == "inf" {
            return Ok(Self::Infinite);
        }
        let size = scaled(text, "3MB, 100p or inf", SIZE_UNITS)?;
        let size = within(
            1.0..=1e15,
            "1B to 1000TB, at least one packet, or inf",
            size,
        )?;
        Ok(if text.trim_end().ends_with('p') {
            Self::Packets(size)
        } else {
            Self::Bytes(size)
        })
    }
}

impl fmt::Display for QueueSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Infinite => f.write_str("inf"),
            Self::Packets(packets) => write!(f, "{packets}p"),
            Self::Bytes(bytes) => f.write_str(&format_size(bytes)),
        }
    }
}

/// Reads a positive span of time such as `40ms`, `1.5s` or `2min`, to the nanosecond.
///
/// # Errors
/// When the number or its unit is missing or unknown, or the span is not between 1 microsecond and one day.
pub fn parse_time(text: &str) -> Result<Duration, UnitError> {
    let nanos = scaled(text, "40ms or 60s", TIME_UNITS)?;
    within(1e3..=86_400e9, "1us to 24h", nanos).map(Duration::from_nanos)
}

/// Reads a point in time such as `0s`, `10s` or `1.5min`, to the nanosecond.
///
/// # Errors
/// When the number or its unit is missing or unknown, or the time is beyond a year.
pub fn parse_moment(text: &str) -> Result<Duration, UnitError> {
    let nanos = scaled(text, "0s or 10s", TIME_UNITS)?;
    within(0.0..=365.0 * 86_400e9, "0s to 8760h", nanos).map(Duration::from_nanos)
}

/// Reads a number of bytes such as `100kB` or `1.5MiB`.
///
/// # Errors
/// When the number or its unit is missing or unknown, or the size is not between one byte and 1000 TB.
pub fn parse_size(text: &str) -> Result<u64, UnitError> {
    within(
        1.0..=1e15,
        "1B to 1000TB",
        scaled(text, "100kB", BYTE_UNITS)?,
    )
}

/// Prints a number of bytes as [`parse_size`] reads it.
pub fn format_size(bytes: u64) -> String {
    let (value, unit) = decimal_prefix(bytes, ["B", "kB", "MB", "GB"]);
    format!("{value}{unit}")
}

/// Prints a span of time as [`parse_time`] reads it.
pub fn format_time(time: Duration) -> String {
    let nanos = time.as_nanos() as f64;
    match time {
        time if time < Duration::from_millis(1) => format!("{}us", nanos / 1e3),
        time if time < Duration::from_secs(1) => format!("{}ms", nanos / 1e6),
        _ => format!("{}s", nanos / 1e9),
    }
}

/// Reads a probability: a number from 0 to 1, or a percentage such as `1%`.
///
/// # Errors
/// When the text is no number, or the number no probability.
pub fn parse_probability(text: &str) -> Result<f64, UnitError> {
    let text = text.trim();
    let (number, scale) = match text.strip_suffix('%') {
        Some(number) => (number, 100.0),
        None => (text, 1.0),
    };
    let value = decimal(number).ok_or(UnitError::NoNumber {
        example: "0.01 or 1%",
    })? / scale;
    if value > 1.0 {
        return Err(UnitError::OutOfRange {
            range: "a probability from 0 to 1",
        });
    }
    Ok(value)
}

/// The nearest whole number, if the value lies in a range, which is also given in words.
fn within(allowed: RangeInclusive<f64>, range: &'static str, value: f64) -> Result<u64, UnitError> {
    if allowed.contains(&value) {
        Ok(value.round() as u64)
    } else {
        Err(UnitError::OutOfRange { range })
    }
}

/// The number in `text` times its unit's factor.
fn scaled(text: &str, example: &'static str, units: &[(&str, f64)]) -> Result<f64, UnitError> {
    let text = text.trim();
    let split = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let number = decimal(number).ok_or(UnitError::NoNumber { example })?;
    let unit = unit.trim_start();
    if unit.is_empty() {
        return Err(UnitError::NoUnit { example });
    }
    match units.iter().find(|(name, _)| *name == unit) {
        Some((_, factor)) => Ok(number * factor),
        None => Err(UnitError::UnknownUnit {
            unit: unit.to_owned(),
            expected: units
                .iter()
                .map(|(name, _)| *name)
                .collect::<Vec<_>>()
                .join(", "),
        }),
    }
}

/// The value in the largest of four units, each a thousand times the one before, in which it is at least 1.
fn decimal_prefix(value: u64, units: [&str; 4]) -> (f64, &str) {
    let [one, thousand, million, billion] = units;
    match value {
        0..1_000 => (value as f64, one),
        1_000..1_000_000 => (value as f64 / 1e3, thousand),
        1_000_000..1_000_000_000 => (value as f64 / 1e6, million),
        _ => (value as f64 / 1e9, billion),
    }
}

/// A plain decimal number: digits and at most one point, no sign, no exponent.
fn decimal(text: &str) -> Option<f64> {
    let plain = text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_digit() || c == '.');
    if plain { text.parse().ok() } else { None }
}

const RATE_UNITS: &[(&str, f64)] = &[
    ("bps", 1.0),
    ("kbps", 1e3),
    ("Mbps", 1e6),
    ("Gbps", 1e9),
    ("b/s", 1.0),
    ("kb/s", 1e3),
    ("Mb/s", 1e6),
    ("Gb/s", 1e9),
    ("bit/s", 1.0),
    ("kbit/s", 1e3),
    ("Mbit/s", 1e6),
    ("Gbit/s", 1e9),
];

const TIME_UNITS: &[(&str, f64)] = &[
    ("ns", 1.0),
    ("us", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("min", 60e9),
    ("h", 3_600e9),
];

const SIZE_UNITS: &[(&str, f64)] = &[
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("KiB", 1024.0),
    ("MiB", 1024.0 * 1024.0),
    ("GiB", 1024.0 * 1024.0 * 1024.0),
    ("p", 1.0),
];

/// Those of bytes: all but packets.
const BYTE_UNITS: &[(&str, f64)] = SIZE_UNITS.split_at(8).0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates() {
        for (text, bits) in [
            ("10Mbps", 10_000_000),
            ("10Mb/s", 10_000_000),
            ("2.5Gbps", 2_500_000_000),
            ("128 kbps", 128_000),
            ("1Mbit/s", 1_000_000),
            ("4400bps", 4_400),
        ] {
            let rate: Rate = text.parse().unwrap();
            assert_eq!(rate.bits_per_second(), bits, "{text}");
            assert_eq!(rate.to_string().parse(), Ok(rate), "{rate}");
        }
        assert_eq!(Rate(10_000_000).to_string(), "10Mbps");
        assert_eq!(Rate(1_500).to_string(), "1.5kbps");
    }

    #[test]
    fn times() {
        for (text, millis) in [
            ("40ms", 40),
            ("1.5s", 1_500),
            ("60s", 60_000),
            ("2min", 120_000),
        ] {
            let time = parse_time(text).unwrap();
            assert_eq!(time, Duration::from_millis(millis), "{text}");
            assert_eq!(parse_time(&format_time(time)), Ok(time));
        }
        assert_eq!(format_time(Duration::from_micros(250)), "250us");
        assert_eq!(format_time(Duration::from_millis(1_500)), "1.5s");
    }

    #[test]
    fn moments() {
        assert_eq!(parse_moment("0s"), Ok(Duration::ZERO));
        assert_eq!(parse_moment("1.5min"), Ok(Duration::from_secs(90)));
        for text in ["0", "-1s", "9000h", ""] {
            assert!(parse_moment(text).is_err(), "{text}");
        }
    }

    #[test]
    fn queues() {
        for (text, size) in [
            ("3MB", QueueSize::Bytes(3_000_000)),
            ("3MiB", QueueSize::Bytes(3 * 1024 * 1024)),
            ("100kB", QueueSize::Bytes(100_000)),
            ("100p", QueueSize::Packets(100)),
            ("inf", QueueSize::Infinite),
        ] {
            assert_eq!(text.parse(), Ok(size), "{text}");
            assert_eq!(size.to_string().parse(), Ok(size), "{size}");
        }
        assert_eq!(QueueSize::Bytes(3_000_000).to_string(), "3MB");
    }

    #[test]
    fn sizes() {
        for (text, bytes) in [
            ("100kB", 100_000),
            ("1.5MiB", 1_572_864),
            ("8B", 8),
            ("1000TB", 1_000_000_000_000_000),
        ] {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
            assert_eq!(parse_size(&format_size(bytes)), Ok(bytes), "{text}");
        }
        for text in ["100", "3p", "0B", "inf"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn probabilities() {
        assert_eq!(parse_probability("0.01"), Ok(0.01));
        assert_eq!(parse_probability("1%"), Ok(0.01));
        assert_eq!(parse_probability("0"), Ok(0.0));
        for text in ["-0.1", "1.5", "150%", "", "%", "nan", "1e-2", "0.0.1"] {
            assert!(parse_probability(text).is_err(), "{text}");
        }
    }

    #[test]
    fn errors_name_the_reason() {
        // Fault: a probability was asked for a unit, which it does not need.
        assert_eq!(
            parse_probability("-0.1").unwrap_err().to_string(),
            "expected a number from zero on, such as 0.01 or 1%"
        );
        let rate = |text: &str| text.parse::<Rate>().unwrap_err().to_string();
        assert_eq!(rate("10"), "the unit is missing: write it like 10Mbps");
        assert!(rate("10MB/s").starts_with("unknown unit 'MB/s': expected one of bps, kbps"));
        assert_eq!(
            rate("fast"),
            "expected a number from zero on, such as 10Mbps"
        );
        assert_eq!(rate("0Mbps"), "out of range: expected 1kbps to 1000Gbps");
        assert_eq!(
            rate("-1Mbps"),
            "expected a number from zero on, such as 10Mbps"
        );
        for text in [
            "", "40", "ms", "1..5s", ".5s", "infs", "0ms", "9999h", "40 m s", "4０ms",
        ] {
            assert!(parse_time(text).is_err(), "{text}");
        }
        for text in ["", "3", "3mb", "0p", "0B", "infinite", "0.2p", "99999999GB"] {
            assert!(text.parse::<QueueSize>().is_err(), "{text}");
        }
    }
}

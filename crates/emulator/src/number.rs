//! Numbers as errors print them.

use core::fmt;

/// A number with an exponent where its digits would fill lines: 1e300.
pub(crate) struct Number(pub(crate) f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(value) = self;
        let few_digits = *value == 0.0 || (1e-9..1e16).contains(&value.abs());
        if few_digits || !value.is_finite() {
            write!(f, "{value}")
        } else {
            write!(f, "{value:e}")
        }
    }
}

/// What a reader of TOML says of a text: on one line, with the numbers that it quotes as [`Number`] prints them.
#[cfg(feature = "serde")]
pub(crate) fn reason(message: &str) -> String {
    let message = message.replace('\n', " ");
    let parts = message.split('`').map(|part| match part.parse() {
        Ok(number) if part.len() > MAX_DIGITS => Number(number).to_string(),
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("`")
}

/// What is longer has digits that say nothing.
#[cfg(feature = "serde")]
const MAX_DIGITS: usize = 24;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_does_not_fill_lines() {
        for (value, text) in [
            (0.0, "0"),
            (-1.0, "-1"),
            (10_000_000.0, "10000000"),
            (0.000_008, "0.000008"),
            (1e300, "1e300"),
            (-1.5e300, "-1.5e300"),
            (1e-300, "1e-300"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(Number(value).to_string(), text);
        }
    }
}

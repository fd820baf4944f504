//! The text that is read, and what is wrong with it where.

use std::ops::Range;
use std::path::Path;

use toml::Spanned;
use toml::de::DeTable;

use super::super::NetworkError;
use super::{NetworkFileError, culprit};
use crate::link::ConfigError;
use crate::number::reason;
use crate::time::Nanos;

/// A number, and its place in the text.
pub(super) type Number = Spanned<f64>;

/// A place in the text, in bytes.
pub(super) type Span = Range<usize>;

/// The text of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'a> {
    /// For errors.
    pub(super) name: &'a str,
    pub(super) text: &'a str,
    /// Where other files are looked for.
    pub(super) folder: &'a Path,
}

impl Source<'_> {
    /// The line of a place, from 1.
    pub(super) fn line(&self, span: &Span) -> usize {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        before.matches('\n').count() + 1
    }

    /// The text is not TOML, or has an unknown key or value.
    pub(super) fn syntax(&self, error: &toml::de::Error) -> NetworkFileError {
        let span = error.span().unwrap_or(0..0);
        let value = self.text.get(span.clone()).unwrap_or("");
        NetworkFileError::Syntax {
            name: self.name.to_owned(),
            line: self.line(&span),
            // Some of the library's messages have several lines.
            reason: reason(error.message()) + &hint(error.message(), value),
            value: value.chars().take(EXCERPT_CHARS).collect(),
        }
    }

    /// Milliseconds, to the nanosecond.
    pub(super) fn millis(
        &self,
        key: &'static str,
        value: &Number,
    ) -> Result<Nanos, NetworkFileError> {
        let millis = self.number(key, value, 0.0, 1e12, "between 0 and 10^12")?;
        Ok(Nanos((millis * 1e6).round() as u64))
    }

    /// Bytes per second of a rate in Mb/s.
    pub(super) fn rate(&self, key: &'static str, value: &Number) -> Result<u64, NetworkFileError> {
        let range = "between 0.000008 and 10^9";
        let mbps = self.number(key, value, MIN_MBPS, 1e9, range)?;
        Ok((mbps * 125_000.0).round() as u64)
    }

    /// The same where nothing may be sent for a while.
    pub(super) fn rate_or_zero(
        &self,
        key: &'static str,
        value: &Number,
    ) -> Result<u64, NetworkFileError> {
        match *value.get_ref() {
            0.0 => Ok(0),
            _ => self.rate(key, value),
        }
    }

    fn number(
        &self,
        key: &'static str,
        value: &Number,
        min: f64,
        max: f64,
        range: &'static str,
    ) -> Result<f64, NetworkFileError> {
        let number = *value.get_ref();
        if (min..=max).contains(&number) {
            return Ok(number);
        }
        Err(NetworkFileError::Number {
            name: self.name.to_owned(),
            line: self.line(&value.span()),
            key,
            value: number,
            range,
        })
    }

    /// A link's table is at fault, at this place.
    pub(super) fn link(&self, link: &str, span: &Span, reason: impl ToString) -> NetworkFileError {
        NetworkFileError::Link {
            name: self.name.to_owned(),
            line: self.line(span),
            link: link.to_owned(),
            reason: reason.to_string(),
        }
    }

    /// The parts do not make a network, because of a table at this place.
    pub(super) fn network(&self, span: &Span, source: NetworkError) -> NetworkFileError {
        NetworkFileError::Network {
            name: self.name.to_owned(),
            line: self.line(span),
            source: Box::new(source),
        }
    }

    /// The parts do not make a network, because of a value somewhere.
    pub(super) fn whole(&self, source: NetworkError) -> NetworkFileError {
        let span = self.find(|file| culprit::place(file, &source));
        self.network(&span, source)
    }

    /// Looks for a place in the text; its beginning will do if there is none.
    pub(super) fn find(&self, place: impl FnOnce(&DeTable<'_>) -> Option<Span>) -> Span {
        let file = DeTable::parse(self.text).ok();
        file.and_then(|file| place(file.get_ref())).unwrap_or(0..0)
    }

    /// Refuses a stage that is out of its range.
    pub(super) fn check(
        &self,
        link: &str,
        span: &Span,
        valid: Result<(), ConfigError>,
    ) -> Result<(), NetworkFileError> {
        valid.map_err(|error| self.link(link, span, error))
    }
}

/// The slowest rate: a byte per second.
const MIN_MBPS: f64 = 8e-6;

/// How much of an offending text an error repeats.
const EXCERPT_CHARS: usize = 40;

/// How to write a table that a file may have several of.
fn hint(message: &str, key: &str) -> String {
    let several = ["link", "host", "traffic", "path", "rebind"];
    if message.contains("duplicate key") && several.contains(&key) {
        format!(": write [[{key}]] for each")
    } else {
        String::new()
    }
}

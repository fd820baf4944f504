//! Measured rates as comma-separated values, made into traces.
//!
//! The header names the two columns and their units: `time_s` or `time_ms`, and `rate_mbps` (10^6 bits per second) or
//! `rate_bytes_per_s`. Other columns are ignored. A rate holds until the next line's time.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use csv::StringRecord;
use kneepoint_emulator::trace::{OPPORTUNITY_BYTES, RateSample, RatesError, Trace};
use thiserror::Error;

/// Why a text does not hold rates. Lines are numbered from 1.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RateFileError {
    /// The file could not be read.
    #[error("cannot read {name}: {source}")]
    Read {
        /// The file.
        name: String,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The text is not CSV.
    #[error("{name}: {source}")]
    Csv {
        /// The file.
        name: String,
        /// What is wrong with it.
        source: csv::Error,
    },
    /// The header lacks a column.
    #[error("{name}:1: the header {header:?} has no column {expected}")]
    Column {
        /// The file.
        name: String,
        /// The header.
        header: String,
        /// The names that the column may have.
        expected: String,
    },
    /// The header has several columns of which one is needed.
    #[error("{name}:1: the header {header:?} has both {first} and {second}: leave one of them")]
    Columns {
        /// The file.
        name: String,
        /// The header.
        header: String,
        /// The first of them.
        first: &'static str,
        /// The next one. It may be of the same name.
        second: &'static str,
    },
    /// A line has more or fewer fields than the header.
    #[error("{name}:{line}: {fields} fields, but the header has {expected}")]
    Fields {
        /// The file.
        name: String,
        /// The line's number.
        line: u64,
        /// How many the line has.
        fields: u64,
        /// How many the header has.
        expected: u64,
    },
    /// A field is not a number.
    #[error("{name}:{line}: {column} {value:?} is not a number")]
    NotANumber {
        /// The file.
        name: String,
        /// The line's number.
        line: u64,
        /// The column's name.
        column: &'static str,
        /// The field.
        value: String,
    },
    /// A number is out of its range.
    #[error("{name}:{line}: {column} {value:?} {reason}")]
    OutOfRange {
        /// The file.
        name: String,
        /// The line's number.
        line: u64,
        /// The column's name.
        column: &'static str,
        /// The field.
        value: String,
        /// What it does not meet.
        reason: &'static str,
    },
    /// The samples have less than one opportunity, which a trace has at least.
    #[error(
        "{name}: its rates add up to {bytes:.3} bytes, less than the {OPPORTUNITY_BYTES} of one opportunity"
    )]
    TooLittle {
        /// The file.
        name: String,
        /// What the rates add up to.
        bytes: f64,
    },
    /// The samples together do not make a trace.
    #[error("{name}: {source}")]
    Samples {
        /// The file.
        name: String,
        /// Why.
        source: RatesError,
    },
}

/// Reads a file of rates; the trace's name is the path.
///
/// # Errors
/// The file cannot be read, is larger than 64 MiB, or does not hold rates.
pub fn load(path: &Path) -> Result<Trace, RateFileError> {
    let name = path.display().to_string();
    match content(path) {
        Ok(content) => read(content.as_slice(), name),
        Err(source) => Err(RateFileError::Read { name, source }),
    }
}

/// A file's content, unless it is too large to be one of rates: a device has no end.
fn content(path: &Path) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    let file = File::open(path)?;
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut content)?;
    if content.len() as u64 > MAX_FILE_BYTES {
        let reason = format!("it is larger than {MAX_FILE_BYTES} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, reason));
    }
    Ok(content)
}

/// Reads rates; the name identifies them in errors and becomes the trace's.
///
/// # Errors
/// The text does not hold rates.
pub fn read(text: impl Read, name: impl Into<String>) -> Result<Trace, RateFileError> {
    let name = name.into();
    let broken = |source| broken(&name, source);
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_reader(text);
    let header = reader.headers().map_err(broken)?.clone();
    let time = Column::find(&header, &TIMES, &name)?;
    let rate = Column::find(&header, &RATES, &name)?;
    let mut samples = Vec::new();
    let mut previous = f64::NEG_INFINITY;
    for record in reader.records() {
        let record = record.map_err(broken)?;
        let line = record.position().map_or(0, csv::Position::line);
        let millis = time.value(&record, line, &name)?;
        let bytes_per_second = rate.value(&record, line, &name)?;
        let out_of_range = |column: &Column, reason| RateFileError::OutOfRange {
            name: name.clone(),
            line,
            column: column.name,
            value: column.excerpt(&record),
            reason,
        };
        if !(millis.is_finite() && millis > previous) {
            return Err(out_of_range(&time, "does not come after the line before"));
        }
        if !(bytes_per_second.is_finite() && bytes_per_second >= 0.0) {
            return Err(out_of_range(&rate, "is not zero or a positive number"));
        }
        previous = millis;
        samples.push(RateSample {
            millis,
            bytes_per_second,
        });
    }
    let trace = Trace::from_rates(&samples, name.clone()).map_err(|source| {
        let name = name.clone();
        RateFileError::Samples { name, source }
    })?;
    let bytes = bytes(&samples);
    // Less than half of it missing is a rounding error.
    if bytes.round() < OPPORTUNITY_BYTES as f64 {
        return Err(RateFileError::TooLittle { name, bytes });
    }
    Ok(trace)
}

/// What is wrong with a text that is not CSV.
fn broken(name: &str, source: csv::Error) -> RateFileError {
    let name = name.to_owned();
    match source.kind() {
        csv::ErrorKind::UnequalLengths {
            pos: Some(at),
            expected_len: expected,
            len: fields,
        } => RateFileError::Fields {
            name,
            line: at.line(),
            fields: *fields,
            expected: *expected,
        },
        _ => RateFileError::Csv { name, source },
    }
}

/// What the rates add up to; the last one holds as long as the one before.
fn bytes(samples: &[RateSample]) -> f64 {
    let spans = samples.windows(2).map(|pair| match pair {
        [from, to] => to.millis - from.millis,
        _ => 0.0,
    });
    let last = spans.clone().next_back();
    let spans = spans.chain(last);
    let bytes = samples.iter().zip(spans);
    bytes
        .map(|(sample, millis)| sample.bytes_per_second / 1e3 * millis)
        .sum()
}

/// A column of the file.
struct Column {
    index: usize,
    name: &'static str,
    /// One of its units in milliseconds, or in bytes per second.
    unit: f64,
}

impl Column {
    fn find(
        header: &StringRecord,
        names: &[(&'static str, f64)],
        file: &str,
    ) -> Result<Self, RateFileError> {
        let columns = header.iter().enumerate().filter_map(|(index, title)| {
            let known = names.iter().find(|(name, _)| *name == title);
            known.map(|&(name, unit)| Self { index, name, unit })
        });
        let columns: Vec<Self> = columns.collect();
        let header = || header.iter().collect::<Vec<_>>().join(",");
        // Which of several was meant is not known.
        if let [first, second, ..] = &columns[..] {
            return Err(RateFileError::Columns {
                name: file.to_owned(),
                header: header(),
                first: first.name,
                second: second.name,
            });
        }
        columns.into_iter().next().ok_or_else(|| {
            let expected: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
            RateFileError::Column {
                name: file.to_owned(),
                header: header(),
                expected: expected.join(" or "),
            }
        })
    }

    fn value(&self, record: &StringRecord, line: u64, file: &str) -> Result<f64, RateFileError> {
        match self.text(record).parse::<f64>() {
            Ok(value) => Ok(value * self.unit),
            Err(_) => Err(RateFileError::NotANumber {
                name: file.to_owned(),
                line,
                column: self.name,
                value: self.excerpt(record),
            }),
        }
    }

    fn excerpt(&self, record: &StringRecord) -> String {
        self.text(record).chars().take(EXCERPT_CHARS).collect()
    }

    fn text<'a>(&self, record: &'a StringRecord) -> &'a str {
        record.get(self.index).unwrap_or("")
    }
}

const TIMES: [(&str, f64); 2] = [("time_s", 1e3), ("time_ms", 1.0)];
const RATES: [(&str, f64); 2] = [("rate_mbps", 125_000.0), ("rate_bytes_per_s", 1.0)];

/// How much of an offending field an error repeats.
const EXCERPT_CHARS: usize = 40;

/// The largest file of rates, in bytes.
const MAX_FILE_BYTES: u64 = 64 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_come_from_the_header() {
        let expected = read(&b"time_ms,rate_bytes_per_s\n0,150400\n20,300800\n"[..], "t").unwrap();
        assert_eq!(expected.millis(), [10, 20, 25, 30, 35, 40]);
        let text = "id, time_s, rate_mbps\nx, 5, 1.2032\ny, 5.02, 2.4064\n";
        assert_eq!(read(text.as_bytes(), "t").unwrap(), expected);
    }

    #[test]
    fn bad_files_are_refused_with_line_and_value() {
        // A file, in which \n ends a line, and why it is refused.
        let cases = r#"
time,rate_mbps\n => t:1: the header "time,rate_mbps" has no column time_s or time_ms
time_s,rate\n => t:1: the header "time_s,rate" has no column rate_mbps or rate_bytes_per_s
time_s,rate_mbps,rate_mbps\n => t:1: the header "time_s,rate_mbps,rate_mbps" has both rate_mbps and rate_mbps: leave one of them
time_ms,time_s,rate_mbps\n => t:1: the header "time_ms,time_s,rate_mbps" has both time_ms and time_s: leave one of them
time_s,rate_mbps\n1,1,1\n => t:2: 3 fields, but the header has 2
time_s,rate_mbps\n1,1\n2\n => t:3: 1 fields, but the header has 2
time_s,rate_mbps\n0,1\n1e300,1\n => t: the samples span 2e303 ms, but 31536000000 ms is the most
time_s,rate_mbps\n1,fast\n => t:2: rate_mbps "fast" is not a number
time_s,rate_mbps\n1,1\n,1\n => t:3: time_s "" is not a number
time_s,rate_mbps\n2,1\n1,1\n => t:3: time_s "1" does not come after the line before
time_s,rate_mbps\n1,1\n2,-5\n => t:3: rate_mbps "-5" is not zero or a positive number
time_s,rate_mbps\n1,1\n2,inf\n => t:3: rate_mbps "inf" is not zero or a positive number
time_s,rate_mbps\n0,0\n1,0\n => t: its rates add up to 0.000 bytes, less than the 1504 of one opportunity
time_s,rate_mbps\n0,1e-9\n1,0.006\n => t: its rates add up to 750.000 bytes, less than the 1504 of one opportunity
time_s,rate_mbps\n1,1\n => t: a trace takes at least two samples
"#;
        for case in cases.trim().lines() {
            let (text, message) = case.split_once(" => ").unwrap();
            let text = text.replace("\\n", "\n");
            assert_eq!(read(text.as_bytes(), "t").unwrap_err().to_string(), message);
        }
    }
}

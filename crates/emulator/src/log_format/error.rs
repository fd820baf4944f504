//! Errors in a log.

use std::io;
use std::path::PathBuf;

/// Why a text is not a log. Lines are numbered from 1.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// The file could not be read.
    #[error("cannot read log {path}: {source}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// There is no event at all.
    #[error("{name}: the log has no events")]
    Empty {
        /// The log's name.
        name: String,
    },
    /// A line is not UTF-8.
    #[error("{name}:{line}: {value:?} is not text")]
    NotText {
        /// The log's name.
        name: String,
        /// The line's number.
        line: usize,
        /// The line, as far as it is text, cut short if it is long.
        value: String,
    },
    /// An event comes before the line that says which millisecond counts as zero.
    #[error("{name}:{line}: an event before the line \"# base timestamp: N\"")]
    NoBase {
        /// The log's name.
        name: String,
        /// The line's number.
        line: usize,
    },
    /// The base is given again.
    #[error("{name}:{line}: a second base timestamp, {value}")]
    SecondBase {
        /// The log's name.
        name: String,
        /// The line's number.
        line: usize,
        /// The second base, in milliseconds.
        value: u64,
    },
    /// A line ends too early.
    #[error("{name}:{line}: {what} is missing in {value:?}")]
    Missing {
        /// The log's name.
        name: String,
        /// The line's number.
        line: usize,
        /// The missing part.
        what: &'static str,
        /// The line, cut short if it is long.
        value: String,
    },
    /// A field is not a decimal integer that fits 64 bits.
    #[error("{name}:{line}: {what} {value:?} is not a whole number")]
    NotANumber {
        /// The log's name.
        name: String,
        /// The line's number.
        line: usize,
        /// The field.
        what: &'static str,
        /// The field's text, cut short if it is long.
        value: String,
    },
    /// An event's kind is not known.
    #[error("{name}:{line}: unknown event {value:?}: expected one of +, -, # and d")]
    UnknownEvent {
        /// The log's name.
        name: String,
        /// The line's number.
        line: usize,
        /// The text in the place of the kind, truncated if it is long.
        value: String,
    },
    /// An event lies before the base.
    #[error("{name}:{line}: {value} ms is before the base timestamp, {base} ms")]
    BeforeBase {
        /// The log's name.
        name: String,
        /// The line's number.
        line: usize,
        /// The event's time, in milliseconds.
        value: u64,
        /// The base, in milliseconds.
        base: u64,
    },
    /// An event lies before the one in the line before.
    #[error("{name}:{line}: {value} ms after the base timestamp comes after {before} ms")]
    Backwards {
        /// The log's name.
        name: String,
        /// The line's number.
        line: usize,
        /// The event's time, in milliseconds after the base.
        value: u64,
        /// That of the event before.
        before: u64,
    },
    /// A departing packet has been on its way since before the base.
    #[error("{name}:{line}: a delay of {value} ms at {time} ms after the base timestamp")]
    DelayTooLong {
        /// The log's name.
        name: String,
        /// The line's number.
        line: usize,
        /// The delay, in milliseconds.
        value: u64,
        /// The time since the base, in milliseconds.
        time: u64,
    },
}

debug_as_display!(LogError);

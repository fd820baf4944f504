//! What can be wrong with a trace.

use std::io;
use std::path::PathBuf;

/// Why a text is not a trace. Lines are numbered from 1.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The file could not be read.
    #[error("cannot read trace {path}: {source}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// There is no line at all.
    #[error("{name}: the trace is empty")]
    Empty {
        /// The trace's name.
        name: String,
    },
    /// A line holds nothing.
    #[error("{name}:{line}: empty line")]
    EmptyLine {
        /// The trace's name.
        name: String,
        /// The line's number.
        line: usize,
    },
    /// A line is not a decimal integer that fits 64 bits.
    #[error("{name}:{line}: {value:?} is not a whole number of milliseconds")]
    NotANumber {
        /// The trace's name.
        name: String,
        /// The line's number.
        line: usize,
        /// The line's text, cut short if it is long.
        value: String,
    },
    /// A time lies before the time on the previous line.
    #[error("{name}:{line}: {value} ms comes after {previous} ms, but times must not decrease")]
    Decreasing {
        /// The trace's name.
        name: String,
        /// The line's number.
        line: usize,
        /// The time on this line, in milliseconds.
        value: u64,
        /// The time on the line before, in milliseconds.
        previous: u64,
    },
    /// The last time is zero, so that the trace would repeat infinitely often at once.
    #[error(
        "{name}:{line}: the last time is 0 ms, but it is the trace's period and must be positive"
    )]
    ZeroPeriod {
        /// The trace's name.
        name: String,
        /// The line's number.
        line: usize,
    },
}

debug_as_display!(TraceError);

/// One time for each line. Order is not checked here.
pub(super) fn lines(text: &[u8], name: &str) -> Result<Vec<u64>, TraceError> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    text.split(|byte| *byte == b'\n')
        .enumerate()
        .map(|(index, line)| {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.is_empty() {
                return Err(TraceError::EmptyLine {
                    name: name.to_owned(),
                    line: index + 1,
                });
            }
            number(line).ok_or_else(|| TraceError::NotANumber {
                name: name.to_owned(),
                line: index + 1,
                value: excerpt(line),
            })
        })
        .collect()
}

/// Decimal digits only: no sign, no space.
fn number(line: &[u8]) -> Option<u64> {
    line.iter().try_fold(0_u64, |value, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        value.checked_mul(10)?.checked_add(digit)
    })
}

fn excerpt(line: &[u8]) -> String {
    String::from_utf8_lossy(&line[..line.len().min(EXCERPT_BYTES)]).into_owned()
}

/// How much of an offending line an error repeats, in bytes.
const EXCERPT_BYTES: usize = 40;

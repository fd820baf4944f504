//! Packet-delivery traces in mahimahi's format.
//!
//! A trace has one whole number of milliseconds on each line, in non-decreasing order. Each line is one opportunity to
//! send up to [`OPPORTUNITY_BYTES`]; equal lines are separate opportunities. After the last line the trace starts
//! again, shifted by the last line's time: a leading 0 coincides with the previous cycle's last opportunity.

mod error;
mod rates;
mod statistics;
mod transform;

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::{fmt, io};

use crate::file;
use crate::time::Nanos;

pub use error::TraceError;
pub use rates::{MAX_OPPORTUNITIES, RateSample, RatesError};
pub use statistics::{Bins, OUTAGE_MILLIS, RateBins, TraceStatistics, Wrap};
pub use transform::{CutError, ScaleError};

/// A valid, endlessly repeating trace. Cloning is cheap: the clones share the times.
#[derive(Clone, PartialEq, Eq)]
pub struct Trace {
    inner: Arc<Inner>,
}

#[derive(PartialEq, Eq)]
struct Inner {
    name: String,
    /// Non-decreasing, not empty, the last one positive.
    millis: Vec<u64>,
}

impl Trace {
    /// Parses a trace from text. The name identifies the trace in errors and reports.
    ///
    /// Lines end with a line feed, or with a carriage return and a line feed; the last one may lack its end. A byte order mark at the
    /// beginning is skipped.
    ///
    /// # Errors
    /// The first line that is empty, not a number or less than the one before; an empty text; a last line of 0.
    pub fn parse(text: impl AsRef<[u8]>, name: impl Into<String>) -> Result<Self, TraceError> {
        let (text, name) = (text.as_ref(), name.into());
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        let millis = error::lines(text, &name)?;
        Self::from_millis(millis, name)
    }

    /// Makes a trace of opportunities' times in milliseconds.
    ///
    /// # Errors
    /// As for [`parse`](Self::parse); the n-th time counts as line n.
    pub fn from_millis(millis: Vec<u64>, name: impl Into<String>) -> Result<Self, TraceError> {
        let name = name.into();
        for (index, pair) in millis.windows(2).enumerate() {
            if let [previous, value] = *pair
                && value < previous
            {
                return Err(TraceError::Decreasing {
                    name,
                    line: index + 2,
                    value,
                    previous,
                });
            }
        }
        match millis.last() {
            None => Err(TraceError::Empty { name }),
            Some(0) => Err(TraceError::ZeroPeriod {
                name,
                line: millis.len(),
            }),
            Some(_) => Ok(Self {
                inner: Arc::new(Inner { name, millis }),
            }),
        }
    }

    /// Makes a trace of times that are known to be valid.
    pub(crate) fn from_ordered(millis: Vec<u64>, name: String) -> Self {
        debug_assert!(millis.is_sorted() && millis.last().is_some_and(|last| *last > 0));
        Self {
            inner: Arc::new(Inner { name, millis }),
        }
    }

    /// Reads a trace from a file; its name is the path.
    ///
    /// # Errors
    /// The file cannot be read, is larger than [`MAX_FILE_BYTES`], or holds something [`parse`](Self::parse) rejects.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, TraceError> {
        let path = path.as_ref();
        let text = file::read(path, MAX_FILE_BYTES).map_err(|source| TraceError::Read {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(text, path.display().to_string())
    }

    /// Writes the trace in the format that [`parse`](Self::parse) reads. Unbuffered: pass a buffered writer.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(&self, mut writer: impl Write) -> io::Result<()> {
        self.inner
            .millis
            .iter()
            .try_for_each(|millis| writeln!(writer, "{millis}"))
    }

    /// The name given when the trace was made.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// The times of one cycle, in milliseconds.
    pub fn millis(&self) -> &[u64] {
        &self.inner.millis
    }

    /// The time after which the trace repeats: its last entry.
    pub fn period(&self) -> Nanos {
        Nanos::from_millis(self.period_millis())
    }

    /// The rate averaged over a cycle, in bytes per second.
    pub fn mean_rate(&self) -> f64 {
        let bytes = self.inner.millis.len() as f64 * OPPORTUNITY_BYTES as f64;
        bytes * 1e3 / self.period_millis() as f64
    }

    /// The bytes that the opportunities after `from` and up to `to`, inclusive, could carry.
    pub fn capacity(&self, from: Nanos, to: Nanos) -> u64 {
        let opportunities = self.count_until(to).saturating_sub(self.count_until(from));
        opportunities.saturating_mul(OPPORTUNITY_BYTES)
    }

    /// The times of all opportunities, cycle after cycle, until time ends.
    pub fn opportunities(&self) -> Opportunities<'_> {
        Opportunities::new(self, 0)
    }

    /// The times of the opportunities after `time`, exclusive.
    pub fn opportunities_after(&self, time: Nanos) -> Opportunities<'_> {
        Opportunities::new(self, self.count_until(time))
    }

    /// The number of opportunities up to `time`, inclusive; so also the index of the first one after it.
    pub(crate) fn count_until(&self, time: Nanos) -> u64 {
        let millis = time.0 / NANOS_PER_MILLI;
        let (cycle, within) = (millis / self.period_millis(), millis % self.period_millis());
        let count = self.inner.millis.partition_point(|&entry| entry <= within);
        cycle
            .saturating_mul(self.inner.millis.len() as u64)
            .saturating_add(count as u64)
    }

    /// The time of an opportunity, counted from 0 and over all cycles.
    pub(crate) fn opportunity(&self, index: u64) -> Nanos {
        let length = self.inner.millis.len() as u64;
        let (cycle, within) = (index / length, index % length);
        let entry = usize::try_from(within)
            .ok()
            .and_then(|within| self.inner.millis.get(within));
        let base = cycle.saturating_mul(self.period_millis());
        entry.map_or(Nanos::MAX, |entry| {
            Nanos::from_millis(base.saturating_add(*entry))
        })
    }

    /// Positive, as the constructors have made sure.
    fn period_millis(&self) -> u64 {
        self.inner.millis.last().copied().unwrap_or(1)
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trace")
            .field("name", &self.inner.name)
            .field("opportunities", &self.inner.millis.len())
            .field("period", &self.period())
            .finish()
    }
}

/// The times of one cycle in milliseconds, without the name: traces that drive a link alike are written alike.
#[cfg(feature = "serde")]
impl serde::Serialize for Trace {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.millis())
    }
}

/// What one opportunity carries, in bytes: mahimahi's PACKET_SIZE, an Ethernet payload and 4 bytes of framing.
pub const OPPORTUNITY_BYTES: u64 = 1504;

/// The largest trace file, in bytes: ten minutes of 400 Mb/s. What is larger, is most likely not a trace.
pub const MAX_FILE_BYTES: u64 = 128 << 20;

/// Of UTF-8, as some editors write it.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Nanoseconds per millisecond.
const NANOS_PER_MILLI: u64 = 1_000_000;

/// The times of a trace's opportunities, in order; ends when [`Nanos`] ends. Skipping with `nth` costs no more than a step.
#[derive(Debug, Clone)]
pub struct Opportunities<'a> {
    trace: &'a Trace,
    next: u64,
}

impl<'a> Opportunities<'a> {
    fn new(trace: &'a Trace, next: u64) -> Self {
        Self { trace, next }
    }
}

impl Iterator for Opportunities<'_> {
    type Item = Nanos;

    fn next(&mut self) -> Option<Nanos> {
        let time = self.trace.opportunity(self.next);
        self.next = self.next.saturating_add(1);
        (time < Nanos::MAX).then_some(time)
    }

    fn nth(&mut self, skipped: usize) -> Option<Nanos> {
        self.next = self.next.saturating_add(skipped as u64);
        self.next()
    }
}

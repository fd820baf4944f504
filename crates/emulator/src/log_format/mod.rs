//! Logs of a link's packets as text: in mahimahi's format, as CSV and as JSON lines.
//!
//! A [`Writer`] takes packets as they are settled, and writes what happened in the order of time. [`write_link`] writes
//! the log of a link in virtual time:
//!
//! ```
//! use kneepoint_emulator::link::{Link, LinkConfig, MAHIMAHI_OVERHEAD, Shaper};
//! use kneepoint_emulator::log_format::{LogFormat, write_link};
//! use kneepoint_emulator::packet::Packet;
//! use kneepoint_emulator::time::Nanos;
//! use kneepoint_emulator::trace::Trace;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let shaper = Shaper::Trace(Trace::parse("2\n4\n", "every 2 ms")?);
//! let mut link = Link::new(LinkConfig { overhead: MAHIMAHI_OVERHEAD, log: true, ..LinkConfig::new(shaper) }, 1)?;
//! let (source, destination) = ("10.0.0.1:1".parse()?, "10.0.0.2:2".parse()?);
//! link.offer(Nanos::from_millis(3), Packet { source, destination, ecn: None, payload: vec![0; 1200] });
//! link.poll(Nanos::from_millis(5), |_, _| ());
//!
//! let mut text = Vec::new();
//! write_link(&link, Nanos::from_millis(5), LogFormat::Mahimahi, &mut text)?;
//! let text = String::from_utf8(text)?;
//! assert_eq!(text, "# base timestamp: 0\n2 # 1504\n3 + 1232\n4 # 1504\n4 - 1232 1\n");
//! # Ok(())
//! # }
//! ```
//!
//! [`Log`] reads mahimahi's format:
//!
//! ```
//! use kneepoint_emulator::log_format::Log;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let log = Log::parse("# base timestamp: 100\n101 + 1504\n103 # 1504\n103 - 1504 2\n", "example")?;
//! let statistics = log.statistics();
//! assert_eq!(statistics.utilization(), Some(1.0));
//! assert_eq!(statistics.queue_delay_p95_ms, Some(2));
//! # Ok(())
//! # }
//! ```

mod error;
mod event;
mod json;
mod mahimahi;
mod read;
mod statistics;
#[cfg(test)]
mod tests;
mod writer;

use std::fmt;
use std::io::{self, Write};
use std::str::FromStr;

use thiserror::Error;

pub use self::error::LogError;
pub use self::read::{Event, EventKind, Log, MAX_FILE_BYTES};
pub use self::statistics::LogStatistics;
pub use self::writer::Writer;
use crate::link::{Flow, Link, Record};
use crate::time::Nanos;

/// How a log is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// As mahimahi's mm-link does, in whole milliseconds: `t + bytes` for an arrival, `t d packets bytes` for a drop,
    /// `t # bytes` for what the shaper could send, and `t - bytes delay` for a departure from it. A shaper without
    /// opportunities has one line a millisecond for what it could send, and one without a limit none. All drops are there, with those before the queue.
    ///
    /// Some versions of mm-throughput-graph stop at the first drop, in mm-link's own logs too: `grep -v ' d '` helps.
    #[default]
    Mahimahi,
    /// As `Mahimahi`, with the packet's lateness in microseconds after each departure, or `-` if there is none.
    Lateness,
    /// One line for every packet, in the order of arrival, under a line of names.
    Csv,
    /// One object for every event, in the order of time.
    Json,
}

impl LogFormat {
    /// Every format.
    pub const ALL: [Self; 4] = [Self::Mahimahi, Self::Lateness, Self::Csv, Self::Json];

    /// The format's name on a command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mahimahi => "mahimahi",
            Self::Lateness => "lateness",
            Self::Csv => "csv",
            Self::Json => "json",
        }
    }
}

impl fmt::Display for LogFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for LogFormat {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Self, UnknownFormat> {
        let format = Self::ALL.into_iter().find(|format| format.name() == text);
        format.ok_or_else(|| UnknownFormat(text.to_owned()))
    }
}

/// A name that belongs to no format.
#[derive(Clone, PartialEq, Eq, Error)]
#[error("unknown format '{0}': expected mahimahi, lateness, csv or json")]
pub struct UnknownFormat(String);

debug_as_display!(UnknownFormat);

/// A packet in a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoggedPacket {
    /// From where to where.
    pub flow: Flow,
    /// Its record.
    pub record: Record,
    /// By how much it was handed over later than due; `None` in virtual time, where nothing is late, and for a packet
    /// that was not handed over.
    pub lateness: Option<Nanos>,
}

/// A consumer of a link's packets, in the order of their arrival.
pub trait PacketSink: Send {
    /// Takes a packet whose fate is settled.
    ///
    /// # Errors
    /// Those of a writer.
    fn packet(&mut self, packet: &LoggedPacket) -> io::Result<()>;

    /// Learns that what arrives from now on arrives at `until` or later. The link is asked for its capacity only.
    ///
    /// # Errors
    /// Those of a writer.
    fn advance(&mut self, until: Nanos, link: &Link) -> io::Result<()>;

    /// How many packets, or events of packets, it keeps in memory because something earlier may still come.
    fn waiting(&self) -> usize {
        0
    }

    /// Learns that the log ends at `end`. What would have happened later, has not.
    ///
    /// # Errors
    /// Those of a writer.
    fn finish(&mut self, end: Nanos, link: &Link) -> io::Result<()>;
}

/// Writes what happened on a link up to `end`, inclusive. Without a [log](Link::log), that is what its shaper could send.
///
/// # Errors
/// Those of the writer.
pub fn write_link(
    link: &Link,
    end: Nanos,
    format: LogFormat,
    writer: impl Write + Send,
) -> io::Result<()> {
    let mut writer = Writer::new(writer, format)?;
    if let Some(log) = link.log() {
        for record in log.records() {
            if let Some(flow) = log.flow(record.flow) {
                let (record, lateness) = (*record, None);
                writer.packet(&LoggedPacket {
                    flow,
                    record,
                    lateness,
                })?;
            }
        }
    }
    writer.finish(end, link)
}

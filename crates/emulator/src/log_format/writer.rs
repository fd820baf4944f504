//! The writer of all formats.

use std::io::{self, Write};

use super::event::{Event, Events};
use super::{LogFormat, LoggedPacket, PacketSink, csv, json, mahimahi};
use crate::link::Link;
use crate::time::Nanos;

/// Writes a link's packets in a [format](LogFormat). What is written one event at a time is held back until nothing
/// earlier can come, so pass a buffered writer, and [finish](PacketSink::finish).
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    format: LogFormat,
    events: Events,
}

impl<W: Write> Writer<W> {
    /// Begins a log.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn new(mut out: W, format: LogFormat) -> io::Result<Self> {
        let header = match format {
            LogFormat::Mahimahi | LogFormat::Lateness => mahimahi::HEADER,
            LogFormat::Csv => csv::HEADER,
            LogFormat::Json => "",
        };
        out.write_all(header.as_bytes())?;
        Ok(Self {
            out,
            format,
            events: Events::default(),
        })
    }

    fn write_before(&mut self, until: Nanos, link: &Link) -> io::Result<()> {
        let (out, format) = (&mut self.out, self.format);
        let mut write = |time: Nanos, event: Event| match format {
            LogFormat::Mahimahi => mahimahi::write(out, time, event, false),
            LogFormat::Lateness => mahimahi::write(out, time, event, true),
            LogFormat::Json => json::write(out, time, event),
            LogFormat::Csv => Ok(()),
        };
        self.events.before(until, link, &mut write)
    }
}

impl<W: Write + Send> PacketSink for Writer<W> {
    fn packet(&mut self, packet: &LoggedPacket) -> io::Result<()> {
        if self.format == LogFormat::Csv {
            return csv::write(&mut self.out, packet);
        }
        self.events.enter(packet);
        Ok(())
    }

    fn advance(&mut self, until: Nanos, link: &Link) -> io::Result<()> {
        if self.format == LogFormat::Csv {
            return Ok(());
        }
        self.write_before(until, link)
    }

    fn waiting(&self) -> usize {
        self.events.waiting()
    }

    fn finish(&mut self, end: Nanos, link: &Link) -> io::Result<()> {
        self.advance(end + Nanos(1), link)?;
        self.out.flush()
    }
}

//! The writer of all formats.

use std::io;
use std::io::Write;

use super::event::{Event, Events};
use super::mahimahi::micros;
use super::{LogFormat, LoggedPacket, PacketSink, json, mahimahi};
use crate::link::{Link, PacketOutcome};
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
            LogFormat::Csv => CSV_HEADER,
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
            return write_csv(&mut self.out, packet);
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

/// One line for every packet. No value holds a comma or a quote.
const CSV_HEADER: &str = "arrival_ms,source,destination,bytes,duplicate,fate,departure_ms,delivery_ms,drop_ms,lateness_us\n";

fn write_csv(out: &mut dyn Write, packet: &LoggedPacket) -> io::Result<()> {
    let (record, flow) = (&packet.record, packet.flow);
    write!(
        out,
        "{},{},{},{},{}",
        record.arrival.as_millis_f64(),
        flow.source,
        flow.destination,
        record.size,
        record.duplicate
    )?;
    match record.outcome {
        PacketOutcome::Queued => write!(out, ",queued,,,"),
        PacketOutcome::Sent {
            departure,
            delivery,
        } => write!(
            out,
            ",sent,{},{},",
            departure.as_millis_f64(),
            delivery.as_millis_f64()
        ),
        PacketOutcome::Dropped { time, cause } => {
            write!(out, ",{cause},,,{}", time.as_millis_f64())
        }
    }?;
    writeln!(out, ",{}", packet.lateness.map(micros).unwrap_or_default())
}

//! One line for every packet. No value holds a comma or a quote.

use std::io::{self, Write};

use super::LoggedPacket;
use super::mahimahi::micros;
use crate::link::PacketOutcome;

pub(super) const HEADER: &str = "arrival_ms,source,destination,bytes,duplicate,fate,departure_ms,delivery_ms,drop_ms,lateness_us\n";

pub(super) fn write(out: &mut dyn Write, packet: &LoggedPacket) -> io::Result<()> {
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

//! mm-link's format, which mm-throughput-graph and mm-delay-graph read.

use std::io::{self, Write};

use super::event::Event;
use crate::time::Nanos;

/// Times are relative to the start of the link, which is the start of its trace.
pub(super) const HEADER: &str = "# base timestamp: 0\n";

pub(super) fn write(
    out: &mut dyn Write,
    time: Nanos,
    event: Event,
    with_lateness: bool,
) -> io::Result<()> {
    let millis = millis(time);
    match event {
        Event::Arrival { bytes } => writeln!(out, "{millis} + {bytes}"),
        Event::Drop { bytes, .. } => writeln!(out, "{millis} d 1 {bytes}"),
        Event::Opportunity { bytes } => writeln!(out, "{millis} # {bytes}"),
        Event::Departure {
            bytes,
            arrival,
            lateness,
        } => {
            // Between the times as they are written, as mm-link does.
            let delay = millis - self::millis(arrival);
            match lateness {
                _ if !with_lateness => writeln!(out, "{millis} - {bytes} {delay}"),
                None => writeln!(out, "{millis} - {bytes} {delay} -"),
                Some(late) => writeln!(out, "{millis} - {bytes} {delay} {}", micros(late)),
            }
        }
    }
}

/// Whole milliseconds.
fn millis(time: Nanos) -> u64 {
    time.0 / 1_000_000
}

/// Microseconds with one decimal.
pub(super) fn micros(time: Nanos) -> String {
    format!("{:.1}", time.0 as f64 / 1e3)
}

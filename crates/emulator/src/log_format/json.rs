//! JSON lines. Every value is a number or a fixed word, so nothing needs escaping.

use std::io::{self, Write};

use super::event::Event;
use super::mahimahi::micros;
use crate::time::Nanos;

pub(super) fn write(out: &mut dyn Write, time: Nanos, event: Event) -> io::Result<()> {
    let millis = time.as_millis_f64();
    match event {
        Event::Arrival { bytes } => writeln!(
            out,
            r#"{{"time_ms":{millis},"event":"arrival","bytes":{bytes}}}"#
        ),
        Event::Drop { bytes, cause } => writeln!(
            out,
            r#"{{"time_ms":{millis},"event":"drop","packets":1,"bytes":{bytes},"cause":"{cause}"}}"#
        ),
        Event::Opportunity { bytes } => writeln!(
            out,
            r#"{{"time_ms":{millis},"event":"opportunity","bytes":{bytes}}}"#
        ),
        Event::Departure {
            bytes,
            arrival,
            lateness,
        } => {
            let delay = (time - arrival).as_millis_f64();
            let lateness = lateness.map_or_else(|| "null".to_owned(), micros);
            writeln!(
                out,
                r#"{{"time_ms":{millis},"event":"departure","bytes":{bytes},"delay_ms":{delay},"lateness_us":{lateness}}}"#
            )
        }
    }
}

//! quinn's qlog, as qvis can draw it.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value, json};

use crate::metrics::stats::rounded;

/// Mends the qlog that quinn 0.11 writes into it, event by event.
///
/// - quinn has a packet's size in `header.length`. qvis takes `raw.length`; without it no packet counts, and the time axis of the
///   congestion diagram has no length.
/// - quinn has round-trip times in seconds. qlog has milliseconds, and so has noq, whose header has `common_fields`.
/// - quinn gives the first events of a connection another group than the others. qvis draws a group at a time. A file is of one
///   connection, so groups go.
/// - quinn does not say whose file it is, and qvis' sequence diagram takes it for a server's. A client's begins with a packet it sent,
///   a server's with one it received.
///
/// A file that was mended stays as it is. So does one that does not begin with a qlog's header, and a line that is no event.
#[derive(Debug)]
pub struct ForQvis<W: Write> {
    inner: W,
    /// The line under way.
    line: Vec<u8>,
    /// The header waits for the first event, which tells whose file it is.
    header: Option<(Vec<u8>, Value)>,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The first line is the header.
    Header,
    Events {
        rtts_in_seconds: bool,
    },
    /// It was mended before.
    Done,
}

impl<W: Write> ForQvis<W> {
    /// Writes into `inner`.
    pub fn new(inner: W) -> Self {
        Self {
            inner,
            line: Vec::new(),
            header: None,
            state: State::Header,
        }
    }

    /// Writes the line under way, which is whole.
    fn end_line(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        // A record begins with a separator (RFC 7464).
        let begins = line.iter().take_while(|&&byte| byte == SEPARATOR).count();
        let (separators, text) = line.split_at(begins);
        let began = self.state != State::Header;
        let Some(mended) = self.mended(text) else {
            self.write_header(None)?;
            return self.inner.write_all(&line);
        };
        if !began {
            self.header = Some((separators.to_vec(), mended));
            return Ok(());
        }
        self.write_header(mended["name"].as_str())?;
        self.write_record(separators, &mended)
    }

    /// Writes the header if it waits.
    fn write_header(&mut self, first_event: Option<&str>) -> io::Result<()> {
        let Some((separators, mut header)) = self.header.take() else {
            return Ok(());
        };
        let side = match first_event {
            Some("transport:packet_sent") => Some("client"),
            Some("transport:packet_received") => Some("server"),
            _ => None,
        };
        if let Some(side) = side
            && let Some(known) = header.pointer_mut("/trace/vantage_point/type")
            && known == "unknown"
        {
            *known = json!(side);
        }
        self.write_record(&separators, &header)
    }

    fn write_record(&mut self, separators: &[u8], record: &Value) -> io::Result<()> {
        self.inner.write_all(separators)?;
        serde_json::to_writer(&mut self.inner, record)?;
        self.inner.write_all(b"\n")
    }

    /// What becomes of a line; `None` if it stays.
    fn mended(&mut self, line: &[u8]) -> Option<Value> {
        if self.state == State::Done {
            return None;
        }
        let mut value: Option<Value> = serde_json::from_slice(line).ok();
        let record = value.as_mut().and_then(Value::as_object_mut);
        let is_header = |record: &Map<String, Value>| record.contains_key("qlog_version");
        if self.state == State::Header && !record.as_deref().is_some_and(is_header) {
            self.state = State::Done;
        }
        let record = record?;
        match self.state {
            State::Header => {
                let common_fields = record
                    .get("trace")
                    .and_then(|trace| trace.get("common_fields"));
                self.state = State::Events {
                    rtts_in_seconds: common_fields.is_none(),
                };
                let known = record.insert("description".to_owned(), json!(MENDED));
                if known.is_some_and(|known| known == MENDED) {
                    self.state = State::Done;
                    return None;
                }
            }
            State::Events { rtts_in_seconds } => mend_event(record, rtts_in_seconds),
            State::Done => return None,
        }
        value
    }
}

fn mend_event(event: &mut Map<String, Value>, rtts_in_seconds: bool) {
    event.remove("group_id");
    let Some(data) = event.get_mut("data").and_then(Value::as_object_mut) else {
        return;
    };
    if let Some(length @ Value::Number(_)) =
        data.get("header").and_then(|header| header.get("length"))
    {
        let raw = json!({ "length": length });
        data.entry("raw").or_insert(raw);
    }
    for name in RTTS.into_iter().filter(|_| rtts_in_seconds) {
        if let Some(rtt) = data.get_mut(name)
            && let Some(seconds) = rtt.as_f64()
            && (seconds * 1e3).is_finite()
        {
            *rtt = json!(rounded(seconds * 1e3));
        }
    }
}

impl<W: Write> Write for ForQvis<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        let taken = match bytes.iter().position(|&byte| byte == b'\n') {
            Some(end) => end + 1,
            None => bytes.len(),
        };
        // What has so long a line is no qlog.
        if self.line.len() + taken > MAX_LINE {
            self.state = State::Done;
            self.write_header(None)?;
            self.inner.write_all(&std::mem::take(&mut self.line))?;
            return self.inner.write(&bytes[..taken]);
        }
        self.line.extend_from_slice(&bytes[..taken]);
        if bytes[taken - 1..taken] == *b"\n" {
            self.end_line()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// What was cut off in the middle of a line is kept as it is.
impl<W: Write> Drop for ForQvis<W> {
    fn drop(&mut self) {
        // Nobody is left to tell.
        let _ = self.write_header(None);
        let _ = self.inner.write_all(&self.line);
    }
}

/// Where the first error of a [`Watched`] writer is kept. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Failure(Arc<Mutex<Option<io::Error>>>);

impl Failure {
    /// Takes the error, if there was one.
    pub(crate) fn take(&self) -> Option<io::Error> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn keep(&self, error: io::Error) {
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(error);
    }
}

/// Keeps the first error of a writer: quinn tells nobody that it could not write.
#[derive(Debug)]
pub(crate) struct Watched<W: Write> {
    inner: W,
    failure: Failure,
}

impl<W: Write> Watched<W> {
    pub(crate) fn new(inner: W, failure: Failure) -> Self {
        Self { inner, failure }
    }
}

impl<W: Write> Write for Watched<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.inner.write(bytes).inspect_err(|error| {
            let error = io::Error::new(error.kind(), error.to_string());
            self.failure.keep(error);
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// What is still in a buffer may not fit either.
impl<W: Write> Drop for Watched<W> {
    fn drop(&mut self) {
        if let Err(error) = self.inner.flush() {
            self.failure.keep(error);
        }
    }
}

/// In the header of a file that was mended.
const MENDED: &str =
    "quinn's qlog; kneepoint added raw.length, and put round-trip times into milliseconds";

/// In quinn's `recovery:metrics_updated`.
const RTTS: [&str; 4] = ["min_rtt", "smoothed_rtt", "latest_rtt", "rtt_variance"];

/// RFC 7464, section 2.2.
const SEPARATOR: u8 = 0x1e;

/// In bytes. quinn's events have some hundreds.
const MAX_LINE: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mended(text: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut writer = ForQvis::new(&mut out);
        writer.write_all(text).unwrap();
        drop(writer);
        out
    }

    const HEADER: &str = "\x1e{\"qlog_version\":\"0.3\",\"title\":\"t\"}\n";

    #[test]
    fn packets_have_sizes_and_round_trip_times_are_in_milliseconds() {
        let events = "\x1e{\"time\":1.5,\"name\":\"transport:packet_sent\",\"data\":{\"header\":{\"length\":1200}},\"group_id\":\"ab\"}\n\
                      \x1e{\"time\":2,\"name\":\"recovery:metrics_updated\",\"data\":{\"min_rtt\":0.04,\"congestion_window\":12000}}\n\
                      \x1e{\"time\":3,\"name\":\"transport:packet_received\",\"data\":{\"header\":{\"packet_number\":1}}}\n";
        let once = mended(format!("{HEADER}{events}").as_bytes());
        let lines: Vec<Value> = once
            .split(|&byte| byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line.strip_prefix(&[SEPARATOR]).unwrap()).unwrap())
            .collect();
        assert_eq!(lines.len(), 4);
        assert_eq!(lines[0]["description"], MENDED);
        assert_eq!(lines[1]["data"]["raw"]["length"], 1200);
        assert_eq!(lines[1]["time"], 1.5);
        assert_eq!(lines[1].get("group_id"), None);
        assert_eq!(lines[2]["data"]["min_rtt"], 40.0);
        assert_eq!(lines[2]["data"]["congestion_window"], 12000);
        assert_eq!(lines[3]["data"].get("raw"), None);
        assert_eq!(mended(&once), once);
    }

    #[test]
    fn milliseconds_of_noqs_stay() {
        let text = "{\"qlog_version\":\"0.3\",\"trace\":{\"common_fields\":{\"group_id\":\"ab\"}}}\n\
                    {\"time\":2,\"data\":{\"min_rtt\":40.5}}\n";
        let out = String::from_utf8(mended(text.as_bytes())).unwrap();
        assert!(out.contains("\"min_rtt\":40.5"), "{out}");
    }

    #[test]
    fn the_first_packet_tells_whose_file_it_is() {
        let header = |side| {
            format!(
                "\x1e{{\"qlog_version\":\"0.3\",\"trace\":{{\"vantage_point\":{{\"type\":\"{side}\"}}}}}}\n"
            )
        };
        for (known, events, expected) in [
            ("unknown", vec!["transport:packet_sent"], "client"),
            (
                "unknown",
                vec!["transport:packet_received", "transport:packet_sent"],
                "server",
            ),
            (
                "unknown",
                vec!["recovery:metrics_updated", "transport:packet_sent"],
                "unknown",
            ),
            ("unknown", vec![], "unknown"),
            ("network", vec!["transport:packet_sent"], "network"),
        ] {
            let mut text = header(known);
            for name in &events {
                text += &format!("\x1e{{\"name\":\"{name}\"}}\n");
            }
            let out = String::from_utf8(mended(text.as_bytes())).unwrap();
            let mut lines = out.lines();
            let first = lines.next().unwrap().strip_prefix('\x1e').unwrap();
            let first: Value = serde_json::from_str(first).unwrap();
            assert_eq!(first["trace"]["vantage_point"]["type"], expected, "{out}");
            assert_eq!(lines.count(), events.len(), "{out}");
        }
    }

    #[test]
    fn the_header_comes_before_a_line_that_is_no_event() {
        for line in [
            "no event\n".to_owned(),
            "no end".to_owned(),
            "x".repeat(MAX_LINE + 1),
        ] {
            let out = mended(format!("{HEADER}{line}").as_bytes());
            assert!(out.starts_with(b"\x1e{\"qlog_version\""), "{}", line.len());
            assert!(out.ends_with(line.as_bytes()), "{}", line.len());
        }
    }

    #[test]
    fn without_a_header_nothing_is_mended() {
        for first in ["\u{feff}{\"qlog_version\":\"0.3\"}", "{}", "", "[[[["] {
            let text = format!("{first}\n{{\"data\":{{\"min_rtt\":0.04}},\"group_id\":\"a\"}}\n");
            assert_eq!(mended(text.as_bytes()), text.as_bytes(), "{first}");
        }
    }

    #[test]
    fn values_that_are_none_of_quinns_stay() {
        let event = "\x1e{\"data\":{\"header\":{\"length\":\"x\"},\"min_rtt\":1e308}}\n";
        let out = String::from_utf8(mended(format!("{HEADER}{event}").as_bytes())).unwrap();
        assert!(
            out.ends_with("{\"length\":\"x\"},\"min_rtt\":1e+308}}\n"),
            "{out}"
        );
    }

    #[test]
    fn an_event_that_was_cut_off_is_kept() {
        let text = format!("{HEADER}\x1e{{\"time\":1,\"na");
        assert!(mended(text.as_bytes()).ends_with(b"\x1e{\"time\":1,\"na"));
    }

    proptest! {
        /// What is no qlog comes out as it went in, however it is cut into writes.
        #[test]
        fn anything_else_is_left_alone(
            mut bytes in proptest::collection::vec(any::<u8>(), 0..2000),
            cut in 1_usize..64,
        ) {
            bytes.retain(|&byte| byte != b'{');
            let mut out = Vec::new();
            let mut writer = ForQvis::new(&mut out);
            for part in bytes.chunks(cut) {
                writer.write_all(part).unwrap();
            }
            drop(writer);
            prop_assert_eq!(out, bytes);
        }
    }
}

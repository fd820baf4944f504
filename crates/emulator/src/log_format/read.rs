//! From text to events.

use std::path::Path;

use super::LogError;
use crate::file;

/// A log. Everything that stands in its lines is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Log {
    name: String,
    base: u64,
    comments: Vec<String>,
    events: Vec<Event>,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// When, in milliseconds since the log's base.
    pub time: u64,
    /// What.
    pub kind: EventKind,
    /// The rest of the line after mahimahi's fields, which its scripts ignore.
    pub rest: String,
}

/// The kinds of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// A packet arrives.
    Arrival {
        /// Its size.
        bytes: u64,
    },
    /// Packets are dropped.
    Drop {
        /// How many.
        packets: u64,
        /// Their size together.
        bytes: u64,
    },
    /// The link can send.
    Opportunity {
        /// How much.
        bytes: u64,
    },
    /// A packet departs.
    Departure {
        /// Its size.
        bytes: u64,
        /// The time since its arrival, in milliseconds.
        delay: u64,
    },
}

impl Log {
    /// Parses a log from text. The name identifies the log in errors and reports.
    ///
    /// # Errors
    /// The first line that is neither a comment nor an event after the base, or whose time is before that of the event before; no event at all.
    pub fn parse(text: impl AsRef<[u8]>, name: impl Into<String>) -> Result<Self, LogError> {
        let name = name.into();
        let (mut base, mut comments, mut events) = (None, Vec::new(), Vec::new());
        for (index, line) in text.as_ref().split(|byte| *byte == b'\n').enumerate() {
            let line = Line::new(&name, index + 1, line)?;
            if let Some(comment) = line.text.strip_prefix('#') {
                if let Some(value) = comment.trim().strip_prefix(BASE) {
                    let value = line.number("the base timestamp", value.trim())?;
                    if base.replace(value).is_some() {
                        return Err(line.second_base(value));
                    }
                }
                comments.push(comment.trim().to_owned());
            } else if !line.text.trim().is_empty() {
                let event = line.event(base)?;
                if let Some(before) = events.last().map(|last: &Event| last.time)
                    && event.time < before
                {
                    return Err(line.backwards(event.time, before));
                }
                events.push(event);
            }
        }
        match base {
            Some(base) if !events.is_empty() => Ok(Self {
                name,
                base,
                comments,
                events,
            }),
            _ => Err(LogError::Empty { name }),
        }
    }

    /// Reads a log from a file; its name is the path.
    ///
    /// # Errors
    /// The file cannot be read, is larger than [`MAX_FILE_BYTES`], or holds something [`parse`](Self::parse) rejects.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, LogError> {
        let path = path.as_ref();
        let text = file::read(path, MAX_FILE_BYTES).map_err(|source| LogError::Read {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(text, path.display().to_string())
    }

    /// The name given when the log was made.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The base time in milliseconds, on the clock of the log's writer.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// The comments, without their marks; the base among them.
    pub fn comments(&self) -> &[String] {
        &self.comments
    }

    /// The events, in the order of the lines; never none.
    pub fn events(&self) -> &[Event] {
        &self.events
    }
}

/// One line, and where it stands.
struct Line<'a> {
    name: &'a str,
    line: usize,
    text: &'a str,
}

impl<'a> Line<'a> {
    fn new(name: &'a str, line: usize, bytes: &'a [u8]) -> Result<Self, LogError> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Self { name, line, text }),
            Err(_) => Err(LogError::NotText {
                name: name.to_owned(),
                line,
                value: excerpt(&String::from_utf8_lossy(bytes)),
            }),
        }
    }

    fn event(&self, base: Option<u64>) -> Result<Event, LogError> {
        let mut rest = self.text;
        let stamp = self.next_number("the time", &mut rest)?;
        let base = base.ok_or_else(|| LogError::NoBase {
            name: self.name.to_owned(),
            line: self.line,
        })?;
        let time = stamp
            .checked_sub(base)
            .ok_or_else(|| LogError::BeforeBase {
                name: self.name.to_owned(),
                line: self.line,
                value: stamp,
                base,
            })?;
        let kind = match self.next_field("the event", &mut rest)? {
            "+" => EventKind::Arrival {
                bytes: self.next_number("the size", &mut rest)?,
            },
            "#" => EventKind::Opportunity {
                bytes: self.next_number("the size", &mut rest)?,
            },
            "d" => EventKind::Drop {
                packets: self.next_number("the number of packets", &mut rest)?,
                bytes: self.next_number("the size", &mut rest)?,
            },
            "-" => EventKind::Departure {
                bytes: self.next_number("the size", &mut rest)?,
                delay: self.delay(time, &mut rest)?,
            },
            other => {
                return Err(LogError::UnknownEvent {
                    name: self.name.to_owned(),
                    line: self.line,
                    value: excerpt(other),
                });
            }
        };
        let rest = rest.trim().to_owned();
        Ok(Event { time, kind, rest })
    }

    fn delay(&self, time: u64, rest: &mut &'a str) -> Result<u64, LogError> {
        let value = self.next_number("the delay", rest)?;
        if value > time {
            return Err(LogError::DelayTooLong {
                name: self.name.to_owned(),
                line: self.line,
                value,
                time,
            });
        }
        Ok(value)
    }

    fn next_number(&self, what: &'static str, rest: &mut &'a str) -> Result<u64, LogError> {
        let field = self.next_field(what, rest)?;
        self.number(what, field)
    }

    /// Cuts the next field off `rest`.
    fn next_field(&self, what: &'static str, rest: &mut &'a str) -> Result<&'a str, LogError> {
        let text = rest.trim_start();
        let end = text.find(char::is_whitespace).unwrap_or(text.len());
        let (field, others) = text.split_at(end);
        *rest = others;
        if field.is_empty() {
            return Err(LogError::Missing {
                name: self.name.to_owned(),
                line: self.line,
                what,
                value: excerpt(self.text.trim()),
            });
        }
        Ok(field)
    }

    /// Decimal digits only: no sign.
    fn number(&self, what: &'static str, field: &str) -> Result<u64, LogError> {
        let digits = field.bytes().all(|byte| byte.is_ascii_digit());
        let number = digits.then(|| field.parse().ok()).flatten();
        number.ok_or_else(|| LogError::NotANumber {
            name: self.name.to_owned(),
            line: self.line,
            what,
            value: excerpt(field),
        })
    }

    fn backwards(&self, value: u64, before: u64) -> LogError {
        LogError::Backwards {
            name: self.name.to_owned(),
            line: self.line,
            value,
            before,
        }
    }

    fn second_base(&self, value: u64) -> LogError {
        LogError::SecondBase {
            name: self.name.to_owned(),
            line: self.line,
            value,
        }
    }
}

fn excerpt(text: &str) -> String {
    text.chars().take(EXCERPT_CHARS).collect()
}

/// How the comment begins that says which millisecond counts as zero.
const BASE: &str = "base timestamp:";

/// How much of an offending line an error repeats.
const EXCERPT_CHARS: usize = 40;

/// The largest log that is read, in bytes: a quarter of an hour at 100 Mb/s.
pub const MAX_FILE_BYTES: u64 = 512 << 20;

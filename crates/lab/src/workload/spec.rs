//! Workloads by name: what the sending application of each flow does.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::Serialize;
use thiserror::Error;

use super::load::{Load, Phase};
use crate::units::{Rate, UnitError, format_size, format_time, parse_size, parse_time};

/// What the application of each flow sends. It reads the text that it prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub enum Workload {
    /// `bulk`: as much as the controller lets it.
    #[default]
    Bulk,
    /// `rpc:100kB@100ms`: responses to small requests.
    Rpc(Rpc),
    /// `media:4Mbps`: frames of a call or of a live stream.
    Media(Media),
    /// `on-off:2s/1s`: as much as the controller lets it for a time, then nothing for a time, again and again. What has
    /// not left at the end of an on period is given up.
    OnOff {
        /// How long it sends, at least 10 ms.
        on: Duration,
        /// How long it is silent, at least 10 ms.
        off: Duration,
    },
}

/// Requests of 16 bytes, each answered by a response over the link under test. A request goes out at each multiple of the
/// interval, whether or not those before have been answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Rpc {
    /// The size of each response, from 8 bytes to 1 GB.
    pub bytes: u64,
    /// From one request to the next, at least 100 us.
    pub interval: Duration,
    /// How many requests there are; without end if absent.
    pub count: Option<u32>,
}

/// Frames at regular times, each on a stream of its own, whether or not those before have arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Media {
    /// The mean bit rate of all frames.
    pub rate: Rate,
    /// Frames per second, from 1 to 1000.
    pub fps: u32,
    /// Larger frames, if there are any: the others are smaller, so that the mean rate stays.
    pub i_frames: Option<IFrames>,
    /// A frame that takes longer than this is of no use to the receiver any more.
    pub deadline: Duration,
}

/// Frames that need no frame before them, and are larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct IFrames {
    /// The size of each, from 8 bytes to 1 GB.
    pub bytes: u64,
    /// From one to the next, to the whole frame.
    pub interval: Duration,
}

/// Why a workload could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WorkloadError {
    /// There is no such workload.
    #[error("unknown workload '{name}': expected {EXPECTED}")]
    Unknown {
        /// What was written.
        name: String,
    },
    /// A part of it is missing, or one too many.
    #[error("'{value}' is not of the form {form}")]
    Form {
        /// What was written.
        value: String,
        /// What was expected.
        form: &'static str,
    },
    /// A part is there twice, and only one of them could hold.
    #[error("'{part}' is given twice in '{value}'")]
    Twice {
        /// The part's name.
        part: String,
        /// What was written.
        value: String,
    },
    /// A quantity is wrong.
    #[error("{part} '{value}': {source}")]
    Quantity {
        /// Which one.
        part: &'static str,
        /// What was written.
        value: String,
        /// What is wrong.
        source: UnitError,
    },
    /// I-frames come so often that there is no other frame between them.
    #[error("i '{interval}': at {fps} frames per second that is less than two frames", interval = format_time(*.interval))]
    Group {
        /// From one I-frame to the next.
        interval: Duration,
        /// Frames per second.
        fps: u32,
    },
    /// The frames other than I-frames would have less than 8 bytes.
    #[error("{rate} leaves less than 8 bytes for a frame{beside}")]
    Frames {
        /// The rate.
        rate: Rate,
        /// What else takes part of it, in words; empty if nothing does.
        beside: String,
    },
}

impl Workload {
    /// What the application does from the beginning of its flow to the end of the run.
    pub fn phases(self, start: Duration, end: Duration) -> Vec<Phase> {
        let load = match self {
            Self::Bulk => Load::Greedy,
            Self::Rpc(rpc) => Load::Calls {
                bytes: rpc.bytes,
                interval: rpc.interval,
                count: rpc.count,
            },
            Self::Media(media) => media.load(),
            Self::OnOff { on, off } => return on_off(start, end, on, off),
        };
        vec![load.until(end)]
    }
}

/// Greed and silence in turn.
fn on_off(start: Duration, end: Duration, on: Duration, off: Duration) -> Vec<Phase> {
    let turns = [(on, Load::Greedy), (off, Load::Silent)];
    let mut phases = Vec::new();
    let mut until = start;
    for (span, load) in turns.into_iter().cycle() {
        if until >= end {
            break;
        }
        until = until.saturating_add(span.max(TURN.min)).min(end);
        phases.push(load.until(until));
    }
    phases
}

impl Media {
    /// From one frame's beginning to the next one's.
    pub fn period(self) -> Duration {
        Duration::from_secs(1) / self.fps.max(1)
    }

    /// How many frames it is from one I-frame to the next, the I-frame included.
    fn group(self, i_frames: IFrames) -> u32 {
        let frames = i_frames.interval.as_secs_f64() * f64::from(self.fps);
        (frames.round() as u32).max(1)
    }

    /// The size of the frames that are no I-frames.
    fn frame_bytes(self) -> u64 {
        let mean = self.rate.bits_per_second() / 8 / u64::from(self.fps.max(1));
        match self.i_frames {
            None => mean,
            Some(i_frames) => {
                let frames = u64::from(self.group(i_frames));
                let others = mean.saturating_mul(frames).saturating_sub(i_frames.bytes);
                others / (frames - 1).max(1)
            }
        }
    }

    fn load(self) -> Load {
        let (bytes, period) = (self.frame_bytes(), self.period());
        match self.i_frames {
            None => Load::Frames { bytes, period },
            Some(i_frames) => Load::Video {
                bytes,
                i_bytes: i_frames.bytes,
                group: self.group(i_frames),
                period,
            },
        }
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Bulk => f.write_str("bulk"),
            Self::Rpc(rpc) => {
                let (size, interval) = (format_size(rpc.bytes), format_time(rpc.interval));
                write!(f, "rpc:{size}@{interval}")?;
                rpc.count.map_or(Ok(()), |count| write!(f, "x{count}"))
            }
            Self::Media(media) => {
                write!(f, "media:{}", media.rate)?;
                if let Some(i_frames) = media.i_frames {
                    let interval = format_time(i_frames.interval);
                    write!(f, ",i={}@{interval}", format_size(i_frames.bytes))?;
                }
                if media.fps != DEFAULT_FPS {
                    write!(f, ",fps={}", media.fps)?;
                }
                if media.deadline != DEFAULT_DEADLINE {
                    write!(f, ",deadline={}", format_time(media.deadline))?;
                }
                Ok(())
            }
            Self::OnOff { on, off } => {
                write!(f, "on-off:{}/{}", format_time(on), format_time(off))
            }
        }
    }
}

impl FromStr for Workload {
    type Err = WorkloadError;

    fn from_str(text: &str) -> Result<Self, WorkloadError> {
        let text = text.trim();
        let (name, values) = match text.split_once(':') {
            Some((name, values)) => (name, Some(values)),
            None => (text, None),
        };
        match (name, values) {
            ("bulk", None) => Ok(Self::Bulk),
            ("bulk", Some(_)) => Err(form(text, "bulk")),
            ("rpc", values) => rpc(values.ok_or_else(|| form(text, RPC))?).map(Self::Rpc),
            ("media", values) => media(values.ok_or_else(|| form(text, MEDIA))?).map(Self::Media),
            ("on-off", values) => {
                let values = values.ok_or_else(|| form(text, ON_OFF))?;
                let (on, off) = pair(values, '/', ON_OFF)?;
                Ok(Self::OnOff {
                    on: time("on", on, TURN)?,
                    off: time("off", off, TURN)?,
                })
            }
            _ => Err(WorkloadError::Unknown {
                name: name.to_owned(),
            }),
        }
    }
}

fn rpc(text: &str) -> Result<Rpc, WorkloadError> {
    let (bytes, times) = pair(text, '@', RPC)?;
    let (interval, count) = match times.split_once('x') {
        Some((interval, count)) => (interval, Some(number("count", count, COUNT)?)),
        None => (times, None),
    };
    Ok(Rpc {
        bytes: size("size", bytes)?,
        interval: time("interval", interval, INTERVAL)?,
        count,
    })
}

fn media(text: &str) -> Result<Media, WorkloadError> {
    let mut parts = text.split(',');
    let rate = parts.next().unwrap_or_default();
    let rate = quantity("rate", rate, str::parse)?;
    let mut media = Media {
        rate,
        fps: DEFAULT_FPS,
        i_frames: None,
        deadline: DEFAULT_DEADLINE,
    };
    let mut given = Vec::new();
    for part in parts {
        let (name, value) = part.split_once('=').ok_or_else(|| form(part, MEDIA))?;
        let name = name.trim();
        if given.contains(&name) {
            return Err(WorkloadError::Twice {
                part: name.to_owned(),
                value: text.to_owned(),
            });
        }
        given.push(name);
        match name {
            "i" => {
                let (bytes, interval) = pair(value, '@', "i=SIZE@TIME")?;
                media.i_frames = Some(IFrames {
                    bytes: size("i", bytes)?,
                    interval: time("i", interval, ANY_TIME)?,
                });
            }
            "fps" => media.fps = number("fps", value, FPS)?,
            "deadline" => media.deadline = time("deadline", value, ANY_TIME)?,
            _ => return Err(form(part, MEDIA)),
        }
    }
    if let Some(i_frames) = media.i_frames
        && media.group(i_frames) < 2
    {
        return Err(WorkloadError::Group {
            interval: i_frames.interval,
            fps: media.fps,
        });
    }
    if media.frame_bytes() < MIN_MESSAGE {
        let beside = media.i_frames.map_or_else(String::new, |i_frames| {
            let (bytes, interval) = (format_size(i_frames.bytes), format_time(i_frames.interval));
            format!(" beside {bytes} every {interval}")
        });
        return Err(WorkloadError::Frames { rate, beside });
    }
    Ok(media)
}

fn form(value: &str, form: &'static str) -> WorkloadError {
    WorkloadError::Form {
        value: value.to_owned(),
        form,
    }
}

fn pair<'a>(
    text: &'a str,
    separator: char,
    expected: &'static str,
) -> Result<(&'a str, &'a str), WorkloadError> {
    text.split_once(separator)
        .ok_or_else(|| form(text, expected))
}

fn quantity<T>(
    part: &'static str,
    value: &str,
    parse: impl Fn(&str) -> Result<T, UnitError>,
) -> Result<T, WorkloadError> {
    parse(value).map_err(|source| WorkloadError::Quantity {
        part,
        value: value.to_owned(),
        source,
    })
}

fn size(part: &'static str, value: &str) -> Result<u64, WorkloadError> {
    quantity(part, value, |value| match parse_size(value)? {
        bytes @ MIN_MESSAGE..=MAX_MESSAGE => Ok(bytes),
        _ => Err(UnitError::OutOfRange { range: "8B to 1GB" }),
    })
}

fn time(part: &'static str, value: &str, allowed: Least) -> Result<Duration, WorkloadError> {
    quantity(part, value, |value| match parse_time(value)? {
        time if time >= allowed.min => Ok(time),
        _ => Err(UnitError::OutOfRange {
            range: allowed.range,
        }),
    })
}

fn number(part: &'static str, value: &str, allowed: Most) -> Result<u32, WorkloadError> {
    quantity(part, value, |value| match value.trim().parse() {
        Ok(number) if (1..=allowed.max).contains(&number) => Ok(number),
        _ => Err(UnitError::OutOfRange {
            range: allowed.range,
        }),
    })
}

/// The times that are allowed.
#[derive(Clone, Copy)]
struct Least {
    min: Duration,
    range: &'static str,
}

/// The numbers that are allowed, from 1 on.
#[derive(Clone, Copy)]
struct Most {
    max: u32,
    range: &'static str,
}

const RPC: &str = "rpc:SIZE@TIME or rpc:SIZE@TIMExCOUNT, such as rpc:100kB@100ms";
const MEDIA: &str =
    "media:RATE[,i=SIZE@TIME][,fps=N][,deadline=TIME], such as media:4Mbps,i=100kB@2s";
const ON_OFF: &str = "on-off:TIME/TIME, such as on-off:2s/1s";
const EXPECTED: &str = "bulk, rpc:SIZE@TIME, media:RATE or on-off:TIME/TIME";

/// Frames per second unless others are asked for.
const DEFAULT_FPS: u32 = 30;

/// ITU-T G.114 has 400 ms one way as the limit of what a conversation is planned for.
const DEFAULT_DEADLINE: Duration = Duration::from_millis(400);

/// A message carries the time at which it was due.
const MIN_MESSAGE: u64 = 8;
const MAX_MESSAGE: u64 = 1_000_000_000;

const ANY_TIME: Least = Least {
    min: Duration::from_micros(1),
    range: "1us to 24h",
};

/// Shorter intervals than this are bulk traffic in small pieces.
const INTERVAL: Least = Least {
    min: Duration::from_micros(100),
    range: "100us to 24h",
};

/// Shorter turns than this are no more than a round trip.
const TURN: Least = Least {
    min: Duration::from_millis(10),
    range: "10ms to 24h",
};

const COUNT: Most = Most {
    max: 1_000_000_000,
    range: "a whole number from 1 to 1000000000",
};

const FPS: Most = Most {
    max: 1000,
    range: "a whole number from 1 to 1000",
};

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn parse(text: &str) -> Workload {
        text.parse().unwrap()
    }

    #[test]
    fn printed_values_can_be_read() {
        for text in [
            "bulk",
            "rpc:100kB@100ms",
            "rpc:100kB@100msx100",
            "rpc:8B@100us",
            "media:4Mbps",
            "media:4Mbps,i=100kB@2s",
            "media:2.5Mbps,i=64kB@1s,fps=25,deadline=150ms",
            "on-off:2s/1s",
            "on-off:10ms/1.5s",
        ] {
            assert_eq!(parse(text).to_string(), text);
        }
        assert_eq!(
            parse(" rpc:100kB@100ms x100 "),
            parse("rpc:100kB@100msx100")
        );
        assert_eq!(parse("media:4Mbps,fps=30"), parse("media:4Mbps"));
        assert_eq!(
            parse("rpc:1MiB@1sx3"),
            Workload::Rpc(Rpc {
                bytes: 1 << 20,
                interval: ms(1000),
                count: Some(3),
            })
        );
    }

    #[test]
    fn refusals_name_the_value() {
        for (text, parts) in [
            ("web", &["'web'", "rpc:SIZE@TIME"][..]),
            ("", &["''"]),
            ("bulk:1", &["'bulk:1'"]),
            ("rpc", &["'rpc'", "rpc:SIZE@TIME"]),
            ("rpc:100kB", &["'100kB'", "rpc:SIZE@TIME"]),
            ("rpc:100@1s", &["size '100'", "unit is missing"]),
            ("rpc:1p@1s", &["size '1p'", "unknown unit"]),
            ("rpc:1B@1s", &["size '1B'", "8B to 1GB"]),
            ("rpc:1kB@1us", &["interval '1us'", "100us to 24h"]),
            ("rpc:1kB@1sx0", &["count '0'", "from 1"]),
            ("media:fast", &["rate 'fast'"]),
            ("media:4Mbps,i=100kB", &["'100kB'", "i=SIZE@TIME"]),
            ("media:4Mbps,i=10kB@40ms", &["i '40ms'", "30 frames"]),
            ("media:4Mbps,j=1", &["'j=1'"]),
            ("media:4Mbps,fps=0", &["fps '0'"]),
            ("media:4Mbps,fps=60,fps=30", &["'fps' is given twice"]),
            (
                "media:4Mbps,i=64kB@1s,fps=25,i=32kB@1s",
                &["'i' is given twice"],
            ),
            ("media:1kbps", &["1kbps", "8 bytes"]),
            ("media:400kbps,i=100kB@2s", &["400kbps", "100kB every 2s"]),
            ("on-off:2s", &["'2s'", "on-off:TIME/TIME"]),
            ("on-off:2s/1ms", &["off '1ms'", "10ms to 24h"]),
        ] {
            let message = text.parse::<Workload>().unwrap_err().to_string();
            for part in parts {
                assert!(
                    message.contains(part),
                    "{text}: {part} is not in: {message}"
                );
            }
        }
    }

    #[test]
    fn i_frames_leave_the_mean_rate_as_it_is() {
        let Workload::Media(media) = parse("media:4Mbps,i=100kB@2s") else {
            panic!("media");
        };
        let Load::Video {
            bytes,
            i_bytes,
            group,
            period,
        } = media.load()
        else {
            panic!("frames of two sizes");
        };
        assert_eq!((i_bytes, group), (100_000, 60));
        assert_eq!(period, Duration::from_nanos(33_333_333));
        let total = i_bytes + u64::from(group - 1) * bytes;
        assert!((999_000..=1_000_000).contains(&total), "{total}");
    }

    #[test]
    fn turns_alternate_until_the_end() {
        let phases = parse("on-off:2s/1s").phases(ms(500), ms(4200));
        let seen: Vec<_> = phases
            .iter()
            .map(|phase| (phase.until, phase.load))
            .collect();
        let expected = [
            (ms(2500), Load::Greedy),
            (ms(3500), Load::Silent),
            (ms(4200), Load::Greedy),
        ];
        assert_eq!(seen, expected);
    }
}

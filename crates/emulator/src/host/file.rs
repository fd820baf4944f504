//! Hosts described in TOML.

use std::path::Path;

use serde::Deserialize;
use toml::de::{DeTable, DeValue};

use super::distribution::Distribution;
use super::error::Invalid;
use super::{HostConfig, HostError, OtherWork, Processor, Receiving, Sending};
use crate::file::{self, MAX_TOML_BYTES};
use crate::number::reason;
use crate::time::Nanos;

/// The content of a file. Missing values are those of the ideal host.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    receive: ReceiveTable,
    send: SendTable,
    processor: ProcessorTable,
    timer_granularity_us: f64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ReceiveTable {
    wakeup_us: Option<DistributionTable>,
    batch_datagrams: Option<u32>,
    batch_us: Option<f64>,
    buffer_bytes: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct SendTable {
    burst_datagrams: Option<u32>,
    pause_us: Option<DistributionTable>,
    buffer_bytes: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ProcessorTable {
    wakeup_us: f64,
    receive_datagram_us: f64,
    receive_byte_ns: f64,
    send_burst_us: f64,
    send_datagram_us: f64,
    send_byte_ns: f64,
    others: Option<OthersTable>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OthersTable {
    gap_us: DistributionTable,
    slice_us: DistributionTable,
}

/// All in microseconds.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum DistributionTable {
    Fixed(f64),
    Exponential { mean: f64, max: f64 },
    Pareto { min: f64, shape: f64, max: f64 },
    LogNormal { median: f64, sigma: f64, max: f64 },
    Quantiles(Vec<f64>),
}

impl HostConfig {
    /// The preset of a name: one of [`PRESETS`](Self::PRESETS).
    ///
    /// # Errors
    /// There is no such preset.
    pub fn preset(name: &str) -> Result<Self, HostError> {
        let text = match name {
            "ideal" => return Ok(Self::ideal()),
            "server" => include_str!("presets/server.toml"),
            "busy" => include_str!("presets/busy.toml"),
            "phone" => include_str!("presets/phone.toml"),
            _ => {
                let name = name.to_owned();
                return Err(HostError::UnknownPreset { name });
            }
        };
        Self::from_toml(name, text)
    }

    /// The preset of a name, or what a file says: a name that is no preset's is a path.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn named(name: &str) -> Result<Self, HostError> {
        match Self::preset(name) {
            Err(HostError::UnknownPreset { .. }) if name.contains(['.', '/', '\\']) => {
                Self::load(name)
            }
            result => result,
        }
    }

    /// The host that a text in TOML describes. The name is that of the host, and identifies the text in errors.
    ///
    /// A file leaves out what is as on the [ideal](Self::ideal) host; [`to_toml`](Self::to_toml) writes all keys.
    ///
    /// ```
    /// use kneepoint_emulator::host::HostConfig;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let host = HostConfig::from_toml("mine", r#"
    ///     timer_granularity_us = 1000.0
    ///     [receive]
    ///     wakeup_us = { log-normal = { median = 20.0, sigma = 0.7, max = 3000.0 } }
    ///     batch_us = 50.0
    ///     [processor]
    ///     receive_datagram_us = 1.5
    ///     others = { gap_us = { exponential = { mean = 900.0, max = 9000.0 } }, slice_us = { fixed = 100.0 } }
    /// "#)?;
    /// assert_eq!(HostConfig::from_toml("mine", &host.to_toml())?, host);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The text is not TOML, is larger than 600 KiB, has an unknown key, or a number out of its range.
    pub fn from_toml(name: &str, text: &str) -> Result<Self, HostError> {
        file::within(text.as_bytes(), MAX_TOML_BYTES).map_err(|source| HostError::Read {
            path: name.into(),
            source,
        })?;
        Self::read(name, name, text)
    }

    /// The host that a file in TOML describes, see [`from_toml`](Self::from_toml). It is named after the file, without `.toml`.
    ///
    /// # Errors
    /// The file cannot be read, or does not describe a host.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, HostError> {
        let path = path.as_ref();
        let text = file::read_text(path, MAX_TOML_BYTES).map_err(|source| HostError::Read {
            path: path.to_owned(),
            source,
        })?;
        let name = path.file_stem().unwrap_or(path.as_os_str());
        Self::read(&name.to_string_lossy(), &path.display().to_string(), &text)
    }

    /// The host of a text that errors know as `origin`.
    fn read(name: &str, origin: &str, text: &str) -> Result<Self, HostError> {
        let file: File = toml::from_str(text).map_err(|error| syntax(origin, text, &error))?;
        let host = file.host(name).and_then(|host| host.check().map(|()| host));
        host.map_err(|invalid| {
            let line = line_of(text, &invalid.key);
            invalid.of(origin, line)
        })
    }
}

impl File {
    fn host(self, name: &str) -> Result<HostConfig, Invalid> {
        let ideal = HostConfig::ideal();
        let distribution = |key, table: Option<DistributionTable>| {
            table.map_or(Ok(Distribution::ZERO), |table| table.distribution(key))
        };
        let batch_time = self.receive.batch_us;
        let batch_time = batch_time.map(|span| nanos("receive.batch_us", span));
        let processor = self.processor;
        let others = processor.others.map(|others| {
            Ok(OtherWork {
                gap: others.gap_us.distribution("processor.others.gap_us")?,
                slice: others.slice_us.distribution("processor.others.slice_us")?,
            })
        });
        Ok(HostConfig {
            name: name.to_owned(),
            receive: Receiving {
                wakeup: distribution("receive.wakeup_us", self.receive.wakeup_us)?,
                batch_datagrams: self.receive.batch_datagrams,
                batch_time: batch_time.transpose()?,
                buffer_bytes: self
                    .receive
                    .buffer_bytes
                    .unwrap_or(ideal.receive.buffer_bytes),
            },
            send: Sending {
                burst_datagrams: self
                    .send
                    .burst_datagrams
                    .unwrap_or(ideal.send.burst_datagrams),
                pause: distribution("send.pause_us", self.send.pause_us)?,
                buffer_bytes: self.send.buffer_bytes.unwrap_or(ideal.send.buffer_bytes),
            },
            processor: Processor {
                wakeup: nanos("processor.wakeup_us", processor.wakeup_us)?,
                receive_datagram: nanos(
                    "processor.receive_datagram_us",
                    processor.receive_datagram_us,
                )?,
                receive_byte_nanos: processor.receive_byte_ns,
                send_burst: nanos("processor.send_burst_us", processor.send_burst_us)?,
                send_datagram: nanos("processor.send_datagram_us", processor.send_datagram_us)?,
                send_byte_nanos: processor.send_byte_ns,
                others: others.transpose()?,
            },
            timer_granularity: nanos("timer_granularity_us", self.timer_granularity_us)?,
        })
    }
}

impl DistributionTable {
    fn distribution(self, key: &str) -> Result<Distribution, Invalid> {
        let part = |part: &str, span| nanos(&format!("{key}.{part}"), span);
        Ok(match self {
            Self::Fixed(span) => Distribution::Fixed(nanos(key, span)?),
            Self::Exponential { mean, max } => Distribution::Exponential {
                mean: part("exponential.mean", mean)?,
                max: part("exponential.max", max)?,
            },
            Self::Pareto { min, shape, max } => Distribution::Pareto {
                min: part("pareto.min", min)?,
                shape,
                max: part("pareto.max", max)?,
            },
            Self::LogNormal { median, sigma, max } => Distribution::LogNormal {
                median: part("log-normal.median", median)?,
                sigma,
                max: part("log-normal.max", max)?,
            },
            Self::Quantiles(values) => {
                let values = values.into_iter().map(|value| part("quantiles", value));
                Distribution::Quantiles(values.collect::<Result<_, _>>()?)
            }
        })
    }
}

/// Microseconds, to the nanosecond.
fn nanos(key: &str, micros: f64) -> Result<Nanos, Invalid> {
    // Negative numbers and those that are none would become zero.
    super::distribution::number(key, micros, 0.0, 1e7, "between 0 and 10000000")?;
    Ok(Nanos((micros * 1e3).round() as u64))
}

fn syntax(name: &str, text: &str, error: &toml::de::Error) -> HostError {
    let span = error.span().unwrap_or(0..0);
    let line = line(text, span.start);
    let value = text.get(span).unwrap_or("");
    HostError::Syntax {
        name: name.to_owned(),
        line,
        // The library says some things in several lines.
        reason: reason(error.message()),
        value: value.chars().take(EXCERPT_CHARS).collect(),
    }
}

/// The line of a key, `receive.batch_us`, or of the innermost table that should have it. An error may say of what it is: `number of` a
/// key.
fn line_of(text: &str, key: &str) -> Option<usize> {
    let file = DeTable::parse(text).ok()?;
    let key = key.rsplit(' ').next()?;
    let (mut table, mut start) = (file.get_ref(), 0);
    for part in key.split('.') {
        let Some(value) = table.get(part) else { break };
        start = value.span().start;
        match value.get_ref() {
            DeValue::Table(inner) => table = inner,
            _ => break,
        }
    }
    Some(line(text, start))
}

/// The line of a place, from 1.
fn line(text: &str, start: usize) -> usize {
    let before = text.get(..start).unwrap_or(text);
    before.matches('\n').count() + 1
}

/// How much of an offending text an error repeats.
const EXCERPT_CHARS: usize = 40;
#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_device_without_an_end_is_refused() {
        let error = HostConfig::load("/dev/zero").unwrap_err();
        let reason = "cannot read host /dev/zero: it is larger than 614400 bytes";
        assert_eq!(error.to_string(), reason);
    }

    #[test]
    fn presets_are_valid_and_survive_being_written() {
        for name in HostConfig::PRESETS {
            let host = HostConfig::preset(name).unwrap();
            assert_eq!(host.name, name);
            assert_eq!(host.is_ideal(), name == "ideal");
            assert_eq!(HostConfig::from_toml(name, &host.to_toml()).unwrap(), host);
        }
        let error = HostConfig::preset("laptop").unwrap_err().to_string();
        assert_eq!(
            error,
            "there is no host preset 'laptop': use ideal, server, busy, phone, or a file, such as ./laptop"
        );
    }

    #[test]
    fn errors_name_the_key_and_the_value() {
        // A file of one line, and why it is refused.
        let cases = "
timer_granularity_us = -1.0 => t:1: timer_granularity_us = -1 is not between 0 and 10000000
timer_granularity_us = nan => t:1: timer_granularity_us = NaN is not between 0 and 10000000
timer_granularity_us = 1e300 => t:1: timer_granularity_us = 1e300 is not between 0 and 10000000
send = { burst_datagrams = 1e300 } => t:1: invalid type: floating point `1e300`, expected u32, at \"1e300\"
receive = { batch_datagrams = 0 } => t:1: receive.batch_datagrams = 0 is not positive
receive = { batch_us = 0.0 } => t:1: receive.batch_us = 0 is not positive
receive = { buffer_bytes = 0 } => t:1: receive.buffer_bytes = 0 is not between 1 and 67108864
send = { burst_datagrams = 65 } => t:1: send.burst_datagrams = 65 is not between 1 and 64
receive = { wakeup_us = { pareto = { min = 9.0, shape = 1.0, max = 8.0 } } } => t:1: receive.wakeup_us.pareto.max = 8 is not at least the minimum
receive = { wakeup_us = { quantiles = [1.0, 3.0, 2.0] } } => t:1: receive.wakeup_us.quantiles = 2 is not at least the one before it
processor = { send_byte_ns = 2000.0 } => t:1: processor.send_byte_ns = 2000 is not between 0 and 1000
processor = { others = { gap_us = { fixed = 0.0 }, slice_us = { fixed = 1.0 } } } => t:1: maximum of processor.others.gap_us = 0 is not at least 1
";
        for case in cases.trim().lines() {
            let (text, expected) = case.split_once(" => ").unwrap();
            let error = HostConfig::from_toml("t", text).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
        let text = "[receive]\nbatch_us = 5.0\n\n[processor.others]\ngap_us = { fixed = 9.0 }\nslice_us = { quantiles = [1.0] }\n";
        let error = HostConfig::from_toml("t", text).unwrap_err().to_string();
        let reason =
            "t:6: number of processor.others.slice_us.quantiles = 1 is not between 2 and 10001";
        assert_eq!(error, reason);
        let host = HostConfig {
            timer_granularity: Nanos::MAX,
            ..HostConfig::ideal()
        };
        let error = host.validate().unwrap_err().to_string();
        assert!(
            error.starts_with("ideal: timer_granularity_us = "),
            "{error}"
        );
        let error = HostConfig::from_toml("t", "\nspeed = 3")
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("t:2: unknown field `speed`"), "{error}");
        let error = HostConfig::named("no/such.toml").unwrap_err().to_string();
        assert!(
            error.starts_with("cannot read host no/such.toml: "),
            "{error}"
        );
    }
}

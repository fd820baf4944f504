//! Options that several commands share.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::Path;
use std::str::FromStr;

use kneepoint_emulator::trace::Trace;

use super::error::CliError;
use crate::controllers::{self, UnknownController};
use crate::link_file::HANDSHAKE_PACKET_BYTES;
use crate::replace::{Replacement, replace};
use crate::units::{QueueSize, Rate, UnitError, parse_size};

/// A controller's name, if there is such a one.
pub(super) fn known_controller(name: &str) -> Result<String, UnknownController> {
    let name = name.trim();
    controllers::candidate(name, 0).map(|_| name.to_owned())
}

/// The value of --controllers: all of them unless some are named.
pub(super) fn controllers(named: &[String]) -> Result<Vec<String>, CliError> {
    named_once(named)?;
    if named.is_empty() {
        let all = controllers::names().into_iter();
        return Ok(all.map(str::to_owned).collect());
    }
    Ok(named.to_vec())
}

/// Refuses a controller that is named twice, also under two names: its rows would be equal.
pub(super) fn named_once(named: &[String]) -> Result<(), CliError> {
    let mut known: Vec<(String, &str)> = Vec::new();
    for name in named {
        let controller = controllers::canonical(name);
        match known.iter().find(|(other, _)| *other == controller) {
            Some((_, other)) if other == name => {
                let reason = format_args!("'{name}' is named twice");
                return Err(CliError::input("--controllers", reason));
            }
            Some((_, other)) => {
                let reason = format_args!("'{other}' and '{name}' are one controller");
                return Err(CliError::input("--controllers", reason));
            }
            None => known.push((controller, name)),
        }
    }
    Ok(())
}

/// Refuses a value that is there twice: its rows could not be told apart.
pub(super) fn refuse_repeated<T: PartialEq>(
    option: &str,
    values: &[T],
    print: impl Fn(&T) -> String,
) -> Result<(), CliError> {
    let repeated = values
        .iter()
        .enumerate()
        .find(|(index, value)| values.iter().take(*index).any(|before| before == *value));
    repeated.map_or(Ok(()), |(_, value)| {
        let reason = format_args!("{} is given twice", print(value));
        Err(CliError::input(option, reason))
    })
}

/// A reader of whole numbers within a range, whose errors name it.
pub(super) fn whole<T: TryFrom<u64>>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let number = text.trim().parse::<u64>().ok();
        let number = number.filter(|number| range.contains(number));
        let number = number.and_then(|number| T::try_from(number).ok());
        number.ok_or_else(|| {
            let (least, most) = (range.start(), range.end());
            format!("expected a whole number from {least} to {most}")
        })
    }
}

/// Reads a seed.
pub(super) fn parse_seed(text: &str) -> Result<u64, String> {
    whole(0..=u64::MAX)(text)
}

/// Reads a number of bytes from 1 to `max`, which `expected` describes.
pub(super) fn parse_bytes(text: &str, max: u64, expected: &str) -> Result<u64, String> {
    match parse_size(text) {
        Ok(bytes) if bytes <= max => Ok(bytes),
        Ok(_) | Err(UnitError::OutOfRange { .. }) => Err(format!(
            "out of range: expected a number of bytes{expected}"
        )),
        Err(error @ UnitError::NoUnit { .. }) => Err(error.to_string()),
        Err(_) => Err(format!("expected a number of bytes{expected}")),
    }
}

/// Reads a queue's size, into which a packet fits.
pub(super) fn parse_queue(text: &str) -> Result<QueueSize, String> {
    match text.parse() {
        Ok(QueueSize::Bytes(bytes)) if bytes < HANDSHAKE_PACKET_BYTES => Err(format!(
            "a packet of QUIC's handshake has up to {HANDSHAKE_PACKET_BYTES} bytes on the wire and would never pass: give room to one \
             at least"
        )),
        Ok(size) => Ok(size),
        Err(error) => Err(error.to_string()),
    }
}

/// Reads an IP address and a port.
pub(super) fn parse_address(text: &str) -> Result<SocketAddr, String> {
    let address = text.parse();
    address.map_err(|_| "not an IP address and a port: write it like 127.0.0.1:4433".to_owned())
}

/// Makes the directory that an option names, if it is not there.
pub(super) fn create_directory(option: &str, directory: &Path) -> Result<(), CliError> {
    fs::create_dir_all(directory).map_err(|error| {
        let directory = directory.display();
        CliError::input(option, format_args!("cannot create {directory}: {error}"))
    })
}

/// Writes the file that an option names, whole or not at all.
pub(super) fn write_file(option: &str, path: &Path, text: &str) -> Result<(), CliError> {
    replace(path, |file| file.write_all(text.as_bytes()))
        .map_err(|error| cannot_write(option, path, error))
}

/// Finds out whether the file that an option names can be written, before a long run. An old file stays as it is.
pub(super) fn check_file(option: &str, path: &Path) -> Result<(), CliError> {
    Replacement::begin(path)
        .map(drop)
        .map_err(|error| cannot_write(option, path, error))
}

/// Blames an option for a file, unless the system is at fault.
pub(super) fn cannot_write(option: &str, path: &Path, error: io::Error) -> CliError {
    let path = path.display();
    CliError::of_file(
        &error,
        format_args!("{option}: cannot write {path}: {error}"),
    )
}

/// The limit of a direction.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Capacity {
    /// Constant.
    Rate(Rate),
    /// That of a file.
    Trace(Trace),
}

impl FromStr for Capacity {
    type Err = String;

    /// A rate, or else the name of a file.
    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(rate) => return Ok(Self::Rate(rate)),
            // It is one, but not one of a link.
            Err(error @ UnitError::OutOfRange { .. }) => return Err(error.to_string()),
            Err(error @ (UnitError::NoUnit { .. } | UnitError::UnknownUnit { .. }))
                if !Path::new(text).exists() =>
            {
                return Err(error.to_string());
            }
            Err(_) => {}
        }
        let trace = Trace::load(text).map_err(|error| error.to_string())?;
        Ok(Self::Trace(trace))
    }
}

/// The seed, unless another one is given.
pub(super) const SEED: u64 = 1;

/// The default queue size.
pub(super) const QUEUE: &str = "3MB";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capacity_is_a_rate_or_a_file() {
        let rate = "10Mbps".parse::<Capacity>();
        assert_eq!(rate, Ok(Capacity::Rate("10Mbps".parse().unwrap())));
        let error = "0Mbps".parse::<Capacity>().unwrap_err();
        assert!(error.contains("out of range"), "{error}");
        let error = "10".parse::<Capacity>().unwrap_err();
        assert_eq!(error, "the unit is missing: write it like 10Mbps");
        let error = "3mbps".parse::<Capacity>().unwrap_err();
        assert!(error.starts_with("unknown unit 'mbps'"), "{error}");
        let error = "no-such-file".parse::<Capacity>().unwrap_err();
        assert!(error.contains("no-such-file"), "{error}");
    }

    #[test]
    fn a_whole_number_is_within_its_range() {
        assert_eq!(whole::<u32>(1..=1000)("7"), Ok(7));
        for text in ["0", "1001", "-1", "1e3", "x", "", "99999999999999999999"] {
            let error = whole::<u32>(1..=1000)(text).unwrap_err();
            assert_eq!(error, "expected a whole number from 1 to 1000", "{text}");
        }
        assert_eq!(parse_seed("18446744073709551615"), Ok(u64::MAX));
        assert!(parse_seed("18446744073709551616").is_err());
    }

    #[test]
    fn bytes_are_no_packets() {
        assert_eq!(parse_bytes("2MiB", u64::MAX, ""), Ok(2 << 20));
        for (text, part) in [
            ("1", "write it like 100kB"),
            ("5p", "expected a number of bytes from 1B to 1kB"),
            ("0B", "expected a number of bytes from 1B to 1kB"),
            ("2kB", "expected a number of bytes from 1B to 1kB"),
        ] {
            let error = parse_bytes(text, 1000, " from 1B to 1kB").unwrap_err();
            assert!(error.contains(part), "{error}");
            assert!(!error.contains("inf"), "{error}");
        }
    }

    #[test]
    fn a_controller_under_two_names_is_refused() {
        let refused = |named: &[&str]| {
            let named: Vec<String> = named.iter().map(|name| (*name).to_owned()).collect();
            controllers(&named).err().map(|error| error.to_string())
        };
        assert_eq!(refused(&["knee", "noq:knee", "quinn-cubic", "cubic"]), None);
        assert_eq!(refused(&["bbr", "bbr:tuned", "noq:bbr"]), None);
        for (named, reason) in [
            (["knee", "knee"], "'knee' is named twice"),
            (
                ["knee", "knee:tuned"],
                "'knee' and 'knee:tuned' are one controller",
            ),
            (
                ["noq:bbr:paper", "noq:bbr"],
                "'noq:bbr:paper' and 'noq:bbr' are one controller",
            ),
            (
                ["cubic:hystart=true", "cubic"],
                "'cubic:hystart=true' and 'cubic' are one controller",
            ),
        ] {
            let reason = format!("--controllers: {reason}");
            assert_eq!(refused(&named), Some(reason));
        }
    }

    #[test]
    fn a_queue_has_room_for_a_packet() {
        for size in ["1252B", "1p", "inf"] {
            assert_eq!(parse_queue(size), Ok(size.parse().unwrap()));
        }
        let error = parse_queue("1kB").unwrap_err();
        assert!(error.contains("1252 bytes"), "{error}");
        assert!(parse_queue("0p").is_err());
    }
}

//! Options that several commands share.

use std::fs;
use std::io;
use std::net::SocketAddr;
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
    controllers::candidate(name, 0).map(|_| name.to_owned())
}

/// The value of --controllers: all of them unless some are named.
pub(super) fn controllers(named: &[String]) -> Result<Vec<String>, CliError> {
    let repeated = (1..named.len()).find(|&index| named[..index].contains(&named[index]));
    match repeated {
        Some(index) => Err(CliError::input(
            "--controllers",
            format_args!("'{}' is named twice", named[index]),
        )),
        None if named.is_empty() => {
            let all = controllers::names().into_iter();
            Ok(all.map(str::to_owned).collect())
        }
        None => Ok(named.to_vec()),
    }
}

/// Reads a number of bytes from 1 to `max`, which `expected` describes.
pub(super) fn parse_bytes(text: &str, max: u64, expected: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(QueueSize::Bytes(bytes)) if bytes <= max => Ok(bytes),
        Ok(_) => Err(format!("expected a number of bytes{expected}")),
        Err(error) => Err(error.to_string()),
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

/// Blames an option for a file.
pub(super) fn cannot_write(option: &str, path: &Path, error: io::Error) -> CliError {
    let path = path.display();
    CliError::input(option, format_args!("cannot write {path}: {error}"))
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
            Err(error @ UnitError::NoUnit { .. }) if !Path::new(text).exists() => {
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
        let error = "no-such-file".parse::<Capacity>().unwrap_err();
        assert!(error.contains("no-such-file"), "{error}");
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

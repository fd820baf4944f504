//! Files that people name.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Reads a file whole, unless it is larger than `max` bytes: a device has no end, and a sparse file costs nothing to make.
pub(crate) fn read(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    let file = File::open(path)?;
    file.take(max.saturating_add(1)).read_to_end(&mut content)?;
    within(&content, max)?;
    Ok(content)
}

/// Refuses what is larger than `max` bytes.
pub(crate) fn within(content: &[u8], max: u64) -> io::Result<()> {
    if content.len() as u64 > max {
        let reason = format!("it is larger than {max} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, reason));
    }
    Ok(())
}

/// The largest description in TOML, in bytes: more than a host with four distributions of 10,001 quantiles. The parser takes up to a
/// hundred times the memory of its text.
#[cfg(feature = "serde")]
pub(crate) const MAX_TOML_BYTES: u64 = 600 << 10;

/// The same for a text.
#[cfg(feature = "serde")]
pub(crate) fn read_text(path: &Path, max: u64) -> io::Result<String> {
    let content = read(path, max)?;
    String::from_utf8(content).map_err(|error| {
        let (before, rest) = error.as_bytes().split_at(error.utf8_error().valid_up_to());
        let line = before.split(|byte| *byte == b'\n').count();
        let byte = rest.first().copied().unwrap_or_default();
        let reason = format!("line {line} is not UTF-8, at the byte {byte:#04x}");
        io::Error::new(io::ErrorKind::InvalidData, reason)
    })
}

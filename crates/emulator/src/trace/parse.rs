//! From text to times.

use super::TraceError;

/// One time for each line. Order is not checked here.
pub(super) fn lines(text: &[u8], name: &str) -> Result<Vec<u64>, TraceError> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    text.split(|byte| *byte == b'\n')
        .enumerate()
        .map(|(index, line)| {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.is_empty() {
                return Err(TraceError::EmptyLine {
                    name: name.to_owned(),
                    line: index + 1,
                });
            }
            number(line).ok_or_else(|| TraceError::NotANumber {
                name: name.to_owned(),
                line: index + 1,
                value: excerpt(line),
            })
        })
        .collect()
}

/// Decimal digits only: no sign, no space.
fn number(line: &[u8]) -> Option<u64> {
    line.iter().try_fold(0_u64, |value, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        value.checked_mul(10)?.checked_add(digit)
    })
}

fn excerpt(line: &[u8]) -> String {
    String::from_utf8_lossy(&line[..line.len().min(EXCERPT_BYTES)]).into_owned()
}

/// How much of an offending line an error repeats, in bytes.
const EXCERPT_BYTES: usize = 40;

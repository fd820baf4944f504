//! What determines a run.

use std::fmt;

use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};

/// What determines a run: runs with equal keys have equal results.
///
/// The digest is over all parameters. The rest is for readers, and for a natural order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// The command that makes the run: `compare`.
    command: String,
    /// The run's name in that command's results, such as link, controller and seed.
    name: Vec<Part>,
    /// The version of the code.
    version: String,
    /// SHA-256 over the command, the version and all parameters, in hexadecimal digits.
    digest: String,
}

/// A part of a run's name. Numbers come before texts, and are ordered as numbers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Part {
    /// A seed.
    Number(u64),
    /// Anything else.
    Text(String),
}

impl Key {
    /// The key of a run of this version of the code. `parameters` are all that determine it, of any form that JSON can have.
    ///
    /// # Errors
    /// The parameters cannot be written as JSON.
    pub fn new(
        command: &str,
        name: impl IntoIterator<Item = Part>,
        parameters: &impl Serialize,
    ) -> Result<Self, serde_json::Error> {
        let all = serde_json::to_vec(&(command, VERSION, parameters))?;
        Ok(Self {
            command: command.to_owned(),
            name: name.into_iter().collect(),
            version: VERSION.to_owned(),
            digest: hex(digest(&SHA256, &all).as_ref()),
        })
    }

    /// The command that makes the run.
    pub fn command(&self) -> &str {
        &self.command
    }

    /// A number that is as good as random, and the same for equal keys.
    pub(super) fn number(&self) -> u64 {
        let digits = self.digest.get(..16).unwrap_or_default();
        u64::from_str_radix(digits, 16).unwrap_or_default()
    }
}

/// Command and name.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.command)?;
        for (place, part) in self.name.iter().enumerate() {
            f.write_str(if place == 0 { " " } else { ", " })?;
            match part {
                Part::Number(number) => write!(f, "{number}")?,
                Part::Text(text) => f.write_str(text)?,
            }
        }
        Ok(())
    }
}

impl From<&str> for Part {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<u64> for Part {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

/// A digest of parameters that many runs share, so that it need not be computed for each of them.
///
/// # Errors
/// The parameters cannot be written as JSON.
pub(crate) fn digest_of(parameters: &impl Serialize) -> Result<String, serde_json::Error> {
    let all = serde_json::to_vec(parameters)?;
    Ok(hex(digest(&SHA256, &all).as_ref()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Two versions of the code may give two results.
const VERSION: &str = env!("CARGO_PKG_VERSION");

#[cfg(test)]
mod tests {
    use super::*;

    fn key(command: &str, name: &[Part], parameters: &[f64]) -> Key {
        Key::new(command, name.to_vec(), &parameters).unwrap()
    }

    #[test]
    fn all_parameters_count_and_seeds_are_in_their_order() {
        let name = |seed: u64| ["knee".into(), seed.into()];
        let first = key("compare", &name(2), &[1.0, 0.5]);
        assert_eq!(first, key("compare", &name(2), &[1.0, 0.5]));
        for other in [
            key("compare", &name(2), &[1.0, 0.50001]),
            key("frontier", &name(2), &[1.0, 0.5]),
        ] {
            assert_ne!(other.digest, first.digest);
            assert_ne!(other.number(), first.number());
        }
        assert!(first < key("compare", &name(10), &[1.0]));
        assert_eq!(first.to_string(), "compare knee, 2");
    }

    #[test]
    fn it_is_read_as_it_is_written() {
        let key = key("compare", &["a \"b\"".into(), 7.into()], &[]);
        let text = serde_json::to_string(&key).unwrap();
        assert_eq!(serde_json::from_str::<Key>(&text).unwrap(), key);
        assert!(text.contains("\"name\":[\"a \\\"b\\\"\",7]"), "{text}");
    }
}

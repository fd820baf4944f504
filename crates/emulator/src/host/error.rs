//! Errors in a host's configuration.

use std::path::PathBuf;

use crate::number::Number;

/// Why a host's configuration cannot be used.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// No preset has this name.
    #[error("there is no host preset '{name}': use {}, or a file, such as ./{name}", super::HostConfig::PRESETS.join(", "))]
    UnknownPreset {
        /// The name asked for.
        name: String,
    },
    /// The file could not be read.
    #[error("cannot read host {path}: {source}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The text is not TOML, or has a key that is not known here. Lines are numbered from 1.
    #[error("{name}:{line}: {reason}, at {value:?}")]
    Syntax {
        /// The file, or the host's name if the text is of none.
        name: String,
        /// The line's number.
        line: usize,
        /// The error.
        reason: String,
        /// The text in question, cut short if it is long.
        value: String,
    },
    /// A number is out of its range.
    #[error("{name}{}: {key} = {} is not {range}", place(*.line), Number(*.value))]
    Value {
        /// The file, or the host's name if the number is of none.
        name: String,
        /// The line's number, if the number was read from a text.
        line: Option<usize>,
        /// The key, as the file has it.
        key: String,
        /// The number.
        value: f64,
        /// The allowed range.
        range: &'static str,
    },
}

debug_as_display!(HostError);

fn place(line: Option<usize>) -> String {
    line.map_or_else(String::new, |line| format!(":{line}"))
}

/// A number out of its range, before the host's name is known.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Invalid {
    pub(super) key: String,
    pub(super) value: f64,
    pub(super) range: &'static str,
}

impl Invalid {
    pub(super) fn of(self, name: &str, line: Option<usize>) -> HostError {
        let Self { key, value, range } = self;
        let name = name.to_owned();
        HostError::Value {
            name,
            line,
            key,
            value,
            range,
        }
    }
}

//! Why a file does not describe a network.

use std::path::{Path, PathBuf};

use super::super::NetworkError;
use super::culprit;
use super::source::Source;
use crate::host::HostError;
use crate::number::Number;
use crate::trace::TraceError;

/// Why a file does not describe a network. Lines are numbered from 1.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum NetworkFileError {
    /// The file could not be read.
    #[error("cannot read network {path}: {source}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The text is not TOML, or has an unknown key or value.
    #[error("{name}:{line}: {reason}, at {value:?}")]
    Syntax {
        /// The network's name.
        name: String,
        /// The line's number.
        line: usize,
        /// What is wrong.
        reason: String,
        /// The text in question, cut short if it is long.
        value: String,
    },
    /// A link's table is contradictory or incomplete, or a value of it is out of its range.
    #[error("{name}:{line}: link {link}: {reason}")]
    Link {
        /// The network's name.
        name: String,
        /// The line's number.
        line: usize,
        /// The link's name.
        link: String,
        /// What is wrong.
        reason: String,
    },
    /// A number is out of its range.
    #[error("{name}:{line}: {key} {} is not {range}", Number(*.value))]
    Number {
        /// The network's name.
        name: String,
        /// The line's number.
        line: usize,
        /// The number's key.
        key: &'static str,
        /// The number.
        value: f64,
        /// The allowed range.
        range: &'static str,
    },
    /// A link's trace could not be read.
    #[error("{name}:{line}: {source}")]
    Trace {
        /// The network's name.
        name: String,
        /// The line's number.
        line: usize,
        /// Why.
        source: TraceError,
    },
    /// A host's model could not be read.
    #[error("{name}:{line}: hosts: {source}")]
    Host {
        /// The network's name.
        name: String,
        /// The line's number.
        line: usize,
        /// Why.
        source: Box<HostError>,
    },
    /// The parts do not make a network.
    #[error("{name}:{line}: {source}")]
    Network {
        /// The network's name.
        name: String,
        /// The line's number.
        line: usize,
        /// Why.
        source: Box<NetworkError>,
    },
    /// The network is made of a seed, and the text names none.
    #[error("{name}: the seed is missing: write seed = 1")]
    NoSeed {
        /// The network's name.
        name: String,
    },
}

debug_as_display!(NetworkFileError);

impl NetworkFileError {
    /// What is wrong with the network of a text after something was added to it, such as hosts. The name identifies the text.
    pub fn of(source: NetworkError, text: &str, name: &str) -> Self {
        let folder = Path::new("");
        Source { name, text, folder }.whole(source)
    }

    /// What is wrong with a link of a text for those who use it: at this key, or with the link if it does not have the key. The name
    /// identifies the text.
    pub fn of_link(link: &str, key: &str, reason: impl ToString, text: &str, name: &str) -> Self {
        let folder = Path::new("");
        let source = Source { name, text, folder };
        let span = source.find(|file| culprit::key(file, link, key));
        source.link(link, &span, reason)
    }
}

//! The kinds of faults.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// What happens to a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// The link stops for a time.
    Blackouts,
    /// The rate becomes a hundred times higher or lower.
    Rate,
    /// The round-trip time becomes sixty times longer or shorter.
    Rtt,
    /// Packets take another route: rate, delay and buffer change at once, and packets overtake.
    Route,
    /// A host's address changes, by a translator on the way or because it moves to another network.
    Address,
    /// The application has little to send for an hour or a day.
    Idle,
    /// A policer drops what is above its rate.
    Policer,
    /// A radio link is blocked.
    Blocked,
    /// A host is stopped for a second.
    Pauses,
}

/// No fault has this name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("unknown fault '{name}': expected one of {}", Fault::ALL.map(Fault::name).join(", "))]
pub struct UnknownFault {
    /// The name asked for.
    pub name: String,
}

impl Fault {
    /// All of them, in the order of the report.
    pub const ALL: [Self; 9] = [
        Self::Blackouts,
        Self::Rate,
        Self::Rtt,
        Self::Route,
        Self::Address,
        Self::Idle,
        Self::Policer,
        Self::Blocked,
        Self::Pauses,
    ];

    /// The name that [`FromStr`] reads.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Blackouts => "blackouts",
            Self::Rate => "rate",
            Self::Rtt => "rtt",
            Self::Route => "route",
            Self::Address => "address",
            Self::Idle => "idle",
            Self::Policer => "policer",
            Self::Blocked => "blocked",
            Self::Pauses => "pauses",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Fault {
    type Err = UnknownFault;

    fn from_str(name: &str) -> Result<Self, UnknownFault> {
        let found = Self::ALL.into_iter().find(|fault| fault.name() == name);
        found.ok_or_else(|| UnknownFault {
            name: name.to_owned(),
        })
    }
}

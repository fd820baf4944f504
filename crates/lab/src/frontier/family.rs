//! The families of scenarios.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Scenarios that test one ability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Recorded traces of a directory.
    Traces,
    /// Generated traces.
    Generated,
    /// Links of a constant rate.
    Constant,
    /// Random loss and loss in bursts.
    Loss,
    /// Delay that changes from packet to packet.
    Jitter,
    /// Acknowledgements in batches, thinned out, or over a slow link.
    Acks,
    /// Policers and token-bucket shapers.
    Policer,
    /// Active queue management.
    Aqm,
    /// End hosts that take time.
    Hosts,
    /// Steps of the rate and of the round-trip time.
    Steps,
    /// Links that stop for a time.
    Blackouts,
    /// One flow beside one of another controller.
    Competition,
    /// Several flows of one controller.
    Company,
    /// Transfers of a given size.
    Transfers,
    /// Responses to requests, frames, pages, and bulk data with pauses.
    Applications,
    /// The networks of the simulator tests of Chromium's BBRv2.
    Chromium,
    /// The networks of the test cases in the BBR draft's appendix.
    Draft,
    /// The networks of the tests of picoquic, and of its congestion control C4.
    Picoquic,
    /// Scenarios that the seed draws.
    Drawn,
}

/// No family has this name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("unknown family '{name}': expected one of {}", names())]
pub struct UnknownFamily {
    /// The name asked for.
    pub name: String,
}

impl Family {
    /// All families, in the order of the report.
    pub const ALL: [Self; 19] = [
        Self::Traces,
        Self::Generated,
        Self::Constant,
        Self::Loss,
        Self::Jitter,
        Self::Acks,
        Self::Policer,
        Self::Aqm,
        Self::Hosts,
        Self::Steps,
        Self::Blackouts,
        Self::Competition,
        Self::Company,
        Self::Transfers,
        Self::Applications,
        Self::Chromium,
        Self::Draft,
        Self::Picoquic,
        Self::Drawn,
    ];

    /// The name that [`FromStr`] reads.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Traces => "traces",
            Self::Generated => "generated",
            Self::Constant => "constant",
            Self::Loss => "loss",
            Self::Jitter => "jitter",
            Self::Acks => "acks",
            Self::Policer => "policer",
            Self::Aqm => "aqm",
            Self::Hosts => "hosts",
            Self::Steps => "steps",
            Self::Blackouts => "blackouts",
            Self::Competition => "competition",
            Self::Company => "company",
            Self::Transfers => "transfers",
            Self::Applications => "applications",
            Self::Chromium => "chromium",
            Self::Draft => "draft",
            Self::Picoquic => "picoquic",
            Self::Drawn => "drawn",
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Family {
    type Err = UnknownFamily;

    fn from_str(name: &str) -> Result<Self, UnknownFamily> {
        let found = Self::ALL.into_iter().find(|family| family.name() == name);
        found.ok_or_else(|| UnknownFamily {
            name: name.to_owned(),
        })
    }
}

fn names() -> String {
    Family::ALL.map(Family::name).join(", ")
}

//! Controllers by name: Kneepoint's, and quinn's own to compare with.

use std::str::FromStr;
use std::sync::Arc;

use kneepoint::quinn::IntoFactory as _;
use kneepoint::{ControllerSpec, ParseAlgorithmError};
use quinn::TransportConfig;
use quinn::congestion::CubicConfig;

/// Which controller a side sends with: `knee`, `bbr:tuned`, `quinn-cubic`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Choice {
    Kneepoint(ControllerSpec),
    QuinnCubic,
}

impl FromStr for Choice {
    type Err = ParseAlgorithmError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "quinn-cubic" => Ok(Self::QuinnCubic),
            _ => name.parse().map(Self::Kneepoint),
        }
    }
}

impl Choice {
    /// A transport that sends with it.
    pub(crate) fn transport(self) -> TransportConfig {
        let mut transport = TransportConfig::default();
        match self {
            Self::Kneepoint(spec) => {
                transport.congestion_controller_factory(spec.factory());
            }
            Self::QuinnCubic => {
                transport.congestion_controller_factory(Arc::new(CubicConfig::default()));
            }
        }
        transport
    }
}

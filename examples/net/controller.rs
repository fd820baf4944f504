//! Controllers by name: Kneepoint's, and quinn's own to compare with.

use std::str::FromStr;
use std::sync::Arc;

use kneepoint::quinn::IntoFactory as _;
use kneepoint::{ControllerSpec, ParseAlgorithmError};
use quinn::TransportConfig;
use quinn::congestion::{ControllerFactory, CubicConfig};

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
    /// What makes it for each connection.
    pub(crate) fn factory(self) -> Arc<dyn ControllerFactory + Send + Sync> {
        match self {
            Self::Kneepoint(spec) => spec.factory(),
            Self::QuinnCubic => Arc::new(CubicConfig::default()),
        }
    }

    /// A transport that sends with it.
    pub(crate) fn transport(self) -> TransportConfig {
        let mut transport = TransportConfig::default();
        transport.congestion_controller_factory(self.factory());
        transport
    }
}

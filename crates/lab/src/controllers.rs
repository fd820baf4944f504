//! Congestion controllers by name: `name` or `name:preset`, ours and those that quinn brings along.

use std::sync::Arc;

use kneepoint_controllers::{Algorithm, ParseAlgorithmError, Selection};
use kneepoint_quinn::Factory;
use quinn::congestion::{BbrConfig, CubicConfig, NewRenoConfig};
use thiserror::Error;

use crate::probe::SharedFactory;

/// A name that belongs to no controller.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum UnknownController {
    /// No such controller.
    #[error("unknown controller '{name}': expected {}", names().join(", "))]
    Name {
        /// The name asked for.
        name: String,
    },
    /// A controller of ours, but no such preset of it.
    #[error("{0}")]
    Preset(ParseAlgorithmError),
}

/// A factory for the controller called `name`, which draws at random from `seed`.
///
/// A factory serves one run: ours number their controllers, so that sharing one between runs would let these depend on
/// each other. quinn's own BBR seeds its gain cycle from the thread's random numbers, but only the pacing rate that it
/// advertises depends on the cycle, never its window: its runs repeat all the same.
///
/// # Errors
/// When no controller has this name, or it has no such preset.
pub fn resolve(name: &str, seed: u64) -> Result<SharedFactory, UnknownController> {
    Ok(match name {
        QUINN_CUBIC => Arc::new(CubicConfig::default()),
        QUINN_NEW_RENO => Arc::new(NewRenoConfig::default()),
        QUINN_BBR => Arc::new(BbrConfig::default()),
        _ => match name.parse::<Selection>() {
            Ok(selection) => Arc::new(Factory::from(selection).seed(seed)),
            Err(error @ ParseAlgorithmError::Preset { .. }) => {
                return Err(UnknownController::Preset(error));
            }
            Err(ParseAlgorithmError::Algorithm(_)) => {
                let name = name.to_owned();
                return Err(UnknownController::Name { name });
            }
        },
    })
}

/// Every controller a comparison runs when none is named, in order: ours, each with its default preset, then quinn's.
pub fn names() -> Vec<&'static str> {
    Algorithm::ALL
        .into_iter()
        .map(Algorithm::name)
        .chain([QUINN_CUBIC, QUINN_NEW_RENO, QUINN_BBR])
        .collect()
}

const QUINN_CUBIC: &str = "quinn-cubic";
const QUINN_NEW_RENO: &str = "quinn-new-reno";
const QUINN_BBR: &str = "quinn-bbr";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_name_and_every_preset_resolves() {
        let presets = Selection::all().map(|selection| selection.to_string());
        for name in names().into_iter().map(str::to_owned).chain(presets) {
            assert!(resolve(&name, 1).is_ok(), "{name}");
        }
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_known_ones() {
        let refusal = |name| resolve(name, 1).err().map(|error| error.to_string());
        for name in ["", "tahoe", "quinn-cubic:fast", "QUINN-CUBIC"] {
            let message = refusal(name).unwrap();
            assert!(message.starts_with(&format!("unknown controller '{name}': expected ")));
            assert!(message.contains("quinn-new-reno"), "{message}");
        }
        let message = refusal("bbr:fast").unwrap();
        assert!(message.contains("'fast'"), "{message}");
    }
}

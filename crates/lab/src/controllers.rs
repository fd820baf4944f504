//! Congestion controllers by name: `name` or `name:preset`, ours and those that quinn and noq bring along.

use std::fmt;
use std::sync::Arc;

use kneepoint_controllers::{Algorithm, ControllerSpec, ParseAlgorithmError, Preset};
use kneepoint_quinn::Factory;
use quinn::congestion::{BbrConfig, CubicConfig, NewRenoConfig};
use thiserror::Error;

use crate::probe::{SharedFactory, noq};

/// A name that belongs to no controller.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum UnknownController {
    /// No such controller.
    #[error("unknown controller '{name}': expected {}", known())]
    Name {
        /// The name asked for.
        name: String,
    },
    /// A controller of ours, but no such preset of it.
    #[error("{0}")]
    Preset(ParseAlgorithmError),
}

/// A controller to compare with others, and with it the QUIC stack that it runs in.
#[derive(Clone)]
pub enum Candidate {
    /// In quinn, at both ends.
    Quinn(SharedFactory),
    /// In noq, at both ends.
    Noq(noq::SharedFactory),
}

/// A QUIC stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stack {
    /// quinn.
    Quinn,
    /// noq.
    Noq,
}

impl Stack {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Quinn => "quinn",
            Self::Noq => "noq",
        }
    }
}

/// A controller that can be named, in a list of them.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// The stack that it runs in unless the name says another.
    pub stack: Stack,
    /// Its presets, the one that the bare name means first.
    pub presets: &'static [Preset],
    /// What it is, in one line.
    pub description: &'static str,
    /// The paper, the standard or the crate it comes from.
    pub source: &'static str,
}

/// All controllers: ours, and those that quinn and noq bring along.
pub fn entries() -> impl Iterator<Item = Entry> {
    let ours = Algorithm::all().iter().map(|algorithm| Entry {
        name: algorithm.name(),
        stack: Stack::Quinn,
        presets: algorithm.presets(),
        description: algorithm.description(),
        source: algorithm.source(),
    });
    let stock = STOCK.into_iter();
    let stock = stock.map(|(name, stack, description, source)| Entry {
        name,
        stack,
        presets: &[],
        description,
        source,
    });
    ours.chain(stock)
}

impl Candidate {
    /// The stack that it runs in.
    pub fn stack(&self) -> Stack {
        match self {
            Self::Quinn(_) => Stack::Quinn,
            Self::Noq(_) => Stack::Noq,
        }
    }
}

impl From<SharedFactory> for Candidate {
    fn from(factory: SharedFactory) -> Self {
        Self::Quinn(factory)
    }
}

impl fmt::Debug for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.stack(), f)
    }
}

/// The candidate called `name`, which draws at random from `seed`: `noq:NAME` is ours called `NAME` on noq, `noq-cubic`,
/// `noq-new-reno` and `noq-bbr3` are noq's own, and everything else is what [`resolve`] knows, on quinn.
///
/// noq's BBRv3 draws from the thread's random numbers when it next probes, and cannot be told a seed: its runs differ.
///
/// # Errors
/// When no controller has this name, or it has no such preset.
pub fn candidate(name: &str, seed: u64) -> Result<Candidate, UnknownController> {
    Ok(Candidate::Noq(match name {
        NOQ_CUBIC => Arc::new(::noq::congestion::CubicConfig::default()),
        NOQ_NEW_RENO => Arc::new(::noq::congestion::NewRenoConfig::default()),
        NOQ_BBR3 => Arc::new(::noq::congestion::Bbr3Config::default()),
        _ => match name.strip_prefix(ON_NOQ) {
            Some(ours) => {
                Arc::new(kneepoint_noq::Factory::from(controller_spec(ours, name)?).seed(seed))
            }
            None => return resolve(name, seed).map(Candidate::Quinn),
        },
    }))
}

/// The one name of the controller called `name`: of one of ours, the name that it prints. An unknown one stays.
pub fn canonical(name: &str) -> String {
    let (stack, ours) = match name.strip_prefix(ON_NOQ) {
        Some(ours) => (ON_NOQ, ours),
        None => ("", name),
    };
    match ours.parse::<ControllerSpec>() {
        Ok(spec) => format!("{stack}{spec}"),
        Err(_) => name.to_owned(),
    }
}

/// A factory for the controller called `name`, which draws at random from `seed`, on quinn.
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
        _ => Arc::new(Factory::from(controller_spec(name, name)?).seed(seed)),
    })
}

/// One of ours, which was asked for as `full_name`.
fn controller_spec(name: &str, full_name: &str) -> Result<ControllerSpec, UnknownController> {
    name.parse::<ControllerSpec>().map_err(|error| match error {
        ParseAlgorithmError::Algorithm(_) => UnknownController::Name {
            name: full_name.to_owned(),
        },
        _ => UnknownController::Preset(error),
    })
}

/// Every controller a comparison runs when none is named, in order: ours, each with its default preset, then quinn's, then
/// those on noq whose runs repeat.
pub fn names() -> Vec<&'static str> {
    Algorithm::all()
        .iter()
        .map(|algorithm| algorithm.name())
        .chain([QUINN_CUBIC, QUINN_NEW_RENO, QUINN_BBR])
        .chain([KNEE_ON_NOQ, NOQ_CUBIC])
        .collect()
}

/// The known names, for messages.
pub fn known() -> String {
    let ours = Algorithm::all().iter().map(|algorithm| algorithm.name());
    let ours = ours.collect::<Vec<_>>().join(", ");
    let stock = STOCK.map(|(name, ..)| name);
    format!(
        "{ours}, {}, or {ON_NOQ}NAME for one of ours on noq",
        stock.join(", ")
    )
}

const QUINN_CUBIC: &str = "quinn-cubic";
const QUINN_NEW_RENO: &str = "quinn-new-reno";
const QUINN_BBR: &str = "quinn-bbr";
const NOQ_CUBIC: &str = "noq-cubic";
const NOQ_NEW_RENO: &str = "noq-new-reno";
const NOQ_BBR3: &str = "noq-bbr3";
const KNEE_ON_NOQ: &str = "noq:knee";

/// Those that the stacks bring along: name, stack, what it is, and where it is.
const STOCK: [(&str, Stack, &str, &str); 6] = [
    (
        QUINN_CUBIC,
        Stack::Quinn,
        "quinn's CUBIC, its default",
        "quinn::congestion::Cubic (RFC 8312)",
    ),
    (
        QUINN_NEW_RENO,
        Stack::Quinn,
        "quinn's New Reno",
        "quinn::congestion::NewReno (RFC 9002, section 7)",
    ),
    (
        QUINN_BBR,
        Stack::Quinn,
        "quinn's BBRv1, which it calls experimental",
        "quinn::congestion::Bbr (draft-cardwell-iccrg-bbr-congestion-control)",
    ),
    (
        NOQ_CUBIC,
        Stack::Noq,
        "noq's CUBIC",
        "noq::congestion::Cubic (RFC 8312)",
    ),
    (
        NOQ_NEW_RENO,
        Stack::Noq,
        "noq's New Reno",
        "noq::congestion::NewReno (RFC 9002, section 7)",
    ),
    (
        NOQ_BBR3,
        Stack::Noq,
        "noq's BBRv3, whose runs differ: it cannot be told a seed",
        "noq::congestion::Bbr3 (draft-ietf-ccwg-bbr)",
    ),
];

/// Before the name of one of ours.
const ON_NOQ: &str = "noq:";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_name_and_every_preset_resolves() {
        let presets = ControllerSpec::all().map(|controller_spec| controller_spec.to_string());
        let stock = ["noq-cubic", "noq-new-reno", "noq-bbr3"].map(str::to_owned);
        let named = names().into_iter().map(str::to_owned).chain(stock);
        for name in named.chain(presets) {
            let on_noq = name.starts_with("noq");
            let found = candidate(&name, 1).unwrap();
            assert_eq!(matches!(found, Candidate::Noq(_)), on_noq, "{name}");
            if !on_noq && !name.starts_with("quinn") {
                let found = candidate(&format!("noq:{name}"), 1).unwrap();
                assert!(matches!(found, Candidate::Noq(_)), "{name}");
            }
        }
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_known_ones() {
        let refusal = |name| candidate(name, 1).err().map(|error| error.to_string());
        for name in [
            "",
            "tahoe",
            "quinn-cubic:fast",
            "QUINN-CUBIC",
            "noq:",
            "noq:quinn-bbr",
            "noq:noq:bbr",
        ] {
            let message = refusal(name).unwrap();
            assert!(message.starts_with(&format!("unknown controller '{name}': expected ")));
            assert!(message.contains("quinn-new-reno"), "{message}");
            assert!(message.contains("noq:NAME"), "{message}");
        }
        for name in ["bbr:fast", "noq:bbr:fast"] {
            let message = refusal(name).unwrap();
            assert!(message.contains("'fast'"), "{message}");
        }
    }
}

//! Controllers by name: `name` or `name:preset`.

use core::fmt;
use core::str::FromStr;

use thiserror::Error;

use crate::bbr::{BbrConfig, BbrSConfig};
use crate::config::ControllerConfig;

/// The controllers of this crate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// BBRv1 with a maximum filter.
    Bbr,
    /// BBRv1 on SKIP, an adaptive Tobit Kalman filter.
    #[default]
    BbrS,
}

/// A set of parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Preset {
    /// As close to the paper as the host allows.
    Paper,
    /// What we recommend.
    Tuned,
}

/// An algorithm with a preset: what a name like `bbr:tuned` stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Selection {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The preset.
    pub preset: Preset,
}

impl Algorithm {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Bbr, Self::BbrS];

    /// The name, as it is parsed and printed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bbr => "bbr",
            Self::BbrS => "bbr-s",
        }
    }

    /// What it is, in one line.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Bbr => "BBRv1: maximum filter over ten rounds, eight-phase gain cycle",
            Self::BbrS => "BBRv1 on SKIP: an adaptive Tobit Kalman filter instead of the maximum",
        }
    }

    /// The preset that the bare name stands for: `bbr` alone is the paper's, everything else is what we recommend.
    pub const fn default_preset(self) -> Preset {
        match self {
            Self::Bbr => Preset::Paper,
            Self::BbrS => Preset::Tuned,
        }
    }

    /// The configuration of a preset. It is valid.
    pub fn config(self, preset: Preset) -> Box<dyn ControllerConfig> {
        match (self, preset) {
            (Self::Bbr, Preset::Paper) => Box::new(BbrConfig::paper()),
            (Self::Bbr, Preset::Tuned) => Box::new(BbrConfig::tuned()),
            (Self::BbrS, Preset::Paper) => Box::new(BbrSConfig::paper()),
            (Self::BbrS, Preset::Tuned) => Box::new(BbrSConfig::tuned()),
        }
    }
}

impl Selection {
    /// Every algorithm with every preset, the bare names first among each algorithm's.
    pub fn all() -> impl Iterator<Item = Self> {
        Algorithm::ALL.into_iter().flat_map(|algorithm| {
            let first = algorithm.default_preset();
            let second = match first {
                Preset::Paper => Preset::Tuned,
                Preset::Tuned => Preset::Paper,
            };
            [first, second].map(|preset| Self { algorithm, preset })
        })
    }

    /// Its configuration. It is valid.
    pub fn config(self) -> Box<dyn ControllerConfig> {
        self.algorithm.config(self.preset)
    }
}

impl From<Algorithm> for Selection {
    fn from(algorithm: Algorithm) -> Self {
        Self {
            algorithm,
            preset: algorithm.default_preset(),
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Paper => "paper",
            Self::Tuned => "tuned",
        })
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.preset == self.algorithm.default_preset() {
            return write!(f, "{}", self.algorithm);
        }
        write!(f, "{}:{}", self.algorithm, self.preset)
    }
}

/// Not a controller of this crate.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ParseAlgorithmError {
    /// No such algorithm.
    #[error("unknown controller '{0}' (there are {names})", names = names())]
    Algorithm(String),
    /// No such preset.
    #[error("unknown preset '{preset}' of controller '{algorithm}' (there are paper, tuned)")]
    Preset {
        /// The controller that was asked for.
        algorithm: Algorithm,
        /// The preset that it does not have.
        preset: String,
    },
}

fn names() -> String {
    Algorithm::ALL.map(Algorithm::name).join(", ")
}

impl FromStr for Algorithm {
    type Err = ParseAlgorithmError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|algorithm| algorithm.name() == name)
            .ok_or_else(|| ParseAlgorithmError::Algorithm(name.to_owned()))
    }
}

impl FromStr for Selection {
    type Err = ParseAlgorithmError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let (algorithm, preset) = match name.split_once(':') {
            Some((algorithm, preset)) => (algorithm.parse::<Algorithm>()?, Some(preset)),
            None => (name.parse::<Algorithm>()?, None),
        };
        let preset = match preset {
            None => algorithm.default_preset(),
            Some("paper") => Preset::Paper,
            Some("tuned") => Preset::Tuned,
            Some(other) => {
                return Err(ParseAlgorithmError::Preset {
                    algorithm,
                    preset: other.to_owned(),
                });
            }
        };
        Ok(Self { algorithm, preset })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_survive_the_round_trip() {
        for selection in Selection::all() {
            assert_eq!(selection.to_string().parse(), Ok(selection));
            assert_eq!(selection.config().validate(), Ok(()));
        }
        assert_eq!("bbr:paper".parse(), Ok(Selection::from(Algorithm::Bbr)));
        assert_eq!("bbr-s:tuned".parse(), Ok(Selection::from(Algorithm::BbrS)));
    }

    #[test]
    fn errors_name_what_there_is() {
        let error = "bbr9".parse::<Selection>().expect_err("no such controller");
        assert_eq!(
            error.to_string(),
            "unknown controller 'bbr9' (there are bbr, bbr-s)"
        );
        let error = "bbr:fast".parse::<Selection>().expect_err("no such preset");
        assert_eq!(
            error.to_string(),
            "unknown preset 'fast' of controller 'bbr' (there are paper, tuned)"
        );
    }
}

//! Controllers by name: `name` or `name:preset`.

use core::fmt;
use core::str::FromStr;

use thiserror::Error;

use crate::algorithms::Algorithm;
use crate::config::{ControllerConfig, Environment};
use crate::controller::Controller;

/// What the registry has to know of a controller: implemented beside its configuration.
pub(crate) trait Registered: ControllerConfig + Sized + 'static {
    /// The name, as it is parsed and printed.
    const NAME: &'static str;
    /// What it is, in one line.
    const DESCRIPTION: &'static str;
    /// Where it comes from.
    const SOURCE: &'static str;
    /// The sets of parameters, the one that the bare name stands for first.
    const PRESETS: &'static [Preset] = &[Preset::Tuned, Preset::Paper];

    /// The configuration of one of [`PRESETS`](Self::PRESETS). It is valid.
    fn preset(preset: Preset) -> Self;
}

/// Makes [`Algorithm`] of the table in `algorithms/mod.rs`, and exports the configurations.
macro_rules! algorithms {
    ($($(#[$attribute:meta])* $variant:ident($module:ident::$config:ident, $documentation:literal),)*) => {
        $(pub use self::$module::$config;)*

        /// The controllers of this crate.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Algorithm {
            $(#[doc = $documentation] $(#[$attribute])* $variant,)*
        }

        impl Algorithm {
            /// All of them. A later version may have more.
            pub const fn all() -> &'static [Self] {
                &[$(Self::$variant),*]
            }

            /// The name, as it is parsed and printed.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => <$config as $crate::registry::Registered>::NAME,)* }
            }

            /// What it is, in one line.
            pub const fn description(self) -> &'static str {
                match self { $(Self::$variant => <$config as $crate::registry::Registered>::DESCRIPTION,)* }
            }

            /// The paper or the standard it comes from.
            pub const fn source(self) -> &'static str {
                match self { $(Self::$variant => <$config as $crate::registry::Registered>::SOURCE,)* }
            }

            /// The sets of parameters that it has, the one that the bare name stands for first.
            pub const fn presets(self) -> &'static [$crate::Preset] {
                match self { $(Self::$variant => <$config as $crate::registry::Registered>::PRESETS,)* }
            }

            pub(crate) fn preset(self, preset: $crate::Preset) -> Box<dyn $crate::ControllerConfig> {
                match self {
                    $(Self::$variant => Box::new(<$config as $crate::registry::Registered>::preset(preset)),)*
                }
            }
        }
    };
}

pub(crate) use algorithms;

/// A set of parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Preset {
    /// As close to the paper as the host allows.
    Paper,
    /// What we recommend.
    Tuned,
    /// `bbr-fair` with as many packets of every flow in the queue: equal rates whatever the round-trip times, on links of a
    /// steady rate.
    OwnQueue,
}

/// An algorithm with a preset that it has: what a name like `bbr:tuned` stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ControllerSpec {
    algorithm: Algorithm,
    preset: Preset,
}

impl Algorithm {
    /// The preset that the bare name stands for: what we recommend, except that `bbr` alone is the paper's.
    pub const fn default_preset(self) -> Preset {
        self.presets()[0]
    }

    /// This algorithm with a preset, if it has it.
    pub fn with(self, preset: Preset) -> Option<ControllerSpec> {
        let has_it = self.presets().contains(&preset);
        has_it.then_some(ControllerSpec {
            algorithm: self,
            preset,
        })
    }

    /// The configuration of the preset that the bare name stands for. It is valid.
    pub fn config(self) -> Box<dyn ControllerConfig> {
        self.preset(self.default_preset())
    }

    /// A controller with that configuration, for a connection that begins now.
    pub fn build(self, environment: &Environment) -> Box<dyn Controller> {
        ControllerSpec::from(self).build(environment)
    }
}

impl ControllerSpec {
    /// Every algorithm with every preset, the bare names first among each algorithm's.
    pub fn all() -> impl Iterator<Item = Self> {
        Algorithm::all().iter().flat_map(|&algorithm| {
            let presets = algorithm.presets().iter();
            presets.map(move |&preset| Self { algorithm, preset })
        })
    }

    /// The algorithm.
    pub const fn algorithm(self) -> Algorithm {
        self.algorithm
    }

    /// The preset.
    pub const fn preset(self) -> Preset {
        self.preset
    }

    /// Its configuration. It is valid.
    pub fn config(self) -> Box<dyn ControllerConfig> {
        self.algorithm.preset(self.preset)
    }

    /// A controller with that configuration, for a connection that begins now.
    pub fn build(self, environment: &Environment) -> Box<dyn Controller> {
        self.config()
            .build(environment)
            .expect("every preset is valid: a test builds them all")
    }
}

impl From<Algorithm> for ControllerSpec {
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
            Self::OwnQueue => "own-queue",
        })
    }
}

impl fmt::Display for ControllerSpec {
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
    #[error("unknown preset '{preset}' of controller '{algorithm}' (there is {presets})", presets = presets(*.algorithm))]
    Preset {
        /// The controller that was asked for.
        algorithm: Algorithm,
        /// The preset that it does not have.
        preset: String,
    },
}

fn names() -> String {
    let names = Algorithm::all().iter().map(|algorithm| algorithm.name());
    names.collect::<Vec<_>>().join(", ")
}

fn presets(algorithm: Algorithm) -> String {
    let presets = algorithm.presets().iter().map(Preset::to_string);
    presets.collect::<Vec<_>>().join(", ")
}

impl FromStr for Algorithm {
    type Err = ParseAlgorithmError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::all()
            .iter()
            .copied()
            .find(|algorithm| algorithm.name() == name)
            .ok_or_else(|| ParseAlgorithmError::Algorithm(name.to_owned()))
    }
}

impl FromStr for ControllerSpec {
    type Err = ParseAlgorithmError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let Some((algorithm, preset)) = name.split_once(':') else {
            return name.parse::<Algorithm>().map(Self::from);
        };
        let algorithm = algorithm.parse::<Algorithm>()?;
        algorithm
            .presets()
            .iter()
            .copied()
            .find(|known| known.to_string() == preset)
            .and_then(|known| algorithm.with(known))
            .ok_or_else(|| ParseAlgorithmError::Preset {
                algorithm,
                preset: preset.to_owned(),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Transport;
    use crate::units::{Bytes, Timestamp};

    #[test]
    fn names_survive_the_round_trip() {
        let environment = Environment {
            now: Timestamp::ZERO,
            mtu: Bytes(1200),
            seed: 1,
            transport: Transport { paces: true },
        };
        for spec in ControllerSpec::all() {
            assert_eq!(spec.to_string().parse(), Ok(spec));
            assert_eq!(spec.config().validate(), Ok(()));
            assert_eq!(
                spec.build(&environment).snapshot().algorithm,
                spec.algorithm().name()
            );
        }
        assert_eq!(
            "bbr:paper".parse(),
            Ok(ControllerSpec::from(Algorithm::Bbr))
        );
        assert_eq!(
            "bbr-s:tuned".parse(),
            Ok(ControllerSpec::from(Algorithm::BbrS))
        );
    }

    #[test]
    fn errors_list_the_known_names() {
        let error = "bbr9"
            .parse::<ControllerSpec>()
            .expect_err("no such controller");
        assert_eq!(
            error.to_string(),
            format!("unknown controller 'bbr9' (there are {})", names())
        );
        let error = "bbr:fast"
            .parse::<ControllerSpec>()
            .expect_err("no such preset");
        assert_eq!(
            error.to_string(),
            "unknown preset 'fast' of controller 'bbr' (there is paper, tuned)"
        );
    }
}

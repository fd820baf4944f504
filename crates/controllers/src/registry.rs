//! Controllers by name.

use core::fmt;
use core::str::FromStr;

use thiserror::Error;

use crate::algorithms::Algorithm;
use crate::config::{ConfigError, ControllerConfig, Environment};
use crate::controller::Controller;
use crate::spec::ControllerSpec;
use crate::text::Fields;

/// What the registry has to know of a controller: implemented beside its configuration.
pub(crate) trait Registered: Values + Sized + 'static {
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

/// A configuration whose fields can be set by name.
pub(crate) trait Values: ControllerConfig + Fields {}

impl<T: ControllerConfig + Fields> Values for T {}

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

            pub(crate) fn values(self, preset: $crate::Preset) -> Box<dyn $crate::registry::Values> {
                match self {
                    $(Self::$variant => Box::new(<$config as $crate::registry::Registered>::preset(preset)),)*
                }
            }
        }

        $(
            impl TryFrom<$config> for $crate::ControllerSpec {
                type Error = $crate::ConfigError;

                /// The preset that comes nearest, and what differs from it.
                fn try_from(config: $config) -> Result<Self, Self::Error> {
                    Self::of(Algorithm::$variant, Box::new(config))
                }
            }

            #[cfg(feature = "serde")]
            $crate::text::serde::implement!($config);
        )*
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
    /// `bbr-s` with the paper's equations as printed, also where they fail, so that the difference can be shown.
    Published,
    /// `bbr-fair` with as many packets of every flow in the queue: equal rates whatever the round-trip times, on links of a
    /// steady rate.
    OwnQueue,
}

impl Algorithm {
    /// The preset that the bare name stands for: what we recommend, except that `bbr` and `bbr-s` alone are the papers'.
    pub const fn default_preset(self) -> Preset {
        self.presets()[0]
    }

    /// This algorithm with a preset, if it has it.
    pub fn with(self, preset: Preset) -> Option<ControllerSpec> {
        let has_it = self.presets().contains(&preset);
        has_it.then(|| ControllerSpec::preset_of(self, preset))
    }

    /// The configuration of the preset that the bare name stands for. It is valid.
    pub fn config(self) -> Box<dyn ControllerConfig> {
        self.values(self.default_preset())
    }

    /// A controller with that configuration, for a connection that begins now.
    pub fn build(self, environment: &Environment) -> Box<dyn Controller> {
        ControllerSpec::from(self).build(environment)
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
            Self::Published => "published",
            Self::OwnQueue => "own-queue",
        })
    }
}

/// Not a controller of this crate.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ParseAlgorithmError {
    /// No such algorithm.
    #[error("unknown controller '{0}' (there are {names})", names = names())]
    Algorithm(String),
    /// No such preset.
    #[non_exhaustive]
    #[error("unknown preset '{preset}' of controller '{algorithm}' (there is {presets})", presets = presets(*.algorithm))]
    Preset {
        /// The controller that was asked for.
        algorithm: Algorithm,
        /// The preset that it does not have.
        preset: String,
    },
    /// No such field.
    #[non_exhaustive]
    #[error("controller '{algorithm}' has no field '{field}' (there are {known})")]
    Field {
        /// The controller that was asked for.
        algorithm: Algorithm,
        /// The field that its configuration does not have.
        field: String,
        /// The fields that it has.
        known: String,
    },
    /// Neither a preset nor a field and its value.
    #[error("'{0}' is not of the form field=value")]
    Setting(String),
    /// A field that was given two values.
    #[error("'{0}' is given twice")]
    Twice(String),
    /// A value that the field does not take.
    #[error(transparent)]
    Value(#[from] ConfigError),
}

debug_as_display!(ParseAlgorithmError);

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

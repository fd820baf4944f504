//! A controller together with its values.

#[cfg(test)]
mod tests;

use core::fmt;
use core::str::FromStr;

use crate::algorithms::Algorithm;
use crate::config::{ConfigError, ControllerConfig, Environment};
use crate::controller::Controller;
use crate::registry::{ParseAlgorithmError, Preset, Values};
use crate::text::{self, SettingError};

/// A controller together with its values: an algorithm, one of its presets, and the values that differ from the preset.
///
/// As text it is `NAME`, `NAME:PRESET`, or either of them followed by `:FIELD=VALUE` for each value, a field once. The preset is left out if
/// it is the default. A spec is always valid: making one refuses a value out of its range.
///
/// ```
/// use kneepoint_controllers::{Bbr3Config, ControllerSpec};
///
/// let mut config = Bbr3Config::tuned();
/// config.core.min_rtt_window = std::time::Duration::from_secs(20);
/// let spec = ControllerSpec::try_from(config)?;
/// assert_eq!(spec.to_string(), "bbr3:core.min_rtt_window=20s");
/// assert_eq!("bbr3:tuned:core.min_rtt_window=20s".parse(), Ok(spec));
/// # Ok::<(), kneepoint_controllers::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ControllerSpec {
    algorithm: Algorithm,
    preset: Preset,
    /// Fields that differ from the preset, in the order of their declaration, and their values in text.
    settings: Vec<(String, String)>,
}

impl ControllerSpec {
    /// Every algorithm with every preset, the bare names first among each algorithm's.
    pub fn all() -> impl Iterator<Item = Self> {
        Algorithm::all().iter().flat_map(|&algorithm| {
            let presets = algorithm.presets().iter();
            presets.map(move |&preset| Self::preset_of(algorithm, preset))
        })
    }

    /// An algorithm with one of its presets.
    pub(crate) const fn preset_of(algorithm: Algorithm, preset: Preset) -> Self {
        Self {
            algorithm,
            preset,
            settings: Vec::new(),
        }
    }

    /// The algorithm with these values, based on the preset that comes nearest.
    pub(crate) fn of(algorithm: Algorithm, config: Box<dyn Values>) -> Result<Self, ConfigError> {
        config.validate()?;
        let mut config = config;
        let values = text::all(&mut *config);
        let based_on = |&preset| Self {
            algorithm,
            preset,
            settings: differences(&values, algorithm, preset),
        };
        let presets = algorithm.presets().iter().map(based_on);
        let nearest = presets.min_by_key(|spec| spec.settings.len());
        Ok(nearest.expect("every algorithm has a preset"))
    }

    /// The algorithm.
    pub const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The preset that the values are based on.
    pub const fn preset(&self) -> Preset {
        self.preset
    }

    /// The fields that differ from the preset, and their values.
    pub fn settings(&self) -> impl Iterator<Item = (&str, &str)> {
        let settings = self.settings.iter();
        settings.map(|(field, value)| (field.as_str(), value.as_str()))
    }

    /// All fields and their values, in the order of their declaration.
    pub fn fields(&self) -> Vec<(String, String)> {
        let fields = text::all(&mut *self.values()).into_iter();
        fields
            .map(|(field, value)| (field, value.to_string()))
            .collect()
    }

    /// Its configuration. It is valid.
    pub fn config(&self) -> Box<dyn ControllerConfig> {
        self.values()
    }

    fn values(&self) -> Box<dyn Values> {
        let mut config = self.algorithm.values(self.preset);
        for (field, value) in self.settings() {
            text::set(&mut *config, field, value).expect("it was set when the spec was made");
        }
        config
    }

    /// A controller with that configuration, for a connection that begins now.
    pub fn build(&self, environment: &Environment) -> Box<dyn Controller> {
        self.config()
            .build(environment)
            .expect("a spec is valid: it was checked when it was made")
    }
}

/// What is not as in the preset.
fn differences(
    values: &[(String, text::Scalar)],
    algorithm: Algorithm,
    preset: Preset,
) -> Vec<(String, String)> {
    let mut preset = algorithm.values(preset);
    let pairs = values.iter().zip(text::all(&mut *preset));
    let different = pairs.filter(|(value, preset)| *value != preset);
    let written = different.map(|((field, value), _)| (field.clone(), value.to_string()));
    written.collect()
}

impl From<Algorithm> for ControllerSpec {
    fn from(algorithm: Algorithm) -> Self {
        Self::preset_of(algorithm, algorithm.default_preset())
    }
}

impl fmt::Display for ControllerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.algorithm)?;
        if self.preset != self.algorithm.default_preset() {
            write!(f, ":{}", self.preset)?;
        }
        self.settings()
            .try_for_each(|(field, value)| write!(f, ":{field}={value}"))
    }
}

impl FromStr for ControllerSpec {
    type Err = ParseAlgorithmError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = text.split(':').peekable();
        let algorithm = parts.next().unwrap_or_default().parse::<Algorithm>()?;
        let mut preset = algorithm.default_preset();
        if let Some(name) = parts.next_if(|part| !part.contains('=')) {
            let mut presets = algorithm.presets().iter().copied();
            let known = presets.find(|known| known.to_string() == name);
            preset = known.ok_or_else(|| ParseAlgorithmError::Preset {
                algorithm,
                preset: name.to_owned(),
            })?;
        }
        let mut config = algorithm.values(preset);
        let mut given = Vec::new();
        for part in parts {
            let Some((field, value)) = part.split_once('=') else {
                return Err(ParseAlgorithmError::Setting(part.to_owned()));
            };
            text::set(&mut *config, field, value).map_err(|error| match error {
                SettingError::Unknown { field, known } => ParseAlgorithmError::Field {
                    algorithm,
                    field,
                    known,
                },
                SettingError::Value(error) => error.into(),
            })?;
            // Only one of the values could hold.
            if given.contains(&field) {
                return Err(ParseAlgorithmError::Twice(field.to_owned()));
            }
            given.push(field);
        }
        config.validate()?;
        let values = text::all(&mut *config);
        Ok(Self {
            algorithm,
            preset,
            settings: differences(&values, algorithm, preset),
        })
    }
}

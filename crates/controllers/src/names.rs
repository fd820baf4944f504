//! With the feature `serde`, controllers are their names and gains are numbers.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::algorithms::Algorithm;
use crate::registry::ControllerSpec;
use crate::units::Gain;

impl Serialize for Algorithm {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Algorithm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        name.parse().map_err(Error::custom)
    }
}

impl Serialize for ControllerSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ControllerSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        name.parse().map_err(Error::custom)
    }
}

impl Serialize for Gain {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.as_f64())
    }
}

impl<'de> Deserialize<'de> for Gain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let factor = f64::deserialize(deserializer)?;
        let millionths = (factor * f64::from(MILLION)).round();
        if !(0.0..=f64::from(u32::MAX)).contains(&millionths) {
            return Err(Error::custom(format!(
                "a factor of {factor} is not in 0 to 4294"
            )));
        }
        Ok(Self::new(millionths as u32, MILLION))
    }
}

/// A gain read as a number is the nearest millionth.
const MILLION: u32 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bbr3SConfig, BbrConfig, BbrSConfig, CubicConfig};

    #[test]
    fn configurations_survive_the_round_trip() {
        fn check<T>(config: T)
        where
            T: Serialize + for<'de> Deserialize<'de> + PartialEq + core::fmt::Debug,
        {
            let text = serde_json::to_string(&config).expect("it can be written");
            let read = serde_json::from_str::<T>(&text).expect("it can be read");
            assert_eq!(read, config, "{text}");
        }
        check(BbrConfig::paper());
        check(BbrSConfig::paper());
        check(BbrSConfig::tuned());
        check(Bbr3SConfig::tuned());
        check(CubicConfig::default());
        for spec in ControllerSpec::all() {
            check(spec);
            check(spec.algorithm());
        }
    }

    #[test]
    fn missing_fields_are_defaults_and_unknown_ones_are_rejected() {
        let config: CubicConfig = serde_json::from_str(r#"{"hystart": false}"#).expect("valid");
        let expected = CubicConfig {
            hystart: false,
            ..CubicConfig::default()
        };
        assert_eq!(config, expected);
        let refused = serde_json::from_str::<CubicConfig>(r#"{"hystert": false}"#);
        assert!(
            refused
                .expect_err("no such field")
                .to_string()
                .contains("hystert")
        );
        let refused = serde_json::from_str::<ControllerSpec>(r#""bbr9""#);
        assert!(
            refused
                .expect_err("no such name")
                .to_string()
                .contains("bbr9")
        );
        for gain in ["-1.0", "5000.0"] {
            assert!(serde_json::from_str::<Gain>(gain).is_err(), "{gain}");
        }
    }

    #[test]
    fn a_snapshot_can_be_written() {
        let environment = crate::driver::environment();
        for algorithm in Algorithm::all() {
            let snapshot = algorithm.build(&environment).snapshot();
            let text = serde_json::to_string(&snapshot).expect("it can be written");
            assert!(text.contains(algorithm.name()), "{text}");
        }
    }
}

//! With the feature `serde`, configurations are maps, and controllers are their names with what differs from a preset.
//!
//! A configuration may leave out what is to stay as in [`Default`], within its parts as well. What is unknown, and what is out of
//! its range, is refused. Formats have to say of themselves what a value is, as TOML and JSON do.

use core::fmt;

use serde::de::{DeserializeSeed, Error, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::values::NONE;
use super::{Field, Fields, Scalar, Value};
use crate::algorithms::Algorithm;
use crate::config::ConfigError;
use crate::registry::Values;
use crate::spec::ControllerSpec;

/// Makes a map of the fields of a configuration.
macro_rules! implement {
    ($config:ty) => {
        impl serde::Serialize for $config {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::text::serde::serialize(self.clone(), serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $config {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::text::serde::deserialize(deserializer)
            }
        }
    };
}

pub(crate) use implement;

pub(crate) fn serialize<S: Serializer>(
    mut config: impl Values,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    Tree::of(&mut config).serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>, T: Values + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    let mut config = T::default();
    Group(&mut config).deserialize(deserializer)?;
    config.validate().map_err(Error::custom)?;
    Ok(config)
}

/// What is written: nothing can be visited in a shared configuration.
enum Tree {
    Value(Scalar),
    Group(Vec<(&'static str, Self)>),
}

impl Tree {
    fn of(config: &mut dyn Fields) -> Self {
        let mut fields = Vec::new();
        config.visit(&mut |name, field| {
            let tree = match field {
                Field::Value(value) => Self::Value(value.get()),
                Field::Group(group) => Self::of(group),
            };
            fields.push((name, tree));
        });
        Self::Group(fields)
    }
}

impl Serialize for Tree {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Value(Scalar::Bool(value)) => serializer.serialize_bool(*value),
            Self::Value(Scalar::Integer(value)) => serializer.serialize_u64(*value),
            Self::Value(Scalar::Float(value)) => serializer.serialize_f64(*value),
            Self::Value(Scalar::Text(value)) => serializer.serialize_str(value),
            Self::Group(fields) => {
                let mut map = serializer.serialize_map(Some(fields.len()))?;
                for (name, tree) in fields {
                    map.serialize_entry(name, tree)?;
                }
                map.end()
            }
        }
    }
}

/// Reads a map into a configuration.
struct Group<'a>(&'a mut dyn Fields);

impl<'de> DeserializeSeed<'de> for Group<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Group<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map of fields")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            let mut known = Vec::new();
            let mut outcome = None;
            self.0.visit(&mut |field, found| {
                known.push(field);
                if field == name {
                    outcome = Some(match found {
                        Field::Value(value) => map.next_value_seed(One { field, value }),
                        Field::Group(group) => map.next_value_seed(Group(group)),
                    });
                }
            });
            outcome.unwrap_or_else(|| {
                let known = known.join(", ");
                Err(Error::custom(format!(
                    "there is no field '{name}' (there are {known})"
                )))
            })?;
        }
        Ok(())
    }
}

/// Reads a value into its field.
struct One<'a> {
    field: &'static str,
    value: &'a mut dyn Value,
}

impl One<'_> {
    fn set<E: Error>(self, text: &str) -> Result<(), E> {
        let refused = |expected| E::custom(ConfigError::new(self.field, text, expected));
        self.value.set(text).map_err(refused)
    }
}

impl<'de> DeserializeSeed<'de> for One<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for One<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a value for {}", self.field)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.set(&value.to_string())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.set(&value.to_string())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.set(&value.to_string())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.set(&value.to_string())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        self.set(value)
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.set(NONE)
    }
}

/// Types that are one word of text.
macro_rules! as_text {
    ($($type:ty),*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(Error::custom)
            }
        }
    )*};
}

as_text!(Algorithm, ControllerSpec);

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;
    use crate::{Bbr3SConfig, BbrConfig, BbrFairConfig, BbrSConfig, CubicConfig, VegasConfig};

    fn read<T: for<'de> Deserialize<'de>>(text: &str) -> Result<T, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    fn refused<T: for<'de> Deserialize<'de> + fmt::Debug>(text: &str) -> String {
        read::<T>(text).expect_err("nothing valid")
    }

    #[test]
    fn configurations_survive_the_round_trip() {
        fn check<T>(config: T)
        where
            T: Serialize + for<'de> Deserialize<'de> + PartialEq + fmt::Debug,
        {
            let text = serde_json::to_string(&config).expect("it can be written");
            assert_eq!(read::<T>(&text), Ok(config), "{text}");
        }
        check(BbrConfig::paper());
        check(BbrSConfig::paper());
        check(BbrSConfig::published());
        check(Bbr3SConfig::tuned());
        check(CubicConfig::default());
        for spec in ControllerSpec::all() {
            check(spec.algorithm());
            check(spec);
        }
    }

    #[test]
    fn what_is_left_out_is_the_default() {
        let mut expected = BbrSConfig::default();
        expected.core.min_rtt_window = Duration::from_secs(20);
        let text = r#"{"core": {"min_rtt_window": "20s"}}"#;
        assert_eq!(read(text), Ok(expected.clone()));
        expected.filter.skip.inflate = Some(2.0);
        expected.filter.interval.min_packets = 3;
        expected.core.startup_exit_rtt = None;
        let text = r#"{"filter": {"skip": {"inflate": 2.0}, "interval": {"min_packets": 3}},
                       "core": {"min_rtt_window": "20000ms", "startup_exit_rtt": "none"}}"#;
        assert_eq!(read(text), Ok(expected));
        assert_eq!(read("{}"), Ok(VegasConfig::default()));
        let table = "gamma = 2\nstanding = \"150ms\"\n";
        let expected = VegasConfig {
            gamma: 2,
            standing: Duration::from_millis(150),
            ..VegasConfig::default()
        };
        assert_eq!(toml::from_str(table), Ok(expected));
        let error = toml::from_str::<BbrConfig>("[core]\npacing_margin = 2.5\n");
        let error = error.expect_err("above 1").to_string();
        assert!(error.contains("pacing_margin is 2.5"), "{error}");
        assert_eq!(
            read(r#""bbr3:core.min_rtt_window=20s""#),
            "bbr3:core.min_rtt_window=20s"
                .parse::<ControllerSpec>()
                .map_err(|error| error.to_string())
        );
    }

    #[test]
    fn what_is_unknown_or_out_of_its_range_is_refused_by_name() {
        for (error, parts) in [
            (
                refused::<CubicConfig>(r#"{"hystert": false}"#),
                ["hystert", "hystart"],
            ),
            (
                refused::<BbrFairConfig>(r#"{"core": {"target": 3}}"#),
                ["'target'", "target_queue"],
            ),
            (
                refused::<BbrConfig>(r#"{"core": {"min_rtt_window": 20}}"#),
                ["min_rtt_window is 20", "20s"],
            ),
            (
                refused::<BbrConfig>(r#"{"core": {"min_rtt_window": "20ms"}}"#),
                ["min_rtt_window is 20ms", "1 s to 1 h"],
            ),
            (
                refused::<BbrConfig>(r#"{"core": {"window_gain": -2}}"#),
                ["window_gain is -2", "0 to 4294"],
            ),
            (
                refused::<BbrConfig>(r#"{"core": {"ecn": {"bound": 1}}}"#),
                ["ecn", "map"],
            ),
            (
                refused::<BbrConfig>(r#"{"core": 7}"#),
                ["7", "a map of fields"],
            ),
            (refused::<ControllerSpec>(r#""bbr9""#), ["bbr9", "bbr3"]),
            (
                refused::<ControllerSpec>(r#""bbr3:core.beta=x""#),
                ["core.beta is x", "such as 1.25"],
            ),
        ] {
            for part in parts {
                assert!(error.contains(part), "{part}: {error}");
            }
        }
    }

    /// The fields of another crate's configurations are listed by hand.
    #[test]
    fn no_field_is_missing() {
        let config = BbrSConfig::default();
        let written = serde_json::to_value(&config).expect("it can be written");
        let filter = &config.filter;
        let own = [
            ("/filter/skip", serde_json::to_value(filter.skip)),
            ("/filter/interval", serde_json::to_value(filter.interval)),
            (
                "/filter/skip/filter",
                serde_json::to_value(filter.skip.filter),
            ),
        ];
        for (place, own) in own {
            let names = |value: &serde_json::Value| {
                let fields = value.as_object().expect("a map");
                fields.keys().cloned().collect::<Vec<_>>()
            };
            let ours = written.pointer(place).expect("it is written");
            assert_eq!(
                names(ours),
                names(&own.expect("it can be written")),
                "{place}"
            );
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

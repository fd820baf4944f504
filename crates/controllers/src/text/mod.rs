//! Configurations as text: each field has a name, and a value that is one word.

#[cfg(feature = "serde")]
pub(crate) mod serde;
mod values;

pub(crate) use values::words;

use core::fmt;

use thiserror::Error;

use crate::config::ConfigError;

/// A configuration whose fields have names.
pub(crate) trait Fields {
    /// Shows the fields to a visitor, in the order of their declaration.
    fn visit(&mut self, visitor: &mut dyn FnMut(&'static str, Field<'_>));
}

/// What a name stands for.
pub(crate) enum Field<'a> {
    /// One value.
    Value(&'a mut dyn Value),
    /// A configuration within the configuration.
    Group(&'a mut dyn Fields),
}

/// The value of a field.
pub(crate) trait Value {
    /// As it is written.
    fn get(&self) -> Scalar;

    /// Reads it.
    ///
    /// # Errors
    /// What it may be.
    fn set(&mut self, text: &str) -> Result<(), String>;
}

/// Values and configurations, as what they are within another configuration.
pub(crate) trait AsField {
    fn as_field(&mut self) -> Field<'_>;
}

/// A value, as formats know it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Scalar {
    Bool(bool),
    Integer(u64),
    Float(f64),
    Text(String),
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value}"),
            Self::Text(value) => f.write_str(value),
        }
    }
}

/// A setting that a configuration does not take.
#[derive(Debug, Clone, PartialEq, Error)]
pub(crate) enum SettingError {
    #[error("there is no field '{field}' (there are {known})")]
    Unknown { field: String, known: String },
    #[error(transparent)]
    Value(#[from] ConfigError),
}

/// Sets the field of this name: `core.min_rtt_window`, say.
pub(crate) fn set(config: &mut dyn Fields, field: &str, text: &str) -> Result<(), SettingError> {
    set_within(config, field, field, text).unwrap_or_else(|| {
        let known = all(config).into_iter().map(|(name, _)| name);
        Err(SettingError::Unknown {
            field: field.to_owned(),
            known: known.collect::<Vec<_>>().join(", "),
        })
    })
}

/// `None` if there is no such field.
fn set_within(
    config: &mut dyn Fields,
    path: &str,
    field: &str,
    text: &str,
) -> Option<Result<(), SettingError>> {
    let (first, rest) = match path.split_once('.') {
        Some((first, rest)) => (first, Some(rest)),
        None => (path, None),
    };
    let mut outcome = None;
    config.visit(&mut |name, found| {
        match (found, rest) {
            _ if name != first => {}
            (Field::Value(value), None) => {
                let refused = |expected| ConfigError::new(field, text, expected).into();
                outcome = Some(value.set(text).map_err(refused));
            }
            (Field::Group(group), Some(rest)) => {
                outcome = set_within(group, rest, field, text);
            }
            // A group is no value, and a value has nothing within.
            _ => {}
        }
    });
    outcome
}

/// Every field with its value.
pub(crate) fn all(config: &mut dyn Fields) -> Vec<(String, Scalar)> {
    let mut fields = Vec::new();
    config.visit(&mut |name, field| match field {
        Field::Value(value) => fields.push((name.to_owned(), value.get())),
        Field::Group(group) => {
            let within = all(group).into_iter();
            fields.extend(within.map(|(rest, value)| (format!("{name}.{rest}"), value)));
        }
    });
    fields
}

/// Names the fields of a configuration: all of them, which the compiler sees to, or those of another crate's.
macro_rules! fields {
    ($config:ty { $($field:ident),* $(,)? }) => {
        impl $crate::text::Fields for $config {
            fn visit(&mut self, visitor: &mut dyn FnMut(&'static str, $crate::text::Field<'_>)) {
                let Self { $($field),* } = self;
                $(visitor(stringify!($field), $crate::text::AsField::as_field($field));)*
            }
        }

        $crate::text::fields!(group $config);
    };
    (foreign $config:ty { $($field:ident),* $(,)? }) => {
        impl $crate::text::Fields for $config {
            fn visit(&mut self, visitor: &mut dyn FnMut(&'static str, $crate::text::Field<'_>)) {
                $(visitor(stringify!($field), $crate::text::AsField::as_field(&mut self.$field));)*
            }
        }

        $crate::text::fields!(group $config);
    };
    (group $config:ty) => {
        impl $crate::text::AsField for $config {
            fn as_field(&mut self) -> $crate::text::Field<'_> {
                $crate::text::Field::Group(self)
            }
        }
    };
}

pub(crate) use fields;

//! The values of a controller's configuration, and what half, twice and none of each would be.

use kneepoint_controllers::{ControllerSpec, ParseAlgorithmError};

/// One value of a configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// The name of the field.
    pub name: String,
    /// The value as text.
    pub value: String,
    number: Option<Number>,
}

/// A number of a configuration, and its unit.
#[derive(Debug, Clone, PartialEq)]
struct Number {
    value: f64,
    unit: String,
    whole: bool,
}

/// A configuration that differs in one value.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The name of the field.
    pub name: String,
    /// The new value as text.
    pub value: String,
    /// The controller with it.
    pub spec: ControllerSpec,
    /// Why the value is another one than asked for, if it is: the valid range.
    pub clamped: Option<String>,
}

/// The values of a controller, by name.
pub fn parameters(controller: &ControllerSpec) -> Vec<Parameter> {
    let fields = controller.fields().into_iter();
    fields
        .map(|(name, value)| Parameter::new(controller, name, value))
        .collect()
}

impl Parameter {
    fn new(controller: &ControllerSpec, name: String, value: String) -> Self {
        // A field that takes no half is of whole numbers.
        let whole =
            value.parse::<u64>().is_ok() && set(controller, &name, &format!("{value}.5")).is_err();
        Self {
            number: Number::parse(&value, whole),
            name,
            value,
        }
    }

    /// The controller with this value times a factor, or as near to that as its range allows. `None` for what is no number.
    pub fn scaled(&self, controller: &ControllerSpec, factor: f64) -> Option<Change> {
        let number = self.number.as_ref()?;
        let at = |share: f64, digits| {
            let value = number.times(factor.powf(share), digits);
            self.change(controller, value)
        };
        let error = match at(1.0, DIGITS) {
            Ok(change) => return Some(change),
            Err(error) => error,
        };
        let (mut valid, mut refused) = (0.0, 1.0);
        for _ in 0..BISECTIONS {
            let middle = f64::midpoint(valid, refused);
            match at(middle, MANY_DIGITS) {
                Ok(_) => valid = middle,
                Err(_) => refused = middle,
            }
        }
        // The limit itself is a short number, and valid.
        let nearest = at(valid, DIGITS).or_else(|_| at(valid, MANY_DIGITS));
        Some(Change {
            clamped: Some(error.to_string()),
            ..nearest.ok()?
        })
    }

    /// The controller with the value for "none" or zero, or with the other truth value, where that is valid.
    pub fn off(&self, controller: &ControllerSpec) -> Option<Change> {
        let values = match (self.value.as_str(), &self.number) {
            ("true", _) => vec!["false".to_owned()],
            ("false", _) => vec!["true".to_owned()],
            (_, Some(number)) => vec!["none".to_owned(), format!("0{}", number.unit)],
            (_, None) => vec!["none".to_owned()],
        };
        let mut changes = values
            .into_iter()
            .filter_map(|value| self.change(controller, value).ok());
        changes.find(|change| change.spec != *controller)
    }

    fn change(
        &self,
        controller: &ControllerSpec,
        value: String,
    ) -> Result<Change, ParseAlgorithmError> {
        let spec = set(controller, &self.name, &value)?;
        let of_field = |setting: &(&str, &str)| setting.0 == self.name;
        let written = spec.settings().find(of_field);
        Ok(Change {
            name: self.name.clone(),
            // As the controller writes it, unless it is the preset's.
            value: written.map_or(value, |(_, value)| value.to_owned()),
            spec,
            clamped: None,
        })
    }
}

/// The controller with one more value, or another one of a field that it has.
///
/// # Errors
/// What does not fit the field, or the other values.
pub fn set(
    controller: &ControllerSpec,
    name: &str,
    value: &str,
) -> Result<ControllerSpec, ParseAlgorithmError> {
    let others = controller.settings().filter(|(field, _)| *field != name);
    let others: String = others
        .map(|(field, value)| format!(":{field}={value}"))
        .collect();
    let (algorithm, preset) = (controller.algorithm(), controller.preset());
    format!("{algorithm}:{preset}{others}:{name}={value}").parse()
}

impl Number {
    /// A number, a fraction, or a number with a unit of time.
    fn parse(text: &str, whole: bool) -> Option<Self> {
        let end = text.find(char::is_alphabetic).unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let value = match number.split_once('/') {
            Some((numerator, denominator)) => {
                numerator.parse::<f64>().ok()? / denominator.parse::<f64>().ok()?
            }
            None => number.parse().ok()?,
        };
        Some(Self {
            value,
            unit: unit.to_owned(),
            whole,
        })
    }

    /// As text, with so many significant digits.
    fn times(&self, factor: f64, digits: i32) -> String {
        let value = self.value * factor;
        let rounded = if self.whole {
            value.round()
        } else {
            let places = digits - 1 - value.abs().max(f64::MIN_POSITIVE).log10().floor() as i32;
            let unit = 10_f64.powi(places);
            let rounded = (value * unit).round() / unit;
            Some(rounded).filter(|it| it.is_finite()).unwrap_or(value)
        };
        format!("{rounded}{}", self.unit)
    }
}

/// Significant digits of a value that is written.
const DIGITS: i32 = 4;

/// Significant digits where the limit of a range is sought.
const MANY_DIGITS: i32 = 12;

/// This many halvings find the limit of a range to about [`MANY_DIGITS`].
const BISECTIONS: u32 = 44;

#[cfg(test)]
mod tests {
    use super::*;

    fn of(controller: &str, name: &str) -> (ControllerSpec, Parameter) {
        let controller: ControllerSpec = controller.parse().unwrap();
        let mut found = parameters(&controller).into_iter();
        let found = found.find(|parameter| parameter.name == name);
        (controller, found.unwrap())
    }

    fn scaled(controller: &str, name: &str, factor: f64) -> Option<(String, bool)> {
        let (controller, parameter) = of(controller, name);
        let change = parameter.scaled(&controller, factor)?;
        assert_eq!(change.spec, set(&controller, name, &change.value).unwrap());
        Some((change.value, change.clamped.is_some()))
    }

    /// The text of every value is what the controller has, so that setting all of them changes nothing.
    #[test]
    fn the_values_of_every_controller_are_its_own() {
        for spec in ControllerSpec::all() {
            let found = parameters(&spec);
            assert!(!found.is_empty(), "{spec}");
            for parameter in found {
                let set = set(&spec, &parameter.name, &parameter.value);
                assert_eq!(set.as_ref(), Ok(&spec), "{}", parameter.name);
            }
        }
    }

    #[test]
    fn numbers_and_durations_are_scaled() {
        let valid = |text: &str| (text.to_owned(), false);
        let window = scaled("bbr3", "core.min_rtt_window", 2.0);
        assert_eq!(window, Some(valid("20s")));
        assert_eq!(scaled("vegas", "alpha", 0.5), Some(valid("1")));
        let root = std::f64::consts::FRAC_1_SQRT_2;
        assert_eq!(scaled("cubic", "beta_cubic", root), Some(valid("0.495")));
        // It starts where the controller is.
        let twice = scaled("cubic:beta_cubic=0.2", "beta_cubic", 2.0);
        assert_eq!(twice, Some(valid("0.4")));
        // What is no number has no half, and may have a value for off.
        let (controller, window) = of("bbr", "core.probe_rtt_window");
        assert_eq!(window.scaled(&controller, 0.5), None);
    }

    #[test]
    fn a_value_out_of_its_range_is_clamped_to_the_limit() {
        let (controller, c) = of("cubic", "c");
        let change = c.scaled(&controller, 100.0).unwrap();
        assert_eq!(change.value, "10");
        let reason = change.clamped.unwrap();
        assert!(
            reason.contains("c is 40") && reason.contains("10"),
            "{reason}"
        );
        // At the limit there is nothing left to change.
        assert_eq!(
            scaled("cubic:c=10", "c", 2.0),
            Some(("10".to_owned(), true))
        );
        // A limit that is not in the range is approached.
        let (value, clamped) = scaled("cubic", "beta_cubic", 2.0).unwrap();
        assert!(value.starts_with("0.9999") && clamped, "{value}");
    }
}

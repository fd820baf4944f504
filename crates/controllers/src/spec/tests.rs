use super::*;
use crate::config::Transport;
use crate::units::Bytes;
use crate::{Bbr3Config, BbrConfig, BbrSConfig, CubicConfig, EcnRule, Gain};

fn refused(text: &str) -> String {
    let refused = text.parse::<ControllerSpec>();
    refused.expect_err("no such spec").to_string()
}

#[test]
fn names_survive_the_round_trip() {
    let environment = Environment::new(Bytes(1200), 1, Transport::PACES);
    for spec in ControllerSpec::all() {
        assert_eq!(spec.to_string().parse(), Ok(spec.clone()));
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
        "bbr-s:paper".parse(),
        Ok(ControllerSpec::from(Algorithm::BbrS))
    );
}

/// Every field of every controller: what is written is read, and means the same.
#[test]
fn every_field_survives_the_round_trip() {
    for spec in ControllerSpec::all() {
        let (algorithm, preset) = (spec.algorithm(), spec.preset());
        let values = text::all(&mut *algorithm.values(preset));
        assert!(!values.is_empty());
        let text = values
            .iter()
            .map(|(field, value)| format!(":{field}={value}"));
        let text = format!("{algorithm}:{preset}{}", text.collect::<String>());
        assert_eq!(text.parse(), Ok(spec.clone()), "{text}");
        // From another preset's values the same ones are reached.
        for &other in algorithm.presets() {
            let mut config = algorithm.values(other);
            for (field, value) in &values {
                text::set(&mut *config, field, &value.to_string()).expect("a valid value");
            }
            assert_eq!(text::all(&mut *config), values, "{text}");
        }
    }
}

#[test]
fn values_of_ones_own_are_part_of_it() {
    let mut config = Bbr3Config::paper();
    config.core.window_gain = Gain::new(3, 2);
    let spec = ControllerSpec::try_from(config.clone()).expect("a valid gain");
    assert_eq!(spec.to_string(), "bbr3:paper:core.window_gain=1.5");
    assert_eq!(spec.to_string().parse(), Ok(spec.clone()));
    assert_eq!(text::all(&mut *spec.values()), text::all(&mut config));
    assert_eq!(
        spec.settings().collect::<Vec<_>>(),
        [("core.window_gain", "1.5")]
    );

    let mut config = BbrConfig::tuned();
    config.core.ecn = EcnRule::Ignore;
    let spec = ControllerSpec::try_from(config).expect("a valid rule");
    assert_eq!(spec.to_string(), "bbr:tuned:core.ecn=ignore");
    // The preset itself, by its values.
    let preset = ControllerSpec::try_from(BbrSConfig::paper());
    assert_eq!(preset, Ok(ControllerSpec::from(Algorithm::BbrS)));
    let same = "cubic:hystart=true".parse();
    assert_eq!(same, Ok(ControllerSpec::from(Algorithm::Cubic)));
}

#[test]
fn what_is_out_of_its_range_is_refused() {
    let config = CubicConfig {
        beta_cubic: Gain::UNIT,
        ..CubicConfig::default()
    };
    let error = ControllerSpec::try_from(config).expect_err("no reduction");
    assert_eq!(error.field, "beta_cubic");
    assert!(refused("cubic:beta_cubic=1").starts_with("beta_cubic is 1"));
    assert_eq!(
        refused("knee:target_growth=1e300"),
        "target_growth is 1e300, but must be 0.001 to 100"
    );
}

#[test]
fn errors_list_the_known_names() {
    assert!(refused("bbr9").starts_with("unknown controller 'bbr9' (there are new-reno, cubic"));
    assert_eq!(
        refused("bbr:fast"),
        "unknown preset 'fast' of controller 'bbr' (there is paper, tuned)"
    );
    assert_eq!(
        refused("bbr-s:tuned"),
        "unknown preset 'tuned' of controller 'bbr-s' (there is paper, published)"
    );
    // Each of the names that it lists can be pasted.
    for wrong in ["filter.epoch", "core", "min_rtt_window", "core.polcer"] {
        let message = refused(&format!("bbr:{wrong}=10"));
        let expected = format!("controller 'bbr' has no field '{wrong}' (there are core.");
        assert!(message.starts_with(&expected), "{message}");
        assert!(message.contains(", core.min_rtt_window, "), "{message}");
        assert!(message.ends_with("filter.epochs)"), "{message}");
    }
    assert_eq!(
        refused("bbr:core.min_rtt_window=soon"),
        "core.min_rtt_window is soon, but must be a number with its unit, such as 20s or 150ms"
    );
    assert_eq!(
        refused("bbr3:core.min_rtt_window=20s:core.min_rtt_window=10s"),
        "'core.min_rtt_window' is given twice"
    );
    assert_eq!(
        refused("bbr:paper:tuned"),
        "'tuned' is not of the form field=value"
    );
}

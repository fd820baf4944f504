use std::sync::Mutex;

use kneepoint_controllers::{BbrConfig, BbrSConfig, Environment, Gain, Timestamp, WindowPolicy};

use super::*;
use crate::observe::snapshot;
use kneepoint_testkit::events::origin;

/// Notes the environment of everything built.
#[derive(Debug, Clone, Default)]
struct Recording(Arc<Mutex<Vec<Environment>>>);

impl ControllerConfig for Recording {
    fn validate(&self) -> Result<(), ConfigError> {
        Ok(())
    }

    fn build(
        &self,
        environment: &Environment,
    ) -> Result<Box<dyn kneepoint_controllers::Controller>, ConfigError> {
        self.0.lock().expect("no panics").push(*environment);
        BbrConfig::tuned().build(environment)
    }
}

fn seeds(seed: u64, connections: usize) -> Vec<u64> {
    let config = Recording::default();
    let factory = Arc::new(Factory::new(config.clone()).expect("valid").seed(seed));
    for _ in 0..connections {
        Arc::clone(&factory).build(origin(), 1200);
    }
    let environments = config.0.lock().expect("no panics");
    environments.iter().map(|built| built.seed).collect()
}

#[test]
fn every_connection_has_its_own_seed() {
    let mut all: Vec<u64> = (0..10).flat_map(|seed| seeds(seed, 100)).collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 1000);
}

#[test]
fn the_factorys_seed_fixes_them() {
    assert_eq!(seeds(42, 20), seeds(42, 20));
}

#[test]
fn a_connection_begins_with_its_mtu_at_its_own_zero() {
    let config = Recording::default();
    let factory = Arc::new(Factory::new(config.clone()).expect("valid"));
    let controller = factory.build(origin(), 1400);
    // Ten packets, and one byte that makes quinn send the tenth.
    assert_eq!(controller.window(), 14_001);
    assert_eq!(controller.initial_window(), 14_000);
    let built = config.0.lock().expect("no panics")[0];
    assert_eq!((built.now, built.mtu), (Timestamp::ZERO, Bytes(1400)));
}

#[test]
fn every_spec_builds_its_controller() {
    for spec in ControllerSpec::all() {
        let controller = spec.clone().factory().build(origin(), 1200);
        let snapshot = snapshot(controller).expect("one of ours");
        assert_eq!(snapshot.algorithm, spec.algorithm().name());
    }
}

/// A preset with one value out of its range.
fn bbr(change: impl FnOnce(&mut BbrConfig)) -> Result<Factory, ConfigError> {
    let mut config = BbrConfig::tuned();
    change(&mut config);
    Factory::new(config)
}

fn bbr_s(change: impl FnOnce(&mut BbrSConfig)) -> Result<Factory, ConfigError> {
    let mut config = BbrSConfig::paper();
    change(&mut config);
    Factory::new(config)
}

#[test]
fn an_invalid_configuration_is_refused_by_the_name_of_its_field() {
    let refused = [
        ("epochs", bbr(|config| config.filter.epochs = 0)),
        (
            "window_gain",
            bbr(|config| config.core.window_gain = Gain::new(1, 2)),
        ),
        (
            "pacing_margin",
            bbr(|config| config.core.pacing_margin = Gain::new(2, 1)),
        ),
        (
            "min_rtt_window",
            bbr(|config| config.core.min_rtt_window = std::time::Duration::ZERO),
        ),
        (
            "startup_exit_rtt",
            bbr_s(|config| config.core.startup_exit_rtt = Some(Gain::UNIT)),
        ),
        (
            "probe_rtt_window",
            bbr_s(|config| {
                config.core.probe_rtt_window =
                    kneepoint_controllers::ProbeRttWindow::Bdp(Gain::new(0, 1));
            }),
        ),
        (
            "probe_rtt_window",
            bbr(|config| {
                config.core.probe_rtt_window = kneepoint_controllers::ProbeRttWindow::Packets(1);
            }),
        ),
        (
            "window_policy.gain",
            bbr_s(|config| {
                config.core.window_policy = WindowPolicy::Bdp {
                    gain: Gain::new(9, 10),
                };
            }),
        ),
        (
            "min_packets",
            bbr_s(|config| config.filter.interval.min_packets = 0),
        ),
        (
            "outlier_deviations",
            bbr_s(|config| config.filter.skip.outlier_deviations = f64::NAN),
        ),
    ];
    for (field, result) in refused {
        let error = result.expect_err(field);
        assert_eq!(error.field, field);
        assert!(error.to_string().starts_with(field), "{error}");
    }
}

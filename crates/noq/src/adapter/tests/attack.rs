//! Anything that may happen, in any order, through noq's trait.

use std::time::Duration;

use kneepoint_controllers::ControllerSpec;
use kneepoint_testkit::events::{State, Subject, attack_all, survive, words};
use noq_proto::congestion::Controller as _;

use crate::closed_loop::Noq;

impl Subject for Noq {
    fn connect(spec: &ControllerSpec, now: Duration, mtu: u16) -> Self {
        Self::new(spec.clone().into(), now, mtu)
    }

    fn on_mtu_update(&mut self, mtu: u16) {
        self.controller.on_mtu_update(mtu);
    }

    fn state(&self) -> State {
        State::of(&self.controller.adapter)
    }

    /// noq paces by what it is told, and not above the controller's window once the flight fills it.
    fn check(&self) -> Result<(), String> {
        let (shown, metrics) = (self.controller.window(), self.controller.metrics());
        let State {
            control, in_flight, ..
        } = self.state();
        let (window, mtu) = (control.window, self.controller.adapter.mtu());
        let full = in_flight + mtu > window;
        let rate = control.pacing_rate.map(|rate| rate.bytes_per_second());
        if shown < mtu.0 * 2 || metrics.pacing_rate != rate || full && shown > window.0 {
            return Err(format!("shown {shown} of {control:?} with {in_flight}"));
        }
        Ok(())
    }
}

#[test]
#[ignore = "minutes, in a release build"]
fn ten_million_events_of_noq() {
    println!("Noq: {}", attack_all::<Noq>(4, 10_000_000));
}

#[test]
fn any_events_keep_the_window_in_bounds() {
    for seed in 0..128 {
        let words: Vec<u64> = words(seed).take(200).collect();
        survive::<Noq>(&words).unwrap_or_else(|what| panic!("seed {seed}: {what}"));
    }
}

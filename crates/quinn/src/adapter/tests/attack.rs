//! Anything that may happen, in any order, through quinn's trait.

use std::time::Duration;

use kneepoint_controllers::ControllerSpec;
use kneepoint_testkit::events::{State, Subject, attack_all, survive};
use proptest::prelude::*;
use quinn_proto::congestion::Controller as _;

use super::reproducible;
use crate::closed_loop::Quinn;

impl Subject for Quinn {
    fn connect(spec: &ControllerSpec, now: Duration, mtu: u16) -> Self {
        Self::new(spec.clone().into(), now, mtu)
    }

    fn on_mtu_update(&mut self, mtu: u16) {
        self.controller.on_mtu_update(mtu);
    }

    fn state(&self) -> State {
        State::of(&self.controller.adapter)
    }

    /// quinn sees the controller's window, and no more of it is reported while the flight fills it.
    fn check(&self) -> Result<(), String> {
        let (shown, metrics) = (self.controller.window(), self.controller.metrics());
        let State {
            control, in_flight, ..
        } = self.state();
        let (window, mtu) = (control.window, self.controller.adapter.mtu());
        let full = in_flight + mtu > window;
        if shown <= mtu.0 * 2
            || metrics.congestion_window != window.0
            || full && shown > window.0 + 1
        {
            return Err(format!("shown {shown} of {control:?} with {in_flight}"));
        }
        Ok(())
    }
}

#[test]
#[ignore = "minutes, in a release build"]
fn ten_million_events_of_quinn() {
    println!("Quinn: {}", attack_all::<Quinn>(3, 10_000_000));
}

proptest! {
    #![proptest_config(reproducible())]

    #[test]
    fn any_events_keep_the_window_in_bounds(words in prop::collection::vec(any::<u64>(), 1..400)) {
        survive::<Quinn>(&words).map_err(TestCaseError::fail)?;
    }
}

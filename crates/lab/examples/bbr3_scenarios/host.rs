//! The testkit's sender does what quinn 0.11 does not: it paces at the controller's rate, and reports losses that were none.
//!
//! It has packets to send at all times, and a receiver that acknowledges each one.

use std::time::Duration;

use kneepoint_controllers::{Bbr3Config, Bytes, ControllerConfig, Environment, Transport};
use kneepoint_emulator::link::LinkConfig;
use kneepoint_lab::trial::LinkOutcome;
use kneepoint_lab::watch::{Sample, TimeSeries};
use kneepoint_testkit::{AckPolicy, Neutral, Sender, Timeout};

use super::setup::RTT;

/// Runs the draft's BBRv3 for `millis` over `link`.
pub(crate) fn run(link: LinkConfig, millis: u64) -> TimeSeries {
    let environment = Environment::new(Bytes(MTU), 1, Transport::PACES);
    let controller = Bbr3Config::paper()
        .build(&environment)
        .expect("the preset is valid");
    let mut sender = Sender::over(Neutral::new(controller), link, RTT / 2, AckPolicy::every(1));
    sender.mtu = MTU;
    sender.timeout = Timeout::LoseAll(TIMEOUT);
    let samples = (0..millis).map(|_| {
        sender.run_for(Duration::from_millis(1));
        Sample {
            at: sender.now(),
            snapshot: sender.adapter.snapshot(),
        }
    });
    let samples = samples.collect();
    TimeSeries {
        samples,
        link: LinkOutcome::new(sender.link()),
    }
}

const MTU: u64 = 1250;

/// Some round trips of the plain path with a full window.
const TIMEOUT: Duration = Duration::from_millis(300);

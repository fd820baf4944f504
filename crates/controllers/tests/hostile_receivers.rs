//! Receivers that lie or are silent, against every controller and preset, without a transport that would close the connection.

use std::time::Duration;

use kneepoint_controllers::{Algorithm, Bytes, ControllerSpec, Environment, Preset, Transport};
use kneepoint_testkit::{AckPolicy, Adapter, Lie, Neutral, Packets, Scenario, Sender};

const SECOND: Duration = Duration::from_secs(1);
const MTU: u64 = 1200;
/// Two bandwidth-delay products of buffer.
const PATH: Scenario = Scenario {
    buffer: 100_000,
    ..Scenario::PLAIN
};

/// What a receiver does.
struct Attack {
    name: &'static str,
    begin: fn(&mut Sender<Neutral>),
}

const ATTACKS: [Attack; 8] = [
    Attack {
        name: "ten packets ahead",
        begin: |sender| sender.lie = Some(Lie::Ahead(10)),
    },
    Attack {
        name: "packets not sent",
        begin: |sender| sender.lie = Some(Lie::Ahead(1000)),
    },
    Attack {
        name: "losses concealed",
        begin: |sender| sender.lie = Some(Lie::NoLoss),
    },
    Attack {
        name: "all marked",
        begin: |sender| sender.lie = Some(Lie::AllMarked),
    },
    Attack {
        name: "marks concealed",
        begin: |sender| {
            sender.set_fates(Packets::None, Packets::All);
            sender.lie = Some(Lie::NoneMarked);
        },
    },
    Attack {
        name: "seldom acknowledged",
        begin: |sender| {
            sender.acks = AckPolicy {
                every: 1000,
                max_delay: SECOND / 2,
            };
        },
    },
    Attack {
        name: "withheld",
        begin: |sender| {
            sender.acks = AckPolicy {
                every: usize::MAX,
                max_delay: 4 * SECOND,
            };
        },
    },
    Attack {
        name: "late",
        begin: |sender| sender.return_delay = 2 * SECOND,
    },
];

/// Whatever the receiver says, windows keep within their bounds, and once it behaves again the link is used again.
#[test]
fn every_controller_outlives_a_hostile_receiver() {
    for spec in ControllerSpec::all() {
        for attack in &ATTACKS {
            let environment = Environment::new(Bytes(MTU), 1, Transport::PACES);
            let mut sender = Sender::new(Neutral::new(spec.build(&environment)), &PATH);
            sender.run_for(4 * SECOND);
            (attack.begin)(&mut sender);
            let end = sender.now() + 5 * SECOND;
            let mut smallest = u64::MAX;
            while sender.step(end) {
                smallest = smallest.min(sender.adapter.window());
            }
            let wait = sender.return_delay + sender.acks.max_delay;
            (sender.lie, sender.acks, sender.return_delay) = (None, PATH.acks, PATH.rtt);
            sender.set_fates(Packets::None, Packets::None);
            // What is withheld comes late, and the minimum of round-trip times is trusted for ten seconds.
            sender.run_for(wait + 11 * SECOND);
            let used = sender.utilization(4 * SECOND);
            let case = format!("{spec}, {}", attack.name);
            assert!(smallest >= 2 * MTU, "{case}: {smallest} bytes");
            let held = PATH.rate as f64 * wait.as_secs_f64() + PATH.buffer as f64;
            let most = sender.largest_window as f64 / held;
            assert!(most < 4.0, "{case}: {most} times what the path holds");
            // A transport closes the connection. A receiver that is ahead by more than what is in flight is caught in the same way.
            let closed = sender.unsent > 0;
            match attack.name {
                "packets not sent" => assert!(closed, "{case}"),
                "ten packets ahead" => {}
                _ => assert!(!closed, "{case}"),
            }
            assert!(closed || stays_low(&spec) || used > 0.8, "{case}: {used}");
        }
    }
}

/// Vegas keeps the least round-trip time for ever (Brakmo and Peterson, section 5: BaseRTT), eBCC grows by packets per round trip,
/// and SKIP as it was printed fails after silence.
fn stays_low(spec: &ControllerSpec) -> bool {
    match spec.algorithm() {
        Algorithm::Vegas => true,
        Algorithm::Ebcc => spec.preset() == Preset::Paper,
        _ => spec.preset() == Preset::Published,
    }
}

//! Messages with pauses between them, over short paths: what a controller adds to the time that they take.

use std::time::Duration;

use kneepoint_emulator::link::{LinkConfig, Shaper};
use kneepoint_emulator::network::{Duplex, Topology};
use kneepoint_lab::controllers::candidate;
use kneepoint_lab::trial::{FlowPlan, Trial};
use kneepoint_lab::workload::{Load, Phase};

/// 100 kB every 100 ms over 1 Gb/s: the median and the 95th percentile of what each took, in microseconds, after the first
/// second.
fn message_times(controller: &str, rtt: Duration) -> (u64, u64) {
    let link = LinkConfig {
        delay: (rtt / 2).into(),
        ..LinkConfig::new(Shaper::ConstantRate {
            bytes_per_second: 125_000_000,
        })
    };
    let application = vec![Phase {
        until: DURATION,
        load: Load::Frames {
            bytes: 100_000,
            period: Duration::from_millis(100),
        },
    }];
    let controller = candidate(controller, 1).expect("a known controller");
    let trial = Trial {
        topology: Topology::point_to_point(Duplex::both(link)),
        flows: vec![FlowPlan {
            application,
            ..FlowPlan::greedy(controller, Duration::ZERO, DURATION)
        }],
        duration: DURATION,
        interval: None,
        seed: 1,
    };
    let outcome = trial.run().expect("it runs");
    let messages = outcome.flows[0].messages.iter();
    let mut times: Vec<u64> = messages
        .filter(|message| message.began > Duration::from_secs(1))
        .map(|message| (message.arrived - message.began).as_micros() as u64)
        .collect();
    times.sort_unstable();
    assert!(times.len() > 80, "{}", times.len());
    (times[times.len() / 2], times[times.len() * 95 / 100])
}

/// Trap: an acknowledgement that its receiver delays by 25 ms is late on a path of 1 ms. A controller that treats the
/// delay as an outage has an estimate of zero when the next message comes.
#[test]
fn messages_arrive_as_soon_as_with_cubic() {
    let mut late = Vec::new();
    for micros in ROUND_TRIPS {
        let rtt = Duration::from_micros(micros);
        let cubic = message_times("quinn-cubic", rtt);
        for name in ["bbr-s", "bbr", "bbr3"] {
            let times = message_times(name, rtt);
            if times.0 * 10 > cubic.0 * 11 || times.1 * 10 > cubic.1 * 11 {
                late.push(format!("{micros} us: {name} {times:?}, CUBIC {cubic:?}"));
            }
        }
    }
    assert!(late.is_empty(), "{late:#?}");
}

/// In microseconds.
const ROUND_TRIPS: [u64; 6] = [100, 300, 1000, 2000, 5000, 10_000];

const DURATION: Duration = Duration::from_secs(10);

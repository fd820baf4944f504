//! The networks of the test cases in the appendix of draft-ietf-ccwg-bbr, for any controller. docs/BBR3-SCENARIOS.md has the
//! cases themselves, and what `bbr3` makes of them.

use kneepoint_emulator::link::{Interval, Loss};

use crate::frontier::case::Sender;
use crate::frontier::{Case, Family, Path, ms, seconds};
use crate::workload::{Load, Phase};

pub(super) fn cases() -> Vec<Case> {
    // Half of the link, as a call has it.
    let call = |until| Phase {
        until: seconds(until),
        load: Load::Frames {
            bytes: 6_250,
            period: ms(10),
        },
    };
    let calls = [
        ("call of 5Mbps", path()),
        (
            "call of 5Mbps, 8ms of loss",
            path().loss(Loss::Intervals(vec![Interval {
                from: ms(3_000).into(),
                to: ms(3_008).into(),
            }])),
        ),
        ("call of 5Mbps, RTT grows", path().rtt_steps(&drift())),
    ];
    let calls = calls.map(|(name, path)| {
        let senders = vec![Sender::doing(vec![call(15.0)])];
        case(name, path, 20.0).senders(senders)
    });
    let silence = {
        let greedy = |until, load| Phase {
            until: seconds(until),
            load,
        };
        let phases = vec![
            greedy(3.0, Load::Greedy),
            greedy(15.0, Load::Silent),
            greedy(25.0, Load::Greedy),
        ];
        let path = path().rtt_steps(&[(0.0, 40.0), (9.0, 50.0)]);
        case("silence, then a longer path", path, 25.0).senders(vec![Sender::doing(phases)])
    };
    let bulk = [
        ("data in batches of 20ms", path().data_batches(20.0)),
        (
            "500ms of delay for 0.5s",
            path().rtt_steps(&[(0.0, 40.0), (5.0, 540.0), (5.5, 40.0)]),
        ),
    ];
    let bulk = bulk.map(|(name, path)| case(name, path, 15.0));
    // A bandwidth-delay product of 8 bytes.
    let tiny = case("64kbps 1ms", Path::constant(0.064, 1.0, 1.0), 60.0);
    [calls.to_vec(), vec![silence], bulk.to_vec(), vec![tiny]].concat()
}

fn case(name: &str, path: Path, duration: f64) -> Case {
    Case::bulk(Family::Draft, name, path, seconds(duration))
}

fn path() -> Path {
    Path::constant(10.0, 40.0, 10.0)
}

/// 0.1 ms per second, for 20 s.
fn drift() -> Vec<(f64, f64)> {
    (0_u32..20)
        .map(|second| (f64::from(second), 40.0 + 0.1 * f64::from(second)))
        .collect()
}

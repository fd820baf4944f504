//! What holds whatever happens in whatever order.

use std::time::Duration;

use kneepoint_controllers::{BbrConfig, ControllerConfig, Environment, Selection};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::super::*;
use super::MTU;
use crate::closed_loop::origin;

#[derive(Debug, Clone, Copy)]
enum Step {
    Wait { nanos: u64 },
    Send { packets: u8 },
    Ack { packets: u8, app_limited: bool },
    Lose { packets: u8, persistent: bool },
    Mark,
    Mtu { bytes: u16 },
}

fn steps() -> impl Strategy<Value = Step> {
    let spans = prop_oneof![
        1 => Just(0),
        6 => (0.0..10.8f64).prop_map(|exponent| 10f64.powf(exponent) as u64),
    ];
    prop_oneof![
        10 => spans.prop_map(|nanos| Step::Wait { nanos }),
        10 => (1..=64u8).prop_map(|packets| Step::Send { packets }),
        10 => (0..=64u8, any::<bool>())
            .prop_map(|(packets, app_limited)| Step::Ack { packets, app_limited }),
        1 => (1..=64u8, any::<bool>())
            .prop_map(|(packets, persistent)| Step::Lose { packets, persistent }),
        1 => Just(Step::Mark),
        1 => (1200..=65_527u16).prop_map(|bytes| Step::Mtu { bytes }),
    ]
}

fn reproducible() -> ProptestConfig {
    ProptestConfig {
        cases: 128,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(reproducible())]

    #[test]
    fn whatever_happens_two_packets_fit_and_the_controllers_window_is_the_most(
        steps in prop::collection::vec(steps(), 1..400),
        policy in prop::sample::select(vec![
            WindowPolicy::Window,
            WindowPolicy::Rate,
            WindowPolicy::Cap,
            WindowPolicy::Bdp { gain: kneepoint_controllers::Gain::new(5, 4) },
            BbrConfig::tuned().window_policy(),
            kneepoint_controllers::BbrSConfig::tuned().window_policy(),
        ]),
    ) {
        for selection in Selection::all() {
            let start = origin();
            let environment = Environment { now: Timestamp::ZERO, mtu: Bytes(MTU), seed: 1 };
            let inner = selection.config().build(&environment).expect("presets are valid");
            let mut adapter = QuinnController::new(inner, policy, start, Bytes(MTU));
            let mut now = start;
            let mut mtu = MTU;
            let mut flight: Vec<(Instant, u64)> = Vec::new();
            for &step in &steps {
                let total = |flight: &[(Instant, u64)]| flight.iter().map(|&(_, bytes)| bytes).sum();
                match step {
                    Step::Wait { nanos } => now += Duration::from_nanos(nanos),
                    Step::Send { packets } => {
                        adapter.on_sent(now, mtu * u64::from(packets), 0);
                        flight.extend((0..packets).map(|_| (now, mtu)));
                    }
                    Step::Ack { packets, app_limited } => {
                        let count = flight.len().min(usize::from(packets));
                        for (sent, bytes) in flight.drain(..count) {
                            adapter.packet_acked(now, sent, bytes);
                        }
                        adapter.on_end_acks(now, total(&flight), app_limited, None);
                    }
                    Step::Lose { packets, persistent } => {
                        let count = flight.len().min(usize::from(packets));
                        let lost: Vec<_> = flight.drain(..count).collect();
                        if let Some(&(sent, _)) = lost.last() {
                            adapter.on_congestion_event(now, sent, persistent, total(&lost));
                        }
                    }
                    Step::Mark => adapter.on_congestion_event(now, now, false, 0),
                    Step::Mtu { bytes } => {
                        mtu = u64::from(bytes);
                        adapter.on_mtu_update(bytes);
                    }
                }
                prop_assert!(adapter.window.0 >= 2 * mtu, "{selection} {policy:?}");
                prop_assert!(adapter.window <= adapter.control.window);
                prop_assert_eq!(adapter.metrics().congestion_window, adapter.window.0);
                prop_assert_eq!(adapter.snapshot().congestion_window, adapter.window);
                prop_assert_eq!(adapter.window(), adapter.window.0 + 1);
            }
        }
    }
}

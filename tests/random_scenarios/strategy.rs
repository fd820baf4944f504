//! Random scenarios. Links are bad, but not so bad that no transport could be expected to get through.

use std::time::Duration;

use kneepoint::ControllerSpec;
use kneepoint::emulator::link::{
    Aggregation, CoDel, Delay, DelayStep, FqCoDel, Impairments, Interval, Jitter, Limit,
    LinkConfig, Loss, Pie, Policer, Queue, RateStep, Red, Reordering, Shaper, StepMark,
};
use kneepoint::emulator::network::{Duplex, Pattern};
use kneepoint::emulator::time::Nanos;
use kneepoint::emulator::trace::Trace;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::scenario::{Controller, Flow, Scenario, Shape};

pub(crate) fn scenarios(duration: Duration) -> impl Strategy<Value = Scenario> {
    let shape = prop_oneof![
        2 => Just((Shape::PointToPoint, 1..2)),
        1 => Just((Shape::Dumbbell, 1..2)),
        1 => Just((Shape::ParkingLot, 2..4)),
    ];
    let network = shape.prop_flat_map(|(shape, hops)| (Just(shape), vec(hop(), hops)));
    let cross = option::weighted(0.3, patterns());
    let flows = prop_oneof![vec(flow(), 1), vec(flow(), 2..5)];
    (network, flows, cross, any::<u32>()).prop_map(move |((shape, hops), flows, cross, seed)| {
        Scenario {
            shape,
            hops,
            flows,
            cross,
            seed: seed.into(),
            duration: duration.into(),
        }
    })
}

fn millis(range: std::ops::Range<u64>) -> impl Strategy<Value = Nanos> + Clone {
    range.prop_map(Nanos::from_millis)
}

fn flow() -> impl Strategy<Value = Flow> {
    let ours = select(ControllerSpec::all().collect::<Vec<_>>()).prop_map(Controller::Ours);
    let stock = select(vec![Controller::QuinnCubic, Controller::QuinnNewReno]);
    let controller = prop_oneof![6 => ours, 1 => stock];
    let bytes = || prop_oneof![3 => Just(u64::MAX), 1 => Just(0), 1 => 1..2_000_000_u64];
    let skips = (0..3_usize, 0..3_usize);
    (controller, bytes(), bytes(), millis(0..2000), skips).prop_map(
        |(controller, up, down, start, skips)| Flow {
            controller,
            up,
            down,
            start,
            skips,
        },
    )
}

fn patterns() -> impl Strategy<Value = Pattern> {
    let on_off = (millis(1..500), millis(1..500));
    prop_oneof![
        Just(Pattern::Constant),
        Just(Pattern::Poisson),
        on_off.prop_map(|(on, off)| Pattern::OnOff { on, off }),
    ]
}

fn hop() -> impl Strategy<Value = Duplex> {
    (link(), link()).prop_map(|(forward, reverse)| Duplex { forward, reverse })
}

fn link() -> impl Strategy<Value = LinkConfig> {
    let policer =
        (40_000..200_000_u64, 15_000..50_000_u64).prop_map(|(bytes_per_second, burst)| Policer {
            bytes_per_second,
            burst,
        });
    let batch = (millis(1..30), option::of(1..9_u64))
        .prop_map(|(interval, packets)| Aggregation { interval, packets });
    let front = (losses(), impairments(), option::weighted(0.1, policer));
    let back = (option::weighted(0.2, batch), delays(), 0..50_u32);
    (front, queues(), shapers(), back).prop_map(
        |((loss, impairments, policer), queue, shaper, (aggregation, delay, overhead))| {
            LinkConfig {
                shaper,
                queue,
                delay,
                loss,
                impairments,
                policer,
                aggregation,
                overhead,
                log: false,
            }
        },
    )
}

/// In bytes per second.
fn rates() -> impl Strategy<Value = u64> {
    40_000..250_000_u64
}

fn shapers() -> impl Strategy<Value = Shaper> {
    let constant = |bytes_per_second| Shaper::ConstantRate { bytes_per_second };
    let trace = (vec(0..30_u64, 1..4), 30..40_u64).prop_map(|(mut millis, last)| {
        millis.push(last);
        millis.sort_unstable();
        Shaper::Trace(Trace::from_millis(millis, "random").unwrap())
    });
    let bucket = (rates(), 1..20_000_u64, option::of(0..1_000_000_u64)).prop_map(
        |(bytes_per_second, burst, above)| Shaper::TokenBucket {
            bytes_per_second,
            burst,
            peak: above.map(|above| bytes_per_second + above),
        },
    );
    let step = (millis(500..4000), prop_oneof![1 => Just(0), 3 => rates()]);
    let schedule = (vec(step, 0..4), rates()).prop_map(|(steps, last)| {
        let mut from = Nanos::ZERO;
        let mut schedule = Vec::new();
        for (length, bytes_per_second) in steps {
            // A link that is dead is so for at most 2 s.
            let length = match bytes_per_second {
                0 => Nanos(length.0 / 2),
                _ => length,
            };
            let step = RateStep {
                from,
                bytes_per_second,
            };
            schedule.push(step);
            from = from + length;
        }
        schedule.push(RateStep {
            from,
            bytes_per_second: last,
        });
        Shaper::Schedule(schedule)
    });
    prop_oneof![2 => rates().prop_map(constant), 1 => trace, 1 => bucket, 1 => schedule]
}

fn limits() -> impl Strategy<Value = Limit> + Clone {
    prop_oneof![
        (20_000..200_000_u64).prop_map(Limit::bytes),
        (12..100_u64).prop_map(Limit::packets),
    ]
}

fn queues() -> impl Strategy<Value = Queue> {
    let codel = (any::<bool>(), option::of(limits())).prop_map(|(ecn, limit)| CoDel {
        ecn,
        limit,
        ..CoDel::default()
    });
    let pie =
        (any::<(bool, bool)>(), option::of(limits())).prop_map(|((derandomized, ecn), limit)| {
            Pie {
                derandomized,
                ecn,
                limit,
                ..Pie::default()
            }
        });
    let red =
        (10_000..30_000_u64, 10_000..60_000_u64, any::<bool>()).prop_map(|(min, span, ecn)| Red {
            min,
            max: min + span,
            max_probability: 0.1,
            weight: 0.002,
            packet_time: Nanos::from_millis(10),
            limit: None,
            ecn,
        });
    let mark = (limits(), option::of(limits())).prop_map(|(threshold, limit)| StepMark {
        threshold,
        drop_not_ect: false,
        limit,
    });
    prop_oneof![
        1 => Just(Queue::Infinite),
        3 => limits().prop_map(Queue::DropTail),
        1 => limits().prop_map(Queue::DropHead),
        1 => codel.clone().prop_map(Queue::CoDel),
        1 => codel.prop_map(|codel| Queue::FqCoDel(FqCoDel { codel, ..FqCoDel::default() })),
        1 => pie.prop_map(Queue::Pie),
        1 => red.prop_map(Queue::Red),
        1 => mark.prop_map(Queue::StepMark),
    ]
}

/// Up to three, of up to 2 s each.
fn intervals() -> impl Strategy<Value = Vec<Interval>> {
    vec((millis(0..8000), millis(1..2000)), 0..4).prop_map(|spans| {
        let mut end = Nanos::ZERO;
        let interval = |(gap, length)| {
            let from = end + gap;
            end = from + length;
            Interval { from, to: end }
        };
        spans.into_iter().map(interval).collect()
    })
}

fn losses() -> impl Strategy<Value = Loss> {
    let chain = (0.0..0.01, 0.3..1.0, 0.0..0.01, 0.3..1.0);
    prop_oneof![
        4 => Just(Loss::default()),
        2 => (0.0..0.04).prop_map(Loss::Random),
        1 => chain.prop_map(|(p, r, good, bad)| Loss::GilbertElliott { p, r, good, bad }),
        1 => intervals().prop_map(Loss::Intervals),
        1 => (1..4_u64, 100..400_u64).prop_map(|(length, every)| Loss::Burst { every, length }),
    ]
}

fn delays() -> impl Strategy<Value = Delay> {
    let steps = vec((millis(100..3000), millis(1..100)), 1..5);
    let uniform = (millis(0..60), millis(0..40), any::<bool>());
    let normal = (millis(1..60), any::<bool>());
    prop_oneof![
        3 => millis(0..100).prop_map(Delay::from),
        1 => (steps, any::<bool>()).prop_map(|(steps, reordering)| {
            let mut from = Nanos::ZERO;
            let step = |(length, delay)| {
                let step = DelayStep { from, delay };
                from = from + length;
                step
            };
            let steps = steps.into_iter().map(step).collect();
            Delay::Steps { steps, reordering }
        }),
        1 => uniform.prop_map(|(from, span, reordering)| {
            let jitter = Jitter::Uniform { from, to: from + span };
            Delay::Jittered { jitter, reordering }
        }),
        1 => normal.prop_map(|(mean, reordering)| {
            let deviation = Nanos(mean.0 / 3);
            let jitter = Jitter::Normal { mean, deviation };
            Delay::Jittered { jitter, reordering }
        }),
    ]
}

fn impairments() -> impl Strategy<Value = Impairments> {
    let reordering = (0.0..0.2, millis(0..50))
        .prop_map(|(probability, delay)| Reordering { probability, delay });
    let some = (
        // Never less than what QUIC needs (RFC 9000, section 14), with headers of up to 50 bytes.
        option::of(1_250..1_600_u64),
        prop_oneof![2 => Just(Vec::new()), 1 => intervals()],
        prop_oneof![Just(0.0), 0.0..0.2],
        prop_oneof![Just(0.0), 0.0..0.02],
        option::of(reordering),
    );
    let some = some.prop_map(
        |(mtu, blackouts, duplication, corruption, reordering)| Impairments {
            mtu,
            blackouts,
            duplication,
            corruption,
            reordering,
        },
    );
    prop_oneof![1 => Just(Impairments::default()), 1 => some]
}

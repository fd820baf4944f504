//! Every kind of link, at random.

use kneepoint_emulator::link::{
    Aggregation, CoDel, Delay, DelayStep, FqCoDel, Impairments, Interval, Jitter, Limit,
    LinkConfig, Loss, Pie, Policer, Queue, RateStep, Red, Reordering, Shaper, StepMark,
};
use kneepoint_emulator::time::Nanos;
use kneepoint_emulator::trace::Trace;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

pub(crate) fn traces() -> impl Strategy<Value = Trace> {
    (vec(0..40_u64, 0..30), 1..40_u64).prop_map(|(mut millis, last)| {
        millis.push(last);
        millis.sort_unstable();
        Trace::from_millis(millis, "t").unwrap()
    })
}

fn rates() -> impl Strategy<Value = u64> {
    10_000..5_000_000_u64
}

fn shapers() -> impl Strategy<Value = Shaper> {
    let constant = |bytes_per_second| Shaper::ConstantRate { bytes_per_second };
    let bucket = (rates(), 1..10_000_u64, option::of(0..1_000_000_u64));
    let steps = (
        vec((1..300_u64, prop_oneof![Just(0), rates()]), 0..6),
        rates(),
    );
    prop_oneof![
        rates().prop_map(constant),
        traces().prop_map(Shaper::Trace),
        bucket.prop_map(|(bytes_per_second, burst, above)| Shaper::TokenBucket {
            bytes_per_second,
            burst,
            peak: above.map(|above| bytes_per_second + above),
        }),
        steps.prop_map(|(mut steps, last)| {
            steps.push((1, last));
            let mut from = Nanos::ZERO;
            let step = |(length, bytes_per_second)| {
                let step = RateStep {
                    from,
                    bytes_per_second,
                };
                from = from + Nanos::from_millis(length);
                step
            };
            Shaper::Schedule(steps.into_iter().map(step).collect())
        }),
    ]
}

fn limits() -> impl Strategy<Value = Limit> {
    prop_oneof![
        (1..30_000_u64).prop_map(Limit::bytes),
        (1..20_u64).prop_map(Limit::packets),
        (1..100_u64).prop_map(|millis| Limit::time(Nanos::from_millis(millis))),
        (1..30_000_u64, 1..20_u64, 1..100_u64).prop_map(|(bytes, packets, millis)| Limit {
            bytes: Some(bytes),
            packets: Some(packets),
            time: Some(Nanos::from_millis(millis)),
        }),
    ]
}

fn codels() -> impl Strategy<Value = CoDel> {
    let millis = (1..20_u64, 1..100_u64, 0..3_000_u64);
    (millis, option::of(limits()), any::<bool>()).prop_map(
        |((target, interval, mtu), limit, ecn)| CoDel {
            target: Nanos::from_millis(target),
            interval: Nanos::from_millis(interval),
            mtu,
            limit,
            ecn,
        },
    )
}

fn queues() -> impl Strategy<Value = Queue> {
    let fq = (codels(), 200..3_000_u32, 1..9_u16);
    let pie = (
        1..30_u64,
        1..40_u64,
        any::<(bool, bool)>(),
        option::of(limits()),
    );
    let red = (
        0..9_000_u64,
        1..9_000_u64,
        0.001..1.0,
        any::<bool>(),
        option::of(limits()),
    );
    prop_oneof![
        Just(Queue::Infinite),
        limits().prop_map(Queue::DropTail),
        limits().prop_map(Queue::DropHead),
        codels().prop_map(Queue::CoDel),
        fq.prop_map(|(codel, quantum, flows)| Queue::FqCoDel(FqCoDel {
            codel,
            quantum,
            flows
        })),
        pie.prop_map(
            |(target, update, (derandomized, ecn), limit)| Queue::Pie(Pie {
                target: Nanos::from_millis(target),
                update: Nanos::from_millis(update),
                // So that it drops within a short run.
                alpha: 20.0,
                burst: Nanos::from_millis(10),
                derandomized,
                limit,
                ecn,
                ..Pie::default()
            })
        ),
        red.prop_map(|(min, span, weight, ecn, limit)| Queue::Red(Red {
            min,
            max: min + span,
            max_probability: 0.3,
            weight,
            packet_time: Nanos::from_millis(1),
            limit,
            ecn,
        })),
        (limits(), any::<bool>(), option::of(limits())).prop_map(
            |(threshold, drop_not_ect, limit)| Queue::StepMark(StepMark {
                threshold,
                drop_not_ect,
                limit,
            })
        ),
    ]
}

fn intervals() -> impl Strategy<Value = Vec<Interval>> {
    vec((0..100_u64, 1..50_u64), 0..4).prop_map(|spans| {
        let mut end = Nanos::ZERO;
        let interval = |(gap, length)| {
            let from = end + Nanos::from_millis(gap);
            end = from + Nanos::from_millis(length);
            Interval { from, to: end }
        };
        spans.into_iter().map(interval).collect()
    })
}

fn losses() -> impl Strategy<Value = Loss> {
    let chain = (0.0..0.5, 0.0..1.0, 0.0..0.1, 0.0..1.0);
    prop_oneof![
        Just(Loss::default()),
        (0.0..0.5).prop_map(Loss::Random),
        chain.prop_map(|(p, r, good, bad)| Loss::GilbertElliott { p, r, good, bad }),
        proptest::collection::btree_set(0..100_u64, 0..9)
            .prop_map(|places| Loss::Packets(places.into_iter().collect())),
        intervals().prop_map(Loss::Intervals),
        (1..5_u64, 0..20_u64).prop_map(|(length, more)| Loss::Burst {
            every: length + more,
            length
        }),
    ]
}

fn delays() -> impl Strategy<Value = Delay> {
    let micros = 0..100_000_u64;
    let steps = vec((1..100_u64, micros.clone()), 1..5);
    prop_oneof![
        micros
            .clone()
            .prop_map(|micros| Nanos::from_micros(micros).into()),
        (steps, any::<bool>()).prop_map(|(steps, reordering)| {
            let mut from = Nanos::ZERO;
            let step = |(length, micros)| {
                let delay = Nanos::from_micros(micros);
                let step = DelayStep { from, delay };
                from = from + Nanos::from_millis(length);
                step
            };
            let steps = steps.into_iter().map(step).collect();
            Delay::Steps { steps, reordering }
        }),
        (micros.clone(), micros.clone(), any::<bool>()).prop_map(|(from, span, reordering)| {
            let (from, to) = (Nanos::from_micros(from), Nanos::from_micros(from + span));
            let jitter = Jitter::Uniform { from, to };
            Delay::Jittered { jitter, reordering }
        }),
        (micros.clone(), micros.clone(), any::<bool>()).prop_map(|(from, mean, reordering)| {
            let (from, mean) = (Nanos::from_micros(from), Nanos::from_micros(mean));
            let jitter = Jitter::Wifi { from, mean };
            Delay::Jittered { jitter, reordering }
        }),
        (micros, any::<bool>()).prop_map(|(mean, reordering)| {
            let (mean, deviation) = (Nanos::from_micros(mean), Nanos::from_micros(mean / 3));
            let jitter = Jitter::Normal { mean, deviation };
            Delay::Jittered { jitter, reordering }
        }),
    ]
}

fn impairments() -> impl Strategy<Value = Impairments> {
    let chance = || prop_oneof![Just(0.0), 0.0..1.0];
    let reordering = (0.0..1.0, 0..50_u64).prop_map(|(probability, millis)| Reordering {
        probability,
        delay: Nanos::from_millis(millis),
    });
    let some = (
        option::of(1_000..3_000_u64),
        intervals(),
        chance(),
        chance(),
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
    prop_oneof![Just(Impairments::default()), some]
}

/// Links of all stages, with a log.
pub(crate) fn links() -> impl Strategy<Value = LinkConfig> {
    let policer = (rates(), 1_000..50_000_u64).prop_map(|(bytes_per_second, burst)| Policer {
        bytes_per_second,
        burst,
    });
    let batch = (1..50_u64, option::of(1..9_u64)).prop_map(|(millis, packets)| Aggregation {
        interval: Nanos::from_millis(millis),
        packets,
    });
    let front = (losses(), impairments(), option::weighted(0.2, policer));
    let back = (option::weighted(0.3, batch), delays(), 0..50_u32);
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
                log: true,
            }
        },
    )
}

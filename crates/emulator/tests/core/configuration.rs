//! What is refused, and in which words.

use kneepoint_emulator::link::{
    Aggregation, CoDel, ConfigError, Delay, DelayStep, FqCoDel, Impairments, Interval, Jitter,
    Limit, Link, LinkConfig, Loss, Pie, Policer, Queue, RateStep, Red, Reordering, Shaper,
    StepMark,
};
use kneepoint_emulator::time::Nanos;

use crate::common::ms;

fn base() -> LinkConfig {
    LinkConfig::constant(1)
}

fn shaper(shaper: Shaper) -> LinkConfig {
    LinkConfig { shaper, ..base() }
}

fn rates(steps: &[(u64, u64)]) -> LinkConfig {
    let step = |&(millis, bytes_per_second)| RateStep {
        from: ms(millis),
        bytes_per_second,
    };
    shaper(Shaper::Schedule(steps.iter().map(step).collect()))
}

fn bucket(bytes_per_second: u64, burst: u64, peak: Option<u64>) -> LinkConfig {
    shaper(Shaper::TokenBucket {
        bytes_per_second,
        burst,
        peak,
    })
}

fn queue(queue: Queue) -> LinkConfig {
    LinkConfig { queue, ..base() }
}

fn delay(delay: Delay) -> LinkConfig {
    LinkConfig { delay, ..base() }
}

fn loss(loss: impl Into<Loss>) -> LinkConfig {
    LinkConfig {
        loss: loss.into(),
        ..base()
    }
}

/// A link with the default, which `change` has changed.
fn impaired(change: impl Fn(&mut Impairments)) -> LinkConfig {
    let mut config = base();
    change(&mut config.impairments);
    config
}

/// A link with a discipline, which `change` has changed.
fn queued<D>(into: fn(D) -> Queue, mut discipline: D, change: impl Fn(&mut D)) -> LinkConfig {
    change(&mut discipline);
    queue(into(discipline))
}

fn jittered(jitter: Jitter) -> LinkConfig {
    delay(Delay::Jittered {
        jitter,
        reordering: false,
    })
}

fn intervals(bounds: &[(u64, u64)]) -> Vec<Interval> {
    let interval = |&(from, to)| Interval {
        from: ms(from),
        to: ms(to),
    };
    bounds.iter().map(interval).collect()
}

fn policer(bytes_per_second: u64, burst: u64) -> LinkConfig {
    LinkConfig {
        policer: Some(Policer {
            bytes_per_second,
            burst,
        }),
        ..base()
    }
}

fn aggregation(interval: Nanos, packets: Option<u64>) -> LinkConfig {
    LinkConfig {
        aggregation: Some(Aggregation { interval, packets }),
        ..base()
    }
}

const RED: Red = Red {
    min: 1_000,
    max: 2_000,
    max_probability: 0.1,
    weight: 0.002,
    packet_time: Nanos(1),
    limit: None,
    ecn: false,
};

#[test]
fn values_out_of_range_are_rejected_and_named() {
    let codel = |change: fn(&mut CoDel)| queued(Queue::CoDel, CoDel::default(), change);
    let fq_codel = |change: fn(&mut FqCoDel)| queued(Queue::FqCoDel, FqCoDel::default(), change);
    let pie = |change: fn(&mut Pie)| queued(Queue::Pie, Pie::default(), change);
    let red = |change: fn(&mut Red)| queued(Queue::Red, RED, change);
    let late = DelayStep {
        from: ms(1),
        delay: ms(1),
    };
    for (config, message) in [
        (
            LinkConfig::constant(0),
            "the rate of a link must be positive",
        ),
        (
            rates(&[]),
            "a schedule of rates must begin with a step at time 0",
        ),
        (
            rates(&[(1, 1)]),
            "a schedule of rates must begin with a step at time 0",
        ),
        (
            rates(&[(0, 1), (5, 2), (5, 3)]),
            "rates: entry 2 does not come after the one before",
        ),
        (
            rates(&[(0, 1), (5, 0)]),
            "a schedule of rates must not end with rate 0",
        ),
        (bucket(0, 1, None), "a token bucket's rate must be positive"),
        (
            bucket(1, 0, None),
            "a token bucket's burst must be positive",
        ),
        (bucket(9, 1, Some(8)), "peak rate 8 B/s is below rate 9 B/s"),
        (policer(0, 1), "a token bucket's rate must be positive"),
        (policer(1, 0), "a token bucket's burst must be positive"),
        (
            delay(Delay::Steps {
                steps: vec![late],
                reordering: true,
            }),
            "a schedule of delays must begin with a step at time 0",
        ),
        (
            jittered(Jitter::Uniform {
                from: ms(2),
                to: ms(1),
            }),
            "jitter: nothing lies between 0.002000 s and 0.001000 s",
        ),
        (
            jittered(Jitter::Normal {
                mean: ms(29),
                deviation: ms(10),
            }),
            "the deviation of the delay in seconds 0.01 is not at most a third of its mean",
        ),
        (
            aggregation(Nanos::ZERO, None),
            "the interval of aggregation must be positive",
        ),
        (
            aggregation(ms(1), Some(0)),
            "the batch of aggregation must be positive",
        ),
        (loss(-0.5), "loss probability -0.5 is not between 0 and 1"),
        (loss(1.5), "loss probability 1.5 is not between 0 and 1"),
        (loss(1e300), "loss probability 1e300 is not between 0 and 1"),
        (
            loss(f64::NAN),
            "loss probability NaN is not between 0 and 1",
        ),
        (
            loss(f64::INFINITY),
            "loss probability inf is not between 0 and 1",
        ),
        (
            loss(Loss::GilbertElliott {
                p: 1.5,
                r: 0.0,
                good: 0.0,
                bad: 0.0,
            }),
            "the probability of a turn for the worse 1.5 is not between 0 and 1",
        ),
        (
            loss(Loss::Packets(vec![3, 3])),
            "lost packets: entry 1 does not come after the one before",
        ),
        (
            loss(Loss::Intervals(intervals(&[(0, 5), (5, 5)]))),
            "losses: interval 1 is empty: 0.005000 s to 0.005000 s",
        ),
        (
            loss(Loss::Burst {
                every: 2,
                length: 3,
            }),
            "the length of a loss burst 3 is not at most the distance of bursts",
        ),
        (
            impaired(|impairments| impairments.blackouts = intervals(&[(0, 5), (4, 6)])),
            "blackouts: entry 1 does not come after the one before",
        ),
        (
            impaired(|impairments| impairments.mtu = Some(0)),
            "the MTU must be positive",
        ),
        (
            impaired(|impairments| impairments.duplication = 2.0),
            "duplication probability 2 is not between 0 and 1",
        ),
        (
            impaired(|impairments| impairments.corruption = f64::NAN),
            "corruption probability NaN is not between 0 and 1",
        ),
        (
            impaired(|impairments| {
                impairments.reordering = Some(Reordering {
                    probability: -1.0,
                    delay: ms(1),
                });
            }),
            "reordering probability -1 is not between 0 and 1",
        ),
        (
            queue(Queue::DropTail(Limit::default())),
            "a queue needs a limit in bytes, in packets or in time",
        ),
        (
            queue(Queue::DropTail(Limit::bytes(0))),
            "a queue's limit in bytes must be positive",
        ),
        (
            queue(Queue::DropTail(Limit::packets(0))),
            "a queue's limit in packets must be positive",
        ),
        (
            queue(Queue::DropHead(Limit::time(Nanos::ZERO))),
            "a queue's limit in time must be positive",
        ),
        (
            codel(|codel| codel.target = Nanos::ZERO),
            "CoDel's target must be positive",
        ),
        (
            codel(|codel| codel.limit = Some(Limit::default())),
            "a queue needs a limit in bytes, in packets or in time",
        ),
        (
            fq_codel(|fq_codel| fq_codel.quantum = 0),
            "FQ-CoDel's quantum must be positive",
        ),
        (
            fq_codel(|fq_codel| fq_codel.flows = 0),
            "FQ-CoDel's number of flows must be positive",
        ),
        (
            pie(|pie| pie.update = Nanos(1)),
            "PIE's update interval in seconds 0.000000001 is not at least 100 microseconds",
        ),
        (
            pie(|pie| pie.beta = -1.0),
            "PIE's beta -1 is not zero or a positive number",
        ),
        (
            pie(|pie| pie.alpha = f64::NAN),
            "PIE's alpha NaN is not zero or a positive number",
        ),
        (
            red(|red| red.max = 1_000),
            "RED's upper threshold 1000 is not above its lower threshold",
        ),
        (
            red(|red| red.weight = 0.0),
            "RED's weight 0 is not positive and at most 1",
        ),
        (
            queue(Queue::StepMark(StepMark {
                threshold: Limit::default(),
                drop_not_ect: false,
                limit: None,
            })),
            "a queue needs a limit in bytes, in packets or in time",
        ),
    ] {
        let error: ConfigError = config.validate().unwrap_err();
        assert_eq!(error.to_string(), message);
        assert!(Link::new(config, 1).is_err(), "{message}");
    }
}

#[test]
fn defaults_and_limits_of_ranges_are_in_order() {
    for config in [
        base(),
        rates(&[(0, 0), (1, 0), (2, 1)]),
        bucket(9, 1, Some(9)),
        bucket(u64::MAX, u64::MAX, None),
        queue(Queue::CoDel(CoDel::default())),
        queue(Queue::FqCoDel(FqCoDel::default())),
        queue(Queue::Pie(Pie::default())),
        queue(Queue::Red(Red { weight: 1.0, ..RED })),
        loss(1.0),
        loss(Loss::Packets(vec![])),
        loss(Loss::Intervals(intervals(&[(0, 5), (5, 6)]))),
        delay(Delay::Jittered {
            jitter: Jitter::Normal {
                mean: ms(30),
                deviation: ms(10),
            },
            reordering: true,
        }),
        aggregation(Nanos::MAX, Some(u64::MAX)),
    ] {
        assert_eq!(config.validate(), Ok(()));
        assert!(Link::new(config, 1).is_ok());
    }
}

//! A scenario in which both ends of a flow have full windows and hold back each other's acknowledgements.

use kneepoint::emulator::link::{
    Delay, Impairments, Interval, Jitter, Limit, LinkConfig, Loss, Pie, Queue, RateStep,
    Reordering, Shaper,
};
use kneepoint::emulator::network::{Duplex, Pattern};
use kneepoint::emulator::time::Nanos;
use kneepoint::{Algorithm, ControllerSpec, Preset};

use crate::scenario::{Controller, Flow, Scenario, Shape};

/// `bbr2:paper` fills the way back of a `compound` flow that sends in both directions: from 37 s to 58 s, neither of its
/// ends acknowledges anything.
pub(crate) fn scenario() -> Scenario {
    let bbr2 = Algorithm::Bbr2.with(Preset::Paper).unwrap();
    Scenario {
        shape: Shape::Dumbbell,
        hops: vec![Duplex {
            forward: forward(),
            reverse: reverse(),
        }],
        flows: vec![
            flow(bbr2, 0, 468),
            flow(Algorithm::Compound.into(), 1_262_801, 222),
        ],
        cross: Some(Pattern::Constant),
        seed: 1_912_861_618,
        duration: ms(60_000),
    }
}

fn flow(controller: ControllerSpec, up: u64, start: u64) -> Flow {
    Flow {
        controller: Controller::Ours(controller),
        up,
        down: u64::MAX,
        start: ms(start),
        skips: (0, 0),
    }
}

fn forward() -> LinkConfig {
    LinkConfig {
        queue: Queue::DropTail(Limit::bytes(112_619)),
        delay: Delay::Jittered {
            jitter: Jitter::Uniform {
                from: ms(6),
                to: ms(16),
            },
            reordering: false,
        },
        loss: Loss::GilbertElliott {
            p: 0.000_577_821_607_780_676_7,
            r: 0.3,
            good: 0.002_076_214_769_708_138_6,
            bad: 0.863_493_898_039_718_5,
        },
        impairments: Impairments {
            blackouts: vec![interval(2300, 3303), interval(10_913, 11_163)],
            duplication: 0.136_899_208_509_357_97,
            corruption: 0.018_622_220_646_398_895,
            reordering: Some(Reordering {
                probability: 0.083_729_628_252_153_47,
                delay: ms(35),
            }),
            ..Impairments::default()
        },
        overhead: 38,
        ..rates(vec![step(0, 0), step(1_493_500, 73_839)])
    }
}

fn reverse() -> LinkConfig {
    LinkConfig {
        queue: Queue::Pie(Pie {
            target: ms(15),
            update: ms(15),
            alpha: 0.125,
            beta: 1.25,
            burst: ms(150),
            derandomized: true,
            limit: Some(Limit::bytes(65_376)),
            ecn: true,
            ecn_threshold: 0.1,
        }),
        delay: ms(90).into(),
        loss: Loss::Intervals(vec![
            interval(3112, 3187),
            interval(7801, 9154),
            interval(13_434, 15_420),
        ]),
        impairments: Impairments {
            corruption: 0.007_039_438_399_320_15,
            reordering: Some(Reordering {
                probability: 0.139_494_485_596_472_5,
                delay: ms(19),
            }),
            ..Impairments::default()
        },
        overhead: 31,
        ..rates(vec![
            step(0, 99_120),
            step(2_933_000, 75_620),
            step(4_927_000, 152_508),
            step(6_815_000, 57_636),
        ])
    }
}

fn rates(steps: Vec<RateStep>) -> LinkConfig {
    LinkConfig::new(Shaper::Schedule(steps))
}

/// From so many microseconds on.
fn step(micros: u64, bytes_per_second: u64) -> RateStep {
    RateStep {
        from: Nanos(micros * 1000),
        bytes_per_second,
    }
}

fn interval(from: u64, to: u64) -> Interval {
    Interval {
        from: ms(from),
        to: ms(to),
    }
}

fn ms(millis: u64) -> Nanos {
    Nanos::from_millis(millis)
}

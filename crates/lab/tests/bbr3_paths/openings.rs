//! Links that open and close, and applications that do.

use kneepoint_emulator::link::{RateStep, Shaper};
use kneepoint_emulator::network::Duplex;
use kneepoint_lab::controllers::resolve;
use kneepoint_lab::workload::{Load, Phase};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::paths::{
    bdp, bytes_per_second, constant, forward, goodput, greedy, reverse, seconds, with,
};

/// A 60 GHz link in a crowd: open for 0.1 to 0.3 s at 100 to 150 Mb/s, blocked for 0.2 to 1.5 s, mostly briefly.
fn crowded(seed: u64, end: f64) -> Shaper {
    let mut random = Pcg64::seed_from_u64(seed);
    let step = |from, mbps| RateStep {
        from: seconds(from).into(),
        bytes_per_second: bytes_per_second(mbps),
    };
    let (mut steps, mut time) = (Vec::new(), 0.0);
    while time < end {
        steps.push(step(time, random.random_range(100.0..150.0)));
        time += random.random_range(0.1..0.3);
        steps.push(step(time, 0.0));
        time += 0.2 + 1.3 * random.random_range(0.0..1.0_f64).powi(3);
    }
    steps.push(step(time, 100.0));
    Shaper::Schedule(steps)
}

#[test]
fn a_link_that_opens_and_closes_is_used() {
    for seed in 1..=2 {
        let links = || Duplex {
            forward: forward(crowded(seed, 20.0), 0.04, 3_000_000),
            reverse: reverse(0.04),
        };
        let cubic = goodput(&greedy("quinn-cubic", links(), 20.0), 2.0, 20.0);
        for name in ["bbr3", "bbr3-s", "bbr2"] {
            let share = goodput(&greedy(name, links(), 20.0), 2.0, 20.0) / cubic;
            assert!(share > 0.6, "{name}, seed {seed}: {share} of quinn-cubic's");
        }
    }
}

/// 4 Mb/s of frames, 30 a second, and every 2 s one of 100 kB, into a queue of 0.3 bandwidth-delay products.
#[test]
fn intra_coded_frames_lose_little() {
    let end = 20.0;
    let mut application = Vec::new();
    for start in 0..10 {
        let start = 2.0 * f64::from(start);
        let frames = |until: f64, bytes, period: f64| Phase {
            until: seconds(until),
            load: Load::Frames {
                bytes,
                period: seconds(period),
            },
        };
        application.push(frames(start + 1.0 / 30.0, 100_000, 1.0));
        application.push(frames(start + 2.0, 15_000, 1.0 / 30.0));
    }
    for name in ["bbr3", "bbr3-s"] {
        let links = Duplex {
            forward: forward(constant(20.0), 0.04, bdp(20.0, 0.04, 0.3)),
            reverse: reverse(0.04),
        };
        let controller = resolve(name, 1).expect("a known controller");
        let outcome = with(controller, links, end, Some(application.clone()));
        let lost = outcome.links["forward"].loss_rate();
        assert!(lost <= 0.01, "{name}: {lost}");
        assert!(goodput(&outcome, 2.0, end) > 3.8, "{name}");
    }
}

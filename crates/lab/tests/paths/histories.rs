//! Random histories of losses and marks, after which the path is clean.

use std::ops::Range;
use std::time::Duration;

use kneepoint_emulator::link::{Interval, Loss};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::marks::marked;
use super::{PAYLOAD, bdp, constant, goodput, links, seconds, time_to, with};

/// A path, and what happens on it until it becomes clean.
struct History {
    mbps: f64,
    rtt: f64,
    queue: f64,
    losses: Vec<Interval>,
    marks: Vec<Duration>,
    clean_from: f64,
}

impl History {
    fn random(seed: u64, fastest: usize) -> Self {
        let mut random = Pcg64::seed_from_u64(seed);
        let mut history = Self {
            mbps: [5.0, 10.0, 20.0, 50.0][random.random_range(0..fastest)],
            rtt: [0.01, 0.02, 0.04, 0.1][random.random_range(0..4_usize)],
            queue: [0.5, 1.0, 2.0, 5.0][random.random_range(0..4_usize)],
            losses: Vec::new(),
            marks: Vec::new(),
            clean_from: random.random_range(0.02..0.5),
        };
        let end = random.random_range(1.0..6.0);
        while history.clean_from < end {
            match random.random_range(0..4_u32) {
                0 => history.lose(random.random_range(0.0005..0.004)),
                1 => history.lose(random.random_range(0.002..0.1)),
                2 => history.marks.push(seconds(history.clean_from)),
                _ => {
                    for _ in 0..random.random_range(1..20_u32) {
                        history.marks.push(seconds(history.clean_from));
                        history.lose(0.0005);
                        history.clean_from += random.random_range(0.001..0.05);
                    }
                }
            }
            history.clean_from += random.random_range(0.001..0.6);
        }
        history
    }

    /// Loses all packets for `span` seconds.
    fn lose(&mut self, span: f64) {
        let from = self.clean_from;
        self.clean_from += span;
        self.losses.push(Interval {
            from: seconds(from).into(),
            to: seconds(self.clean_from).into(),
        });
    }

    /// The fault of the controller, if there is one: it must reach 90 % of the link within [`time_allowed`], and keep
    /// it.
    fn fault(self, name: &str) -> Option<String> {
        let Self { mbps, rtt, .. } = self;
        let mut links = links(constant(mbps), rtt, bdp(mbps, rtt, self.queue));
        links.forward.loss = Loss::Intervals(self.losses);
        let end = self.clean_from + time_allowed(name) + 5.0;
        let outcome = with(marked(name, self.marks, None), links, end, None);
        let back = time_to(&outcome, self.clean_from, 0.9 * PAYLOAD * mbps);
        let after = goodput(&outcome, end - 5.0, end);
        let holds = back <= time_allowed(name) && after > 0.85 * PAYLOAD * mbps;
        (!holds).then(|| {
            format!("{name}: back after {back} s, {after} of {mbps} Mb/s at the end, {rtt} s")
        })
    }
}

/// Ten seconds for every BBR. eBCC is none: like CUBIC it grows by packets per round trip.
fn time_allowed(name: &str) -> f64 {
    match name {
        "ebcc" => 12.0,
        _ => 10.0,
    }
}

/// After the histories of these seeds everything is well again, on the first so many of 5, 10, 20 and 50 Mb/s.
pub(crate) fn all_end(name: &str, seeds: Range<u64>, fastest: usize) {
    let faults: Vec<String> = seeds
        .filter_map(|seed| {
            let fault = History::random(seed, fastest).fault(name)?;
            Some(format!("seed {seed}, {fault}"))
        })
        .collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

/// A test for each controller: up to 50 Mb/s, 300 histories.
macro_rules! all_histories {
    ($($test:ident: $name:literal,)*) => {$(
        #[test]
        #[ignore = "takes minutes"]
        fn $test() {
            $crate::paths::histories::all_end($name, 0..300, 4);
        }
    )*};
}

pub(crate) use all_histories;

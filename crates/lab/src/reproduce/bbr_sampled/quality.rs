//! D1, D2, D3 and D5: what a viewer sees, by the buffer's size.

use super::film::{Film, Shown, bytes};
use crate::reproduce::report::{Section, Table, Verdict, number, opt, percent};
use crate::reproduce::{About, CaseError, Paper, Scale, Study};

/// Figures 4, 5, 8, 9 and 16, tables 1 and 2.
pub(in crate::reproduce) struct Quality;

impl Study for Quality {
    type Case = Film;
    type Result = Shown;

    fn about(&self) -> About {
        About {
            id: "D1",
            paper: Paper::BbrSampled,
            title: "Adaptive video by the size of the buffer (with D2, D3 and D5)",
            figure: "figures 4, 5, 8, 9 and 16, tables 1 and 2",
            setup: "A token bucket of 25 Mb/s with bursts of 1 MB in front of a line of 1 Gb/s, 100 ms; 127 segments of 5 s in \
                    levels from 1 to 25 Mb/s; a player with DYNAMIC, one request after the other over one QUIC connection.",
            claim: "With buffers up to 1 MB the quality is about 10 and nothing stalls. With 10 MB, BBR's quality falls under 5 and \
                    the film stalls (0.14 of its length over HTTP/1.1, 0.75 over HTTP/2); the median RTT is seven times the path's, \
                    the median estimate three times the link. With the sampled filters the quality is about 10 again.",
        }
    }

    fn cases(&self, scale: Scale) -> Vec<Film> {
        let mut cases = Vec::new();
        for &controller in scale.pick(&["bbr", "bbr-sampled"][..], &CONTROLLERS[..]) {
            for &buffer_kb in scale.pick(&[10_000][..], &BUFFERS[..]) {
                cases.push(Film {
                    controller,
                    rule: "dynamic",
                    buffer_kb,
                    burst_kb: 1000,
                    rtt_ms: 100,
                    segments: scale.pick(25, 127),
                });
            }
        }
        cases
    }

    fn weight(&self, case: &Film) -> f64 {
        case.weight()
    }

    fn run(&self, case: &Film) -> Result<Shown, CaseError> {
        case.show()
    }

    fn report(&self, _scale: Scale, results: &[(Film, Shown)]) -> Section {
        let mut table = Table::new(
            "One film each",
            &[
                "controller",
                "buffer",
                "quality",
                "stall rate",
                "median RTT, ms",
                "estimate, Mb/s: mean",
                "median",
                "STARTUP",
                "PROBE_BW",
                "DRAIN",
                "PROBE_RTT",
                "drops",
            ],
        );
        for (case, shown) in results {
            let state = |place: usize| {
                let share = shown.states.map(|states| states[place]);
                share.map_or_else(|| "-".to_owned(), percent)
            };
            table.row([
                format!("`{}`", case.controller),
                bytes(case.buffer_kb),
                opt(shown.quality),
                opt(shown.stall_rate),
                opt(shown.rtt_median_ms),
                opt(shown.estimate_mean_mbps),
                opt(shown.estimate_median_mbps),
                state(0),
                state(2),
                state(1),
                state(3),
                shown.drops.to_string(),
            ]);
        }
        let deep = |controller: &str, figure: fn(&Shown) -> Option<f64>| {
            let mut runs = results.iter();
            let run =
                runs.find(|(case, _)| (case.controller, case.buffer_kb) == (controller, 10_000));
            run.and_then(|(_, shown)| figure(shown)).unwrap_or(f64::NAN)
        };
        let quality = deep("bbr", |shown| shown.quality);
        let repaired = deep("bbr-sampled", |shown| shown.quality);
        let stalls = deep("bbr-sampled", |shown| shown.stall_rate);
        let rtt = deep("bbr", |shown| shown.rtt_median_ms) / 100.0;
        let estimate = deep("bbr", |shown| shown.estimate_median_mbps) / 25.0;
        let sampled = deep("bbr-sampled", |shown| shown.estimate_median_mbps) / 25.0;
        let sampled_rtt = deep("bbr-sampled", |shown| shown.rtt_median_ms) / 100.0;
        let startup = deep("bbr", |shown| shown.states.map(|states| states[0]));
        Section::new(Study::about(self))
            .verdict(Verdict::new(
                "D2: median RTT of `bbr` with 10 MB of buffer, against the path's",
                "7 times",
                format!("{} times", number(rtt)),
                (rtt >= 5.0, rtt >= 2.0),
                "",
            ))
            .verdict(Verdict::new(
                "D2: its median estimate, against the link's rate",
                "about 3 times",
                format!("{} times", number(estimate)),
                (estimate >= 2.5, estimate >= 1.5),
                "",
            ))
            .verdict(Verdict::new(
                "D5: the same of `bbr-sampled`: estimate and RTT",
                "no overestimate, no queue",
                format!("{} times, {} times", number(sampled), number(sampled_rtt)),
                (sampled <= 1.15 && sampled_rtt <= 2.0, sampled < estimate),
                "",
            ))
            .verdict(Verdict::new(
                "D1: quality of `bbr` with 10 MB of buffer",
                "under 5, with stalls",
                number(quality),
                (quality < 5.0, quality < 7.0),
                "The player asks for a segment when the last byte of the one before has arrived: the queue of nearly a second is empty \
                 by then, and every request is answered within one empty round trip. The queue delays the segment that it \
                 consists of and nothing else, and does not slow it. The article's stall rates ask for a fifth of the link's rate, \
                 which a queue alone cannot explain; several requests at once, or abandoned ones, can.",
            ))
            .verdict(Verdict::new(
                "D5: quality and stall rate of `bbr-sampled` with 10 MB of buffer",
                "about 10, no stalls",
                format!("{}, {}", number(repaired), number(stalls)),
                (repaired >= 8.5 && stalls < 0.01, repaired >= quality),
                "",
            ))
            .verdict(Verdict::new(
                "D3: `bbr`'s share of time in STARTUP with 10 MB of buffer",
                "0.23 % in shallow buffers, 5.3 % in deep ones",
                percent(startup),
                (startup >= 0.03, startup >= 0.01),
                "Startup is over after the first segment here, and nothing of ours goes back to it.",
            ))
            .table(table)
            .note(
                "A step up has to fit into 0.9 of the throughput that the player has measured, so that level 9 of 10 is what a link of \
                 25 Mb/s supports: a quality of 8.8 is all of it.",
            )
    }
}

const CONTROLLERS: [&str; 6] = [
    "quinn-cubic",
    "cubic",
    "bbr",
    "bbr2",
    "bbr-sampled",
    "bbr2-sampled",
];
const BUFFERS: [u64; 4] = [10, 100, 1000, 10_000];

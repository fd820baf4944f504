//! D6: by the rule that chooses the levels.

use super::film::{Film, Shown};
use super::quality::link;
use crate::dash::abr::Algorithm;
use crate::plots::{Axis, Chart, Mark};
use crate::reproduce::report::{Section, Table, Verdict, number, opt};
use crate::reproduce::{About, CaseError, Paper, Scale, Study};

/// Figure 7.
pub(in crate::reproduce) struct Rules;

impl Study for Rules {
    type Case = Film;
    type Result = Shown;

    fn about(&self) -> About {
        About {
            id: "D6",
            paper: Paper::BbrSampled,
            title: "By the player's rule",
            figure: "figure 7",
            setup: "The same bucket and film, bursts of 1 MB; 10 MB of buffer against 1 MB.",
            claim: "Every rule loses quality and gains stalls under BBR with the deep buffer.",
        }
    }

    fn cases(&self, scale: Scale) -> Vec<Film> {
        let mut cases = Vec::new();
        for rule in Algorithm::ALL {
            cases.extend(
                scale
                    .pick(&[10_000][..], &[1000, 10_000])
                    .iter()
                    .map(|&buffer_kb| Film {
                        controller: "bbr",
                        rule,
                        buffer_kb,
                        burst_kb: 1000,
                        rtt_ms: 100,
                        segments: scale.pick(15, 64),
                        connections: 1,
                    }),
            );
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
            "`bbr`, one film each",
            &[
                "rule",
                "quality, 1 MB",
                "10 MB",
                "stall rate, 1 MB",
                "10 MB",
            ],
        );
        let of = |rule: Algorithm, buffer: u64, figure: fn(&Shown) -> Option<f64>| {
            let mut runs = results.iter();
            let run = runs.find(|(case, _)| (case.rule, case.buffer_kb) == (rule, buffer));
            run.and_then(|(_, shown)| figure(shown))
        };
        let mut largest_loss = f64::NEG_INFINITY;
        for rule in Algorithm::ALL {
            let quality = |buffer| of(rule, buffer, |shown| shown.quality);
            let stalls = |buffer| of(rule, buffer, |shown| shown.stall_rate);
            if let (Some(shallow), Some(deep)) = (quality(1000), quality(10_000)) {
                largest_loss = largest_loss.max(shallow - deep);
            }
            table.row([
                rule.name().to_owned(),
                opt(quality(1000)),
                opt(quality(10_000)),
                opt(stalls(1000)),
                opt(stalls(10_000)),
            ]);
        }
        let mut chart = Chart::new(
            "10 MB of buffer: throughput of each segment",
            Axis::linear("requested at, s"),
            Axis::linear("Mb/s"),
        )
        .series("the link", Mark::Reference, link(results));
        for (case, shown) in results.iter().filter(|(case, _)| case.buffer_kb == 10_000) {
            chart = chart.series(case.rule.name(), Mark::Line, shown.throughput.clone());
        }
        let section = Section::new(Study::about(self)).table(table).chart(chart);
        if !largest_loss.is_finite() {
            return section;
        }
        section.verdict(Verdict::new(
            "largest loss of quality by the deep buffer, of five rules",
            "all lose",
            number(largest_loss),
            (largest_loss > 2.0, largest_loss > 0.5),
            "As in D1: the queue is empty when the player asks for the next segment, whatever its rule, and the segment comes at the \
             link's rate.",
        ))
    }
}

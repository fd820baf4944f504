//! D4: the estimate by the size of the bursts.

use super::film::{Film, Shown, bytes};
use crate::dash::abr::Algorithm;
use crate::plots::{Axis, Chart, Mark};
use crate::reproduce::report::{Section, Table, Verdict, number, opt};
use crate::reproduce::{About, CaseError, Paper, Scale, Study};

/// Figure 15 and table 3.
pub(in crate::reproduce) struct Bursts;

impl Study for Bursts {
    type Case = Film;
    type Result = Shown;

    fn about(&self) -> About {
        About {
            id: "D4",
            paper: Paper::BbrSampled,
            title: "How far bursts lead the estimate astray",
            figure: "figure 15 and table 3",
            setup: "The same bucket of 25 Mb/s and film with 10 MB of buffer; the bucket holds 8 KB to 2 MB.",
            claim: "Mean estimates at 8 KB, 100 KB, 1 MB and 2 MB, in Mb/s: BBR 24.1, 28.3, 91.8, 162.9; BBRv2 24.2, 29.4, 65.7, 107.9.",
        }
    }

    fn cases(&self, scale: Scale) -> Vec<Film> {
        let mut cases = Vec::new();
        for controller in ["bbr", "bbr2", "bbr-sampled", "bbr2-sampled"] {
            let bursts = scale.pick(&BURSTS[2..3], &BURSTS[..]);
            cases.extend(bursts.iter().map(|&burst_kb| Film {
                controller,
                rule: Algorithm::Dynamic,
                buffer_kb: 10_000,
                burst_kb,
                rtt_ms: 100,
                segments: scale.pick(20, 42),
                connections: 1,
            }));
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
            "The estimate while data is in flight",
            &[
                "controller",
                "burst",
                "mean, Mb/s",
                "paper",
                "median, Mb/s",
                "median RTT, ms",
            ],
        );
        let mut section = Section::new(Study::about(self));
        let mut chart = Chart::new(
            "The mean estimate by the size of the bursts",
            Axis::log("burst, KB"),
            Axis::linear("Mb/s"),
        );
        for (controller, paper) in PAPER {
            let mut points = Vec::new();
            for (case, shown) in results
                .iter()
                .filter(|(case, _)| case.controller == controller)
            {
                let place = BURSTS.iter().position(|&burst| burst == case.burst_kb);
                let theirs = paper.zip(place).map(|(paper, place)| paper[place]);
                table.row([
                    format!("`{controller}`"),
                    bytes(case.burst_kb),
                    opt(shown.estimate_mean_mbps),
                    opt(theirs),
                    opt(shown.estimate_median_mbps),
                    opt(shown.rtt_median_ms),
                ]);
                let mean = shown.estimate_mean_mbps.unwrap_or(f64::NAN);
                points.push((case.burst_kb as f64, mean));
                let burst = bytes(case.burst_kb);
                section = match theirs {
                    Some(theirs) => section.verdict(Verdict::new(
                        format!("mean estimate of `{controller}`, bursts of {burst}"),
                        format!("{} Mb/s", number(theirs)),
                        format!("{} Mb/s", number(mean)),
                        (
                            (mean / theirs - 1.0).abs() <= 0.25,
                            (mean > 30.0) == (theirs > 30.0),
                        ),
                        "",
                    )),
                    None => section.verdict(Verdict::new(
                        format!("mean estimate of `{controller}`, bursts of {burst}"),
                        "about 25 Mb/s",
                        format!("{} Mb/s", number(mean)),
                        ((mean / 25.0 - 1.0).abs() <= 0.15, mean < 35.0),
                        "",
                    )),
                };
            }
            chart = chart.series(controller, Mark::Dots, points);
        }
        section.table(table).chart(chart)
    }
}

const BURSTS: [u64; 4] = [8, 100, 1000, 2000];

/// The paper's means at these bursts (table 3), where it has any.
const PAPER: [(&str, Option<[f64; 4]>); 4] = [
    ("bbr", Some([24.1, 28.3, 91.8, 162.9])),
    ("bbr2", Some([24.2, 29.4, 65.7, 107.9])),
    ("bbr-sampled", None),
    ("bbr2-sampled", None),
];

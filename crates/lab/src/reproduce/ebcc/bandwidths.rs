//! C2: one flow over access links and bottlenecks of several rates.

use super::buffer;
use super::dumbbell::{Case, Dumbbell, Run};
use super::grid::{self, Setting, change, figures};
use super::verdicts;
use crate::reproduce::report::{Section, Verdict};
use crate::reproduce::{About, CaseError, Paper, Scale, Study};

/// Tables 2 and 3.
pub(in crate::reproduce) struct Bandwidths;

impl Study for Bandwidths {
    type Case = Case;
    type Result = Run;

    fn about(&self) -> About {
        About {
            id: "C2",
            paper: Paper::Ebcc,
            title: "One flow, several rates",
            figure: "tables 2 and 3",
            setup: "Access link, bottleneck, access link of 20, 10 and 20 ms; 19 s of transfer in packets of 1480 bytes with \
                    headers (the paper: 1400).",
            claim: "eBCC receives 10.87 % more than BBR (50/15 Mb/s) and loses 74.58 % less (75/17.5 Mb/s).",
        }
    }

    fn cases(&self, scale: Scale) -> Vec<Case> {
        grid::cases(&settings(scale), scale, swept(scale))
    }

    fn weight(&self, case: &Case) -> f64 {
        case.weight()
    }

    fn run(&self, case: &Case) -> Result<Run, CaseError> {
        case.run()
    }

    fn report(&self, scale: Scale, results: &[(Case, Run)]) -> Section {
        let settings = settings(scale);
        let nearest = buffer::nearest(&settings, results, swept(scale));
        let mut section = Section::new(Study::about(self)).verdict(Verdict::new(
            "the buffer that gives the paper's losses of BBR",
            "not given",
            format!("{nearest} packets, of those tried"),
            (nearest == buffer::CHOSEN, true),
            "",
        ));
        for setting in &settings {
            section = verdicts::against_bbr(section, setting, results);
        }
        let three: Vec<f64> = settings
            .iter()
            .filter(|setting| setting.network.bottleneck_mbps > 5.0)
            .map(|setting| setting.against_bbr(results, |run| run.rtt))
            .collect();
        let rtt = three.iter().sum::<f64>() / three.len().max(1) as f64;
        section = buffer::rates(section, &settings, results, swept(scale), "50/15");
        section
            .table(grid::rates(&settings, results))
            .table(grid::losses(&settings, results))
            .table(buffer::table(&settings, results, swept(scale)))
            .note(verdicts::THROUGHPUT)
            .note(format!(
                "What eBCC does have for the throughput that it gives away, above 5 Mb/s: {} of mean round-trip time.",
                change(rtt)
            ))
            .note(
                "The sizes are one for all rates. A buffer in proportion to the BDP does not give the paper's pattern, in which \
                 BBR loses next to nothing at 5 Mb/s and a fifth at 15 Mb/s: its window of 2 BDP fits into the pipe and 60 packets \
                 only as long as one BDP does into these.",
            )
    }
}

fn settings(scale: Scale) -> Vec<Setting> {
    let row = |label, access, bottleneck, paper| Setting {
        label,
        network: Dumbbell::new(access, bottleneck, buffer::CHOSEN),
        flows: 1,
        paper,
    };
    let all = [
        row(
            "15/5",
            15.0,
            5.0,
            [
                figures(4.220, 4.188, 1.0617),
                figures(3.245, 3.160, 4.8268),
                figures(4.776, 4.697, 2.0855),
                figures(4.776, 4.697, 2.0855),
            ],
        ),
        row(
            "30/10",
            30.0,
            10.0,
            [
                figures(6.845, 6.801, 1.008),
                figures(6.509, 6.386, 3.4845),
                figures(9.661, 8.870, 11.1037),
                figures(9.576, 9.2662, 4.9245),
            ],
        ),
        row(
            "50/15",
            50.0,
            15.0,
            [
                figures(7.743, 7.692, 1.2216),
                figures(8.840, 8.672, 3.4133),
                figures(14.731, 12.465, 19.7338),
                figures(14.353, 13.820, 5.6094),
            ],
        ),
        row(
            "75/17.5",
            75.0,
            17.5,
            [
                figures(8.769, 8.708, 1.2343),
                figures(10.055, 9.855, 3.4354),
                figures(17.413, 14.631, 19.9143),
                figures(16.634, 16.087, 5.0625),
            ],
        ),
    ];
    all[scale.pick(2, 0)..].to_vec()
}

fn swept(scale: Scale) -> &'static [u64] {
    scale.pick(&[32, buffer::CHOSEN, 127], &buffer::SWEPT)
}

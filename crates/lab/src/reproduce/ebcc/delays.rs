//! C3: one flow over links of several delays.

use super::buffer;
use super::dumbbell::{Case, Dumbbell, Run};
use super::grid::{self, Setting, figures};
use super::verdicts;
use crate::reproduce::report::Section;
use crate::reproduce::{About, CaseError, Paper, Scale, Study};

/// Tables 4 and 5.
pub(in crate::reproduce) struct Delays;

impl Study for Delays {
    type Case = Case;
    type Result = Run;

    fn about(&self) -> About {
        About {
            id: "C3",
            paper: Paper::Ebcc,
            title: "One flow, several delays",
            figure: "tables 4 and 5",
            setup: "Access links of 50 Mb/s, a bottleneck of 15 Mb/s; one-way delays of access link and bottleneck as in the \
                    heading; 19 s of transfer.",
            claim: "At 20/10 and 15/7.5 ms eBCC receives more than BBR and loses a third of what BBR does; at 10/5 ms they are alike.",
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
        let mut section = Section::new(Study::about(self));
        for setting in &settings {
            section = verdicts::against_bbr(section, setting, results);
        }
        section = buffer::rates(section, &settings, results, swept(scale), "15/7.5 ms");
        section
            .table(grid::rates(&settings, results))
            .table(grid::losses(&settings, results))
            .table(buffer::table(&settings, results, swept(scale)))
            .note(verdicts::THROUGHPUT)
    }
}

fn settings(scale: Scale) -> Vec<Setting> {
    let row = |label, access_ms, bottleneck_ms, paper| Setting {
        label,
        network: Dumbbell {
            access_ms,
            bottleneck_ms,
            ..Dumbbell::new(50.0, 15.0, buffer::CHOSEN)
        },
        flows: 1,
        paper,
    };
    let all = [
        row(
            "20/10 ms",
            20.0,
            10.0,
            [
                figures(7.743, 7.692, 1.222),
                figures(8.840, 8.672, 3.217),
                figures(14.126, 12.037, 18.928),
                figures(14.353, 13.823, 5.609),
            ],
        ),
        row(
            "15/7.5 ms",
            15.0,
            7.5,
            [
                figures(11.737, 11.678, 0.661),
                figures(10.717, 10.593, 2.118),
                figures(14.650, 13.099, 14.023),
                figures(14.469, 14.036, 4.617),
            ],
        ),
        row(
            "10/5 ms",
            10.0,
            5.0,
            [
                figures(12.860, 12.827, 0.456),
                figures(11.154, 11.058, 1.573),
                figures(14.448, 14.290, 1.712),
                figures(14.220, 14.079, 1.744),
            ],
        ),
    ];
    all[scale.pick(2, 0)..].to_vec()
}

fn swept(scale: Scale) -> &'static [u64] {
    scale.pick(&[buffer::CHOSEN], &buffer::SWEPT)
}

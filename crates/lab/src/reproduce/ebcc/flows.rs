//! C4: several flows of one controller.

use super::buffer;
use super::dumbbell::{Case, Dumbbell, Run};
use super::grid::{self, Setting, change, shared};
use super::verdicts;
use crate::reproduce::report::{Section, Verdict};
use crate::reproduce::summary::Seeds;
use crate::reproduce::{About, CaseError, Paper, Scale, Study};

/// Tables 6 to 8.
pub(in crate::reproduce) struct Flows;

impl Study for Flows {
    type Case = Case;
    type Result = Run;

    fn about(&self) -> About {
        About {
            id: "C4",
            paper: Paper::Ebcc,
            title: "Several flows",
            figure: "tables 6 to 8",
            setup: "Three and five flows, which begin together, over access links of 50 Mb/s and 20 ms each and one bottleneck of \
                    15 Mb/s and 10 ms; 19 s of transfer. Jain's index is of what each receiver read in all of it.",
            claim: "eBCC is up to 8.39 % fairer than BBR (0.986 against 0.910 with five flows), receives more and loses about half.",
        }
    }

    fn cases(&self, scale: Scale) -> Vec<Case> {
        grid::cases(&settings(scale), scale, &[])
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
            let jain = |name| {
                let figures = setting.figures(results, name, buffer::CHOSEN, |run| run.jain);
                Seeds::of(figures).mean
            };
            let (ours, bbr) = (jain("ebcc:paper"), jain("bbr"));
            let paper = |name| setting.paper(name).and_then(|paper| paper.jain);
            let [paper_ours, paper_bbr] =
                ["ebcc:paper", "bbr"].map(|name| paper(name).unwrap_or(f64::NAN));
            section = section.verdict(Verdict::new(
                format!("Jain's index of `ebcc` against `bbr`, {}", setting.label),
                format!(
                    "{paper_ours:.3} to {paper_bbr:.3} ({})",
                    change(paper_ours / paper_bbr)
                ),
                format!("{ours:.3} to {bbr:.3} ({})", change(ours / bbr)),
                (ours > bbr && ours >= paper_ours - 0.01, ours > bbr),
                "`bbr` is fair here already: the flows begin together and have the same round-trip time.",
            ));
        }
        section
            .table(grid::rates(&settings, results))
            .table(grid::losses(&settings, results))
            .table(grid::fairness(&settings, results))
            .note(verdicts::THROUGHPUT)
    }
}

fn settings(scale: Scale) -> Vec<Setting> {
    let row = |label, flows, paper| Setting {
        label,
        network: Dumbbell::new(50.0, 15.0, buffer::CHOSEN),
        flows,
        paper,
    };
    let all = [
        row(
            "3 flows",
            3,
            [
                shared(4.234, 4.209, 0.857, 0.999),
                shared(4.511, 4.452, 2.392, 0.962),
                shared(5.245, 4.076, 28.135, 0.951),
                shared(5.005, 4.527, 14.488, 0.996),
            ],
        ),
        row(
            "5 flows",
            5,
            [
                shared(2.796, 2.779, 0.929, 0.994),
                shared(2.602, 2.554, 2.721, 0.991),
                shared(3.281, 2.415, 35.430, 0.910),
                shared(3.105, 2.677, 20.443, 0.986),
            ],
        ),
    ];
    all[scale.pick(1, 0)..].to_vec()
}

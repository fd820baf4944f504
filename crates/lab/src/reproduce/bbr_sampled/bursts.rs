//! D4: the estimate by the size of the bursts.

use super::video::{Shown, VideoCase, VideoRuns, bytes};
use crate::plots::{Axis, Chart, Mark};
use crate::reproduce::report::{Section, Verdict, code, number, number_alone, opt};
use crate::reproduce::summary::known;
use crate::reproduce::{About, Paper, Reproduction, Scale};

/// Figure 15 and table 3.
pub(in crate::reproduce) static BURSTS: Reproduction<VideoCase, Shown> = Reproduction {
    about: About {
        id: "D4",
        paper: Paper::BbrSampled,
        title: "How far bursts lead the estimate astray",
        figure: "figure 15 and table 3",
        setup: "The same bucket of 25 Mb/s and film with 10 MB of buffer; the bucket holds 8 KB to 2 MB.",
        claim: "Mean estimates at 8 KB, 100 KB, 1 MB and 2 MB, in Mb/s: BBR 24.1, 28.3, 91.8, 162.9; BBRv2 24.2, 29.4, 65.7, 107.9.",
    },
    cases,
    weight: VideoCase::weight,
    run: VideoCase::show,
    report,
};

fn cases(scale: Scale) -> Vec<VideoCase> {
    let bursts = scale.pick(&SIZES[2..3], &SIZES[..]);
    let runs = |(controller, _)| {
        bursts.iter().map(move |&burst_kb| VideoCase {
            burst_kb,
            ..VideoCase::new(controller, scale.pick(20, 42))
        })
    };
    PAPER.into_iter().flat_map(runs).collect()
}

fn report(_scale: Scale, runs: &VideoRuns<'_>, mut section: Section) -> Section {
    let table = runs
        .table("The estimate while data is in flight", VideoCase::clone)
        .name("controller", |case| code(case.controller))
        .name("burst", |case| bytes(case.burst_kb))
        .numbers("mean, Mb/s", mean)
        .name("paper", |case| opt(papers(case)))
        .numbers("median, Mb/s", |shown| known(shown.estimate_median_mbps))
        .numbers("median RTT, ms", |shown| known(shown.rtt_median_ms));
    for (case, shown) in runs.iter() {
        let mean = mean(shown);
        let (paper, theirs) = match papers(case) {
            Some(theirs) => (format!("{} Mb/s", number(theirs)), theirs),
            None => ("about 25 Mb/s".to_owned(), 25.0),
        };
        let (controller, burst) = (case.controller, bytes(case.burst_kb));
        section = section.verdict(Verdict::new(
            format!("mean estimate of `{controller}`, bursts of {burst}"),
            paper,
            format!("{} Mb/s", number(mean)),
            number_alone(mean, theirs),
            "",
        ));
    }
    let mut chart = Chart::new(
        "The mean estimate by the size of the bursts",
        Axis::log("burst, KB"),
        Axis::linear("Mb/s"),
    );
    for (controller, runs) in runs.by(|case| case.controller) {
        let points = runs.iter();
        let points = points.map(|(case, shown)| (case.burst_kb as f64, mean(shown)));
        chart = chart.series(controller, Mark::Dots, points);
    }
    section.table(table).chart(chart)
}

fn mean(shown: &Shown) -> f64 {
    known(shown.estimate_mean_mbps)
}

/// The paper's mean, where it has any.
fn papers(case: &VideoCase) -> Option<f64> {
    let (_, means) = PAPER.iter().find(|(name, _)| *name == case.controller)?;
    let place = SIZES.iter().position(|&burst| burst == case.burst_kb)?;
    means.map(|means| means[place])
}

const SIZES: [u64; 4] = [8, 100, 1000, 2000];

/// The paper's means at these bursts (table 3), where it has any.
const PAPER: [(&str, Option<[f64; 4]>); 4] = [
    ("bbr", Some([24.1, 28.3, 91.8, 162.9])),
    ("bbr2:paper", Some([24.2, 29.4, 65.7, 107.9])),
    ("bbr-sampled:paper", None),
    ("bbr2-sampled:paper", None),
];

//! D6: by the rule that chooses the levels.

use clap::ValueEnum;

use super::video::{Shown, VideoCase, VideoRuns};
use crate::dash::abr::Algorithm;
use crate::reproduce::report::{Section, Verdict, number, opt};
use crate::reproduce::{About, Paper, Reproduction, Scale};

/// Figure 7.
pub(in crate::reproduce) static RULES: Reproduction<VideoCase, Shown> = Reproduction {
    about: About {
        id: "D6",
        paper: Paper::BbrSampled,
        title: "By the player's rule",
        figure: "figure 7",
        setup: "The same bucket and film, bursts of 1 MB; 10 MB of buffer against 1 MB.",
        claim: "Every rule loses quality and gains stalls under BBR with the deep buffer.",
    },
    cases,
    weight: VideoCase::weight,
    run: VideoCase::show,
    report,
};

fn cases(scale: Scale) -> Vec<VideoCase> {
    let buffers = scale.pick(&[10_000][..], &[1000, 10_000]);
    let runs = |&rule: &Algorithm| {
        buffers.iter().map(move |&buffer_kb| VideoCase {
            rule,
            buffer_kb,
            ..VideoCase::new("bbr", scale.pick(15, 64))
        })
    };
    Algorithm::value_variants().iter().flat_map(runs).collect()
}

fn report(_scale: Scale, runs: &VideoRuns<'_>, section: Section) -> Section {
    let of = |runs: &VideoRuns<'_>, buffer: u64, figure: fn(&Shown) -> Option<f64>| {
        let case = runs.only(|case| case.buffer_kb == buffer);
        case.first().and_then(figure)
    };
    let (quality, stalls) = (
        |shown: &Shown| shown.quality,
        |shown: &Shown| shown.stall_rate,
    );
    let table = runs
        .table("`bbr`, one film each", |case| case.rule)
        .name("rule", |case| case.rule.name().to_owned())
        .cells("quality, 1 MB", |runs| opt(of(runs, 1000, quality)))
        .cells("10 MB", |runs| opt(of(runs, 10_000, quality)))
        .cells("stall rate, 1 MB", |runs| opt(of(runs, 1000, stalls)))
        .cells("10 MB", |runs| opt(of(runs, 10_000, stalls)));
    let losses = runs.by(|case| case.rule).into_iter();
    let losses = losses
        .filter_map(|(_, runs)| Some(of(&runs, 1000, quality)? - of(&runs, 10_000, quality)?));
    let largest_loss = losses.fold(f64::NEG_INFINITY, f64::max);
    let section = section
        .table(table)
        .chart(runs.throughputs(|case| (case.buffer_kb == 10_000).then_some(case.rule.name())));
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

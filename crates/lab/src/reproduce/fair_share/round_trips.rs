//! E: five flows whose round-trip times differ.

use super::network::{Buffer, Case, Run};
use crate::plots::{Axis, Chart, Mark};
use crate::reproduce::report::{Section, Table, Verdict, code, number, number_alone};
use crate::reproduce::{About, Paper, Reproduction, Runs, Scale};

/// The article's evaluation.
pub(in crate::reproduce) static ROUND_TRIPS: Reproduction<Case, Run> = Reproduction {
    about: About {
        id: "E",
        paper: Paper::FairShare,
        title: "Five flows of different round-trip times",
        figure: "Jain's index by N",
        setup: "Five flows for three minutes over one bottleneck of 125 or 250 Mb/s; round-trip times evenly from 50 ms to N \
                x 50 ms; a buffer of 4 BDP, by the mean of the round-trip times. The flows begin within 0.1 s. Jain's index is \
                of the last two minutes, as the article does not say what of.",
        claim: "Jain's index is close to 1 for every N from 2 to 10, from Startup on (the plots carry no numbers).",
    },
    cases,
    weight: |case| case.mbps * case.seconds as f64,
    run: Case::run,
    report,
};

fn cases(scale: Scale) -> Vec<Case> {
    if scale.quick { quick() } else { full(scale) }
}

fn report(scale: Scale, runs: &Runs<'_, Case, Run>, section: Section) -> Section {
    let of = |name: &str| runs.only(|case| case.controller == name);
    let paper = of("bbr-fair:paper").over(|run| run.jain);
    let section = section
        .verdict(Verdict::new(
            "least Jain's index of `bbr-fair:paper`, the article's text alone",
            "close to 1",
            print(paper.min),
            number_alone(paper.min, 1.0),
            "Next to nothing is lost in a buffer of 4 BDP, so that there is hardly a recovery to share anything out: the gain on its BDP gives \
             the flow with the longest round-trip time the longest queue, as with `bbr`.",
        ))
        .table(table(runs))
        .chart(by_n(runs))
        .chart(by_round_trip(runs));
    section
        .note(
            "Where it comes from. In one queue a flow's part of the rate is its part of the queue. A window that exceeds the \
             BDP by a factor puts a queue there that is in proportion to the round-trip time, and round by round the longest takes \
             from the others. Losses would correct it, if there were any: with the buffer counted by the shortest \
             round-trip time there are, and `bbr-fair:paper` is the fairer for it. With a queue of its own (`BbrFairConfig::with_own_queue`) it keeps 40 packets of each flow there \
             instead, whatever its round-trip time, and leaves Startup when it has as many there. It needs a path on which \
             the queues of all flows together are below half of the shortest round-trip time: 200 packets here, 19 ms at \
             125 Mb/s. On slower links the bound of half a BDP takes over, and with it the longer round-trip time. It is an option and not \
             the preset: on the recorded WiGig link its utilization is 28 %.",
        )
        .note(if scale.quick {
            "Quick: 125 Mb/s for 30 s, seed 1."
        } else {
            "At 250 Mb/s, at odd N, with the other buffer and for `bbr-fair:paper` only seed 1 and not every N was run; the other seeds \
             are at 125 Mb/s and N = 10."
        })
}

fn quick() -> Vec<Case> {
    let case = |controller, n| Case {
        mbps: 125.0,
        n,
        buffer: Buffer::Mean,
        controller,
        seed: 1,
        seconds: 30,
    };
    let both = [2, 10].map(|n| ["bbr", FAIR].map(|name| case(name, n)));
    let others = ["bbr-fair:paper", "bbr3", "cubic"].map(|name| case(name, 10));
    both.into_iter().flatten().chain(others).collect()
}

fn full(scale: Scale) -> Vec<Case> {
    let case = |controller, mbps, n| Case {
        mbps,
        n,
        buffer: Buffer::Mean,
        controller,
        seed: 1,
        seconds: 180,
    };
    let mut cases = Vec::new();
    cases.extend((2..=10).map(|n| case(FAIR, 125.0, n)));
    cases.extend([2, 4, 6, 8, 10].map(|n| case(FAIR, 250.0, n)));
    cases.extend([2, 4, 6, 8, 10].map(|n| case("bbr", 125.0, n)));
    cases.extend([2, 6, 10].map(|n| case("bbr", 250.0, n)));
    cases.extend([2, 6, 10].map(|n| case("bbr-fair", 125.0, n)));
    cases.extend([2, 6, 10].map(|n| case("bbr-fair:paper", 125.0, n)));
    for seed in scale.seeds().skip(1) {
        cases.extend([FAIR, "bbr"].map(|name| Case {
            seed,
            ..case(name, 125.0, 10)
        }));
    }
    cases.extend(["bbr", "bbr-fair:paper", FAIR].map(|name| Case {
        buffer: Buffer::Shortest,
        ..case(name, 125.0, 10)
    }));
    cases
}

/// The case without its seed.
fn key(case: &Case) -> Case {
    Case { seed: 1, ..*case }
}

fn table(runs: &Runs<'_, Case, Run>) -> Table {
    runs.table(
        "Means over the seeds (least to largest); shares in Mb/s from the shortest to the longest round-trip time, seed 1",
        key,
    )
    .name("controller", |case| code(case.controller))
    .name("Mb/s", |case| number(case.mbps))
    .name("N", |case| case.n.to_string())
    .name("buffer by", |case| match case.buffer {
        Buffer::Mean => "mean RTT".to_owned(),
        Buffer::Shortest => "shortest RTT".to_owned(),
    })
    .figures("Jain", print, |run| run.jain)
    .figures("from the start", print, |run| run.jain_whole)
    .figures("least of 10 s", print, |run| run.jain_min)
    .cells("shares", |runs| {
        let shares = runs.first().map_or(&[][..], |run| &run.shares);
        let shares: Vec<String> = shares.iter().copied().map(number).collect();
        shares.join(", ")
    })
    .percents("utilization", |run| run.utilization)
    .numbers("queue, ms", |run| run.queue)
    .percents("loss", |run| run.loss)
    .into()
}

fn by_n(runs: &Runs<'_, Case, Run>) -> Chart {
    let mut chart = Chart::new(
        "Jain's index by N",
        Axis::linear("N: longest against shortest round-trip time"),
        Axis::linear("Jain's index"),
    );
    let runs = runs.only(|case| case.buffer == Buffer::Mean);
    for (name, runs) in runs.by(|case| format!("{}, {} Mb/s", case.controller, case.mbps)) {
        let points = runs.by(|case| case.n).into_iter();
        let points = points.map(|(n, runs)| (n as f64, runs.over(|run| run.jain).mean));
        chart = chart.series(name, Mark::Dots, points);
    }
    chart
}

fn by_round_trip(runs: &Runs<'_, Case, Run>) -> Chart {
    let mut chart = Chart::new(
        "Share by round-trip time: N = 10, 125 Mb/s, seed 1",
        Axis::linear("round-trip time of the empty path, ms"),
        Axis::linear("Mb/s"),
    );
    let drawn = runs.only(|case| {
        (case.n, case.seed, case.mbps) == (10, 1, 125.0) && case.buffer == Buffer::Mean
    });
    for (case, run) in drawn.iter() {
        let points = case.round_trips().into_iter().zip(run.shares.clone());
        chart = chart.series(case.controller, Mark::Dots, points);
    }
    chart
}

/// Jain's index, to read.
fn print(index: f64) -> String {
    format!("{index:.3}")
}

/// `bbr-fair` with [`BbrFairConfig::with_own_queue`](kneepoint_controllers::BbrFairConfig::with_own_queue).
pub(super) const FAIR: &str = "bbr-fair, own queue";

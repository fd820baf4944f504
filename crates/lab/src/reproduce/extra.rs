//! F1: every controller on every kind of link that the generator makes.

use std::time::Duration;

use kneepoint_emulator::generate::{Profile, generate};

use crate::controllers;
use crate::reproduce::report::{Section, Table, code, number};
use crate::reproduce::summary::geometric_mean;
use crate::reproduce::trace_runs::{OMNISCIENT, TraceCase, TraceRun, TraceRuns, power};
use crate::reproduce::{About, CaseError, Paper, Reproduction, Scale};

/// Every controller on every generated trace.
pub(in crate::reproduce) static TRACES: Reproduction<TraceCase, TraceRun> = Reproduction {
    about: About {
        id: "F1",
        paper: Paper::Extra,
        title: "Every controller on every kind of link",
        figure: "no paper's",
        setup: "One bulk flow over generated traces, 40 ms of round-trip time, 3 MB of queue. Power is utilization times base RTT \
                over mean RTT: 1 is the sender that knows the trace.",
        claim: "none. What is to be seen is who comes near the omniscient sender.",
    },
    cases,
    weight,
    run,
    report,
};

fn cases(scale: Scale) -> Vec<TraceCase> {
    let mut cases = Vec::new();
    for (link, _, seconds) in LINKS {
        let names = [OMNISCIENT].into_iter().chain(names());
        // At WiGig's rate quinn's BBR drops millions of packets, which take longer than all the rest.
        for controller in names.filter(|name| (link, *name) != ("wigig", "quinn-bbr")) {
            // One seed: the links are many, and so are the controllers.
            cases.extend(scale.seeds().take(1).map(|seed| TraceCase {
                link,
                controller,
                seed,
                seconds: scale.pick(seconds / 6, seconds),
                from: 0,
            }));
        }
    }
    cases
}

fn weight(case: &TraceCase) -> f64 {
    let rate = LINKS.iter().find(|(link, ..)| *link == case.link);
    let rate = rate.map_or(1.0, |(_, profile, _)| match profile {
        Profile::WigigBlockage => 100.0,
        Profile::FiveGMmwaveWalking => 50.0,
        _ => 15.0,
    });
    f64::from(case.seconds) * rate
}

fn run(case: &TraceCase) -> Result<TraceRun, CaseError> {
    let profile = LINKS.iter().find(|(link, ..)| *link == case.link);
    let profile = profile.map_or(Profile::LteDrivingFast, |(_, profile, _)| *profile);
    let duration = Duration::from_secs(case.seconds.into());
    case.run(generate(profile, case.seed, duration.into()), false)
}

fn report(_scale: Scale, runs: &TraceRuns<'_>, section: Section) -> Section {
    let of = |name: &str, link: &str| {
        let runs = runs.under(name).on(link);
        geometric_mean(runs.each(power))
    };
    let mean = |name: &str| {
        let each = LINKS.map(|(link, ..)| of(name, link));
        geometric_mean(each.into_iter().filter(|power| power.is_finite()))
    };
    let names = || [OMNISCIENT].into_iter().chain(names());
    let powers = Table::crossed(
        "Power on each link (geometric means over the seeds), and over all of them",
        "controller",
        names().map(|name| (code(name), name)),
        &[&LINKS.map(|(link, ..)| link)[..], &["all"]].concat(),
        |name, link| match link {
            "all" => number(mean(name)),
            link => number(of(name, link)),
        },
    );
    let mut section = section.table(powers);
    for (link, ..) in LINKS {
        let summaries = runs.on(link);
        section = section.table(summaries.summaries(format!("{link}: means over the seeds")));
    }
    section
}

/// Every controller that runs on quinn.
fn names() -> impl Iterator<Item = &'static str> {
    let names = controllers::names().into_iter();
    names.filter(|name| controllers::resolve(name, 0).is_ok())
}

/// The links, and how long a run lasts in seconds.
const LINKS: [(&str, Profile, u32); 7] = [
    ("lte-town", Profile::LteDrivingSlow, 120),
    ("lte-fast", Profile::LteDrivingFast, 120),
    ("lte-walking", Profile::LteWalking, 120),
    ("3g", Profile::ThreeG, 120),
    ("wifi", Profile::WifiBusy, 60),
    ("5g", Profile::FiveGMmwaveWalking, 30),
    ("wigig", Profile::WigigBlockage, 20),
];

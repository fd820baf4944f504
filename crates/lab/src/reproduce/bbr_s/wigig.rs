//! A3: one flow on WiGig, which people walk through.

use std::time::Duration;

use kneepoint_emulator::generate::{Profile, generate};
use kneepoint_emulator::trace::Trace;

use crate::reproduce::report::{Section, Verdict, percent};
use crate::reproduce::summary::Seeds;
use crate::reproduce::trace_runs::{OMNISCIENT, Runs, TraceCase, TraceRun, change};
use crate::reproduce::{About, CaseError, Paper, Scale, Study};

/// Figures 8 to 10.
pub(in crate::reproduce) struct Wigig;

impl Study for Wigig {
    type Case = TraceCase;
    type Result = TraceRun;

    fn about(&self) -> About {
        About {
            id: "A3",
            paper: Paper::BbrS,
            title: "One flow on WiGig, with the line of sight lost after 70 s",
            figure: "figures 8 to 10",
            setup: "One bulk flow over a generated WiGig trace: 155 Mb/s, blocked for 300 ms 40 times a minute; from 70 s to \
                    90 s every fifth opportunity only, as without line of sight. 40 ms, 3 MB of queue, measured from 10 s on. \
                    The paper does not give its trace or its queue.",
            claim: "BBR-S has 10 % less goodput than the others (Vegas 20 %), a mean RTT just above the minimum, and 100 ms at the \
                    99th percentile against 250 ms of BBR, BBRx and Vegas; Cubic more than 1 s.",
        }
    }

    fn cases(&self, scale: Scale) -> Vec<TraceCase> {
        let mut cases = Vec::new();
        for controller in CONTROLLERS {
            cases.extend(scale.seeds().map(|seed| TraceCase {
                link: LINK,
                controller,
                seed,
                seconds: scale.pick(40, 110),
                from: scale.pick(5, 10),
            }));
        }
        cases
    }

    fn weight(&self, case: &TraceCase) -> f64 {
        f64::from(case.seconds) * 100.0
    }

    fn run(&self, case: &TraceCase) -> Result<TraceRun, CaseError> {
        // A quick run is too short for the paper's time.
        let lost_at = if case.seconds < 100 { 20 } else { 70 };
        let trace = trace(case.seed, case.seconds, lost_at);
        case.run(trace, case.seed == 1 && DRAWN.contains(&case.controller))
    }

    fn report(&self, _scale: Scale, results: &[(TraceCase, TraceRun)]) -> Section {
        let runs = Runs::on(LINK, results);
        let p99 = runs.ratio("bbr-s", "bbr", |run| run.rtt.p99);
        let goodput = |name| runs.ratio(name, "bbr", |run| run.goodput_mbps);
        let (ours, vegas) = (goodput("bbr-s"), goodput("vegas"));
        let mean = Seeds::of(runs.of("bbr-s", |run| run.rtt.mean));
        let cubic = Seeds::of(runs.of("quinn-cubic", |run| run.rtt.p99));
        let section = Section::new(Study::about(self))
            .verdict(Verdict::new(
                "99th percentile of the RTT against `bbr`",
                "100 ms against 250 ms: -60 %",
                change(p99),
                (p99 <= 0.5, p99 < 0.85),
                "",
            ))
            .verdict(Verdict::new(
                "mean RTT of `bbr-s`",
                "just above the minimum (40 ms here)",
                mean.text(|ms| format!("{ms:.0} ms")),
                (mean.mean < 60.0, mean.mean < 80.0),
                "",
            ))
            .verdict(Verdict::new(
                "goodput of `bbr-s` against `bbr`",
                "90 %",
                percent(ours),
                (ours >= 0.9, ours >= 0.8),
                "",
            ))
            .verdict(Verdict::new(
                "goodput of `vegas` against `bbr`",
                "80 %",
                percent(vegas),
                (vegas >= 0.7, false),
                "Vegas takes the link's lumps and blockages for its own queue. Its round trips are rarely as short as the shortest, \
                 so that with ten packets in flight it believes that most of them wait. The paper's trace is not known; its Vegas \
                 took 40 s to fill the link.",
            ))
            .verdict(Verdict::new(
                "99th percentile of the RTT of CUBIC (quinn's)",
                "over 1 s",
                cubic.text(|ms| format!("{ms:.0} ms")),
                (cubic.mean > 1000.0, cubic.mean > 500.0),
                "",
            ))
            .table(runs.table("WiGig with blockages: means over the seeds"));
        runs.charts(section, "WiGig, seed 1")
    }
}

/// 155 Mb/s with blockages; a fifth of it for [`NO_SIGHT`] from `lost_at` on.
fn trace(seed: u64, seconds: u32, lost_at: u64) -> Trace {
    let duration = Duration::from_secs(seconds.into());
    let whole = generate(Profile::WigigBlockage, seed, duration.into());
    let (start, end) = (lost_at * 1000, (lost_at + NO_SIGHT) * 1000);
    let millis = whole.millis().iter().enumerate();
    let millis = millis
        .filter(|(index, millis)| !(start..end).contains(*millis) || index % SHARE == 0)
        .map(|(_, millis)| *millis)
        .collect();
    // A part of a trace in the same order is a trace.
    Trace::from_millis(millis, LINK).unwrap_or(whole)
}

const LINK: &str = "wigig";

/// How long there is no line of sight, in seconds.
const NO_SIGHT: u64 = 20;

/// One in so many opportunities is left then.
const SHARE: usize = 5;

/// Without quinn's BBR: at this rate it drops millions of packets, which take longer than all the rest.
const CONTROLLERS: [&str; 9] = [
    OMNISCIENT,
    "bbr",
    "bbr-x",
    "bbr-s",
    "bbr-s:paper",
    "vegas",
    "cubic",
    "quinn-cubic",
    "quinn-new-reno",
];

/// Those whose course is drawn.
const DRAWN: [&str; 5] = [OMNISCIENT, "bbr", "bbr-x", "vegas", "bbr-s"];

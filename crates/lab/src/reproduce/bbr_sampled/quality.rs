//! D1, D2, D3 and D5: what a viewer sees, by the buffer's size.

use super::video::{Shown, VideoCase, VideoRuns, bytes};
use crate::plots::{Chart, Mark};
use crate::reproduce::report::{Section, Verdict, code, near, number, number_alone, percent};
use crate::reproduce::summary::known;
use crate::reproduce::{About, Paper, Reproduction, Scale};

/// Figures 4, 5, 8, 9 and 16, tables 1 and 2.
pub(in crate::reproduce) static QUALITY: Reproduction<VideoCase, Shown> = Reproduction {
    about: About {
        id: "D1",
        paper: Paper::BbrSampled,
        title: "Adaptive video by the size of the buffer (with D2, D3 and D5)",
        figure: "figures 4, 5, 8, 9 and 16, tables 1 and 2",
        setup: "A token bucket of 25 Mb/s with bursts of 1 MB in front of a line of 1 Gb/s, 100 ms; 127 segments of 5 s in \
                levels from 1 to 25 Mb/s; a player with DYNAMIC, one request after the other over one QUIC connection.",
        claim: "With buffers up to 1 MB the quality is about 10 and nothing stalls. With 10 MB, BBR's quality falls under 5 and \
                the film stalls (0.14 of its length over HTTP/1.1, 0.75 over HTTP/2); the median RTT is seven times the path's, \
                the median estimate three times the link. With the sampled filters the quality is about 10 again.",
    },
    cases,
    weight: VideoCase::weight,
    run: VideoCase::show,
    report,
};

fn cases(scale: Scale) -> Vec<VideoCase> {
    let segments = scale.pick(25, 127);
    let mut cases = Vec::new();
    for &controller in scale.pick(&["bbr", "bbr-sampled:paper"][..], &CONTROLLERS[..]) {
        let buffers = scale.pick(&[10_000][..], &BUFFERS[..]).iter();
        cases.extend(buffers.map(|&buffer_kb| VideoCase {
            buffer_kb,
            ..VideoCase::new(controller, segments)
        }));
    }
    cases.push(VideoCase {
        connections: HTTP_1_CONNECTIONS,
        ..VideoCase::new("bbr", segments)
    });
    cases
}

fn report(_scale: Scale, runs: &VideoRuns<'_>, section: Section) -> Section {
    let state = |shown: &Shown, place: usize| known(shown.states.map(|states| states[place]));
    let table = runs
        .table("One film each", VideoCase::clone)
        .name("controller", |case| match case.connections {
            1 => code(case.controller),
            many => format!("`{}`, {many} connections", case.controller),
        })
        .name("buffer", |case| bytes(case.buffer_kb))
        .numbers("quality", |shown| known(shown.quality))
        .numbers("stall rate", |shown| known(shown.stall_rate))
        .numbers("median RTT, ms", |shown| known(shown.rtt_median_ms))
        .numbers("estimate, Mb/s: mean", |shown| {
            known(shown.estimate_mean_mbps)
        })
        .numbers("median", |shown| known(shown.estimate_median_mbps))
        .percents("STARTUP", |shown| state(shown, 0))
        .percents("PROBE_BW", |shown| state(shown, 2))
        .percents("DRAIN", |shown| state(shown, 1))
        .percents("PROBE_RTT", |shown| state(shown, 3))
        .cells("drops", |runs| {
            runs.first().map_or(0, |shown| shown.drops).to_string()
        });
    let deep = |controller: &str, figure: fn(&Shown) -> Option<f64>| {
        let runs = runs.only(|case| case.controller == controller && is_deep(case));
        known(runs.first().and_then(figure))
    };
    let quality = deep("bbr", |shown| shown.quality);
    let repaired = deep("bbr-sampled:paper", |shown| shown.quality);
    let stalls = deep("bbr-sampled:paper", |shown| shown.stall_rate);
    let rtt = deep("bbr", |shown| shown.rtt_median_ms) / 100.0;
    let estimate = deep("bbr", |shown| shown.estimate_median_mbps) / 25.0;
    let sampled = deep("bbr-sampled:paper", |shown| shown.estimate_median_mbps) / 25.0;
    let sampled_rtt = deep("bbr-sampled:paper", |shown| shown.rtt_median_ms) / 100.0;
    let startup = deep("bbr", |shown| shown.states.map(|states| states[0]));
    let many = runs.only(|case| case.connections > 1);
    let startup_of_many = many.first().map_or(f64::NAN, |shown| state(shown, 0));
    let drawn = |case: &VideoCase| is_deep(case) && DRAWN.contains(&case.controller);
    let mut flight = Chart::over_time("10 MB of buffer: in flight from the 60th second on", "MB");
    for (case, shown) in runs.only(drawn).iter() {
        flight = flight.series(case.controller, Mark::Line, shown.in_flight.clone());
    }
    section
        .verdict(Verdict::new(
            "D2: median RTT of `bbr` with 10 MB of buffer, against the path's",
            "7 times",
            format!("{} times", number(rtt)),
            number_alone(rtt, 7.0),
            "",
        ))
        .verdict(Verdict::new(
            "D2: its median estimate, against the link's rate",
            "about 3 times",
            format!("{} times", number(estimate)),
            number_alone(estimate, 3.0),
            "",
        ))
        .verdict(Verdict::new(
            "D5: the same of `bbr-sampled:paper`: estimate and RTT",
            "no overestimate, no queue",
            format!("{} times, {} times", number(sampled), number(sampled_rtt)),
            (
                near(sampled, 1.0) && near(sampled_rtt, 1.0),
                sampled < estimate && sampled_rtt < rtt,
            ),
            "",
        ))
        .verdict(Verdict::new(
            "D1: quality of `bbr` with 10 MB of buffer",
            "under 5, with stalls",
            number(quality),
            (quality < 5.0, quality < repaired),
            COLLAPSE,
        ))
        .verdict(Verdict::new(
            "D5: quality and stall rate of `bbr-sampled:paper` with 10 MB of buffer",
            "about 10, no stalls",
            format!("{}, {}", number(repaired), number(stalls)),
            (near(repaired, 10.0) && stalls < 0.01, repaired >= quality),
            "As high as with any buffer: the note has the level that the link supports. A short film has its low first levels in \
             the mean.",
        ))
        .verdict(Verdict::new(
            "D3: `bbr`'s share of time in STARTUP with 10 MB of buffer",
            "0.23 % in shallow buffers, 5.3 % in deep ones",
            percent(startup),
            number_alone(startup, 0.053),
            "Startup is over after the first segment here, and nothing of ours goes back to it.",
        ))
        .verdict(Verdict::new(
            "D3: the same over HTTP/1.1, which is to say six connections in turn",
            "even more",
            percent(startup_of_many),
            (startup_of_many > startup, false),
            "See the table.",
        ))
        .table(table)
        .chart(flight)
        .chart(runs.throughputs(|case| drawn(case).then_some(case.controller)))
        .note(COLLAPSE)
        .note(
            "A step up has to fit into 0.9 of the throughput that the player has measured, so that level 9 of 10 is what a link of \
             25 Mb/s supports: a quality of 8.8 is all of it.",
        )
}

/// Whether it is fetched over one connection with the deep buffer.
fn is_deep(case: &VideoCase) -> bool {
    (case.buffer_kb, case.connections) == (10_000, 1)
}

/// Why the quality does not collapse here.
const COLLAPSE: &str = "The estimate and the queue are the paper's; what they do to the viewer is not. The player asks for a segment when the last byte of \
     the one before has arrived. The queue, of nearly a second, is empty by then, as the flight shows, and every request is answered \
     within an empty round trip. The queue delays the segment that it consists of and nothing else, and the link is busy \
     meanwhile: each segment comes at the link's rate. A quality under 4 with stalls of 0.14 or 0.75 of the film means that \
     a link of 25 Mb/s delivers 8 or 5 Mb/s. Overestimates alone cannot do that to a link that always has something to send; \
     something must keep it idle, or busy with what is thrown away. Six connections in turn, as over HTTP/1.1, which the article \
     names, keep BBR in STARTUP for longer, as it says, and change nothing else. What it does not describe are requests that the player abandons, whose rest a server's \
     socket still sends, and the limits of the emulating router's queues.";

/// As many as browsers open to a server over HTTP/1.1.
const HTTP_1_CONNECTIONS: usize = 6;

/// Those whose course is drawn.
const DRAWN: [&str; 2] = ["bbr", "bbr-sampled:paper"];

const CONTROLLERS: [&str; 7] = [
    "quinn-cubic",
    "cubic",
    "bbr",
    "bbr2:paper",
    "knee",
    "bbr-sampled:paper",
    "bbr2-sampled:paper",
];
const BUFFERS: [u64; 4] = [10, 100, 1000, 10_000];

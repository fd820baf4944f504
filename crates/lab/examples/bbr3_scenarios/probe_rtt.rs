//! Scenarios 10, 11 and 20: ProbeRTT.

use std::time::Duration;

use kneepoint_controllers::Mode;
use kneepoint_emulator::link::{Delay, DelayStep, LinkConfig};

use super::Outcome;
use super::setup::{RATE, RTT, believed_bdp, greedy, link, mode, perform, seconds};
use kneepoint_lab::run::RunError;
use kneepoint_lab::workload::Load;

pub(crate) fn in_and_out() -> Result<Outcome, RunError> {
    let series = greedy(link(), 16_000)?;
    let entry = series.entry(Mode::ProbeRtt, Duration::ZERO);
    let from = entry.unwrap_or_default();
    let exit = series.next_mode(from);
    let to = exit.map_or(from, |(at, _)| at);
    let sample = Duration::from_millis(2);
    let before = series.at(from - sample.min(from)).copied();
    let half = before.map_or(0, |snapshot| believed_bdp(&snapshot).0 / 2);
    let window = before.map_or(0, |snapshot| snapshot.congestion_window.0);
    let windows = series
        .between(from, to)
        .iter()
        .map(|sample| sample.snapshot.congestion_window.0);
    let (min, max) = (
        windows.clone().min().unwrap_or(0),
        windows.max().unwrap_or(0),
    );
    let after = series
        .at(to + sample)
        .map_or(0, |snapshot| snapshot.congestion_window.0);
    let silence = to.saturating_sub(from);
    Ok(Outcome {
        number: 10,
        name: "Into ProbeRTT and out of it",
        setup: "`bbr3:paper` on quinn, 10 Mb/s, 40 ms; without pacing the window of 2 BDP keeps a queue",
        expected: "after 10 s: window of 0.5 BDP of before, constant; after 200 ms and a round, Cruise with the old window",
        measured: format!(
            "ProbeRTT at {} for {:.0} ms, window {min} to {max} B of half a BDP of {half} B; {} with {after} B after {window} B",
            seconds(entry),
            silence.as_secs_f64() * 1e3,
            mode(exit)
        ),
        pass: entry.is_some()
            && min == max
            && min.abs_diff(half) <= half / 50
            && silence >= Duration::from_millis(240)
            && silence < Duration::from_millis(500)
            && exit.is_some_and(|(_, mode)| mode == Mode::ProbeCruise)
            && after.abs_diff(window) <= window / 50,
    })
}

pub(crate) fn not_after_silence() -> Result<Outcome, RunError> {
    let (pause, resume) = (Duration::from_secs(3), Duration::from_secs(15));
    let delay = |millis| Duration::from_millis(millis).into();
    let link = LinkConfig {
        delay: Delay::Steps {
            steps: vec![
                DelayStep {
                    from: Duration::ZERO.into(),
                    delay: delay(20),
                },
                DelayStep {
                    from: Duration::from_secs(8).into(),
                    delay: delay(30),
                },
            ],
            reordering: false,
        },
        ..link()
    };
    let application = vec![
        Load::Greedy.until(pause),
        Load::Silent.until(resume),
        Load::Greedy.until(Duration::from_secs(18)),
    ];
    let series = perform(link, application)?;
    let silences = series.entry(Mode::ProbeRtt, pause);
    let rtt = |at| series.at(at).and_then(|snapshot| snapshot.min_rtt);
    let (before, after) = (rtt(resume), rtt(resume + 2 * RTT));
    let millis = |rtt: Option<Duration>| rtt.unwrap_or_default().as_secs_f64() * 1e3;
    Ok(Outcome {
        number: 11,
        name: "No ProbeRTT after silence",
        setup: "`bbr3:paper` on quinn; silence from 3 to 15 s, in which the path becomes 10 ms longer",
        expected: "no ProbeRTT; the first sample replaces the minimum RTT",
        measured: format!(
            "ProbeRTT {}; minimum RTT {:.1} ms before, {:.1} ms two round trips after",
            seconds(silences),
            millis(before),
            millis(after)
        ),
        pass: silences.is_none() && millis(before) < 42.0 && (50.0..53.0).contains(&millis(after)),
    })
}

pub(crate) fn in_startup() -> Result<Outcome, RunError> {
    // A path that grows by a microsecond every 10 ms: no round trip is as short as one before.
    let steps = (0..1500)
        .map(|step| DelayStep {
            from: Duration::from_millis(10 * step).into(),
            delay: (RTT / 2 + Duration::from_micros(step)).into(),
        })
        .collect();
    let link = LinkConfig {
        delay: Delay::Steps {
            steps,
            reordering: false,
        },
        ..link()
    };
    let end = Duration::from_secs(15);
    let series = perform(link, vec![Load::Steady(RATE / 10).until(end)])?;
    let modes: Vec<Mode> = series.modes().iter().map(|change| change.1).collect();
    let entry = series.entry(Mode::ProbeRtt, Duration::ZERO);
    Ok(Outcome {
        number: 20,
        name: "ProbeRTT in Startup",
        setup: "`bbr3:paper` on quinn, an application of 1 Mb/s on 10 Mb/s from the start, a path that grows by 0.1 ms per second",
        expected: "ProbeRTT when the minimum RTT expires, then back to Startup",
        measured: format!("ProbeRTT at {}; {modes:?}", seconds(entry)),
        pass: modes == [Mode::Startup, Mode::ProbeRtt, Mode::Startup],
    })
}

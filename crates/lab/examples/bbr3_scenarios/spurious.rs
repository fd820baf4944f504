//! Scenarios 18 and 19: losses that were none.

use std::time::Duration;

use kneepoint_controllers::Mode;
use kneepoint_emulator::link::{Delay, DelayStep, LinkConfig};

use super::setup::{RTT, link, seconds};
use super::{Outcome, host};
use kneepoint_lab::run::RunError;
use kneepoint_lab::watch::TimeSeries;

/// A run in which packets that leave the link in the second round of Up, for `span`, arrive later by `later`.
fn late(span: Duration, later: Duration, reordering: bool) -> (TimeSeries, Duration) {
    let plain = host::run(link(), 6000);
    let up = plain
        .entry(Mode::ProbeUp, Duration::ZERO)
        .unwrap_or_default();
    let from = up + RTT;
    let step = |from: Duration, delay: Duration| DelayStep {
        from: from.into(),
        delay: delay.into(),
    };
    let link = LinkConfig {
        delay: Delay::Steps {
            steps: vec![
                step(Duration::ZERO, RTT / 2),
                step(from, RTT / 2 + later),
                step(from + span, RTT / 2),
            ],
            reordering,
        },
        ..link()
    };
    (host::run(link, 8000), from)
}

/// The flow's modes after `from`, and whether it has returned to its earlier state.
fn judge(series: &TimeSeries, from: Duration) -> (String, bool) {
    let modes: Vec<_> = series
        .modes()
        .into_iter()
        .filter(|&(at, _)| at > from)
        .take(4)
        .collect();
    let names: Vec<Mode> = modes.iter().map(|&(_, mode)| mode).collect();
    let refill = series.entry(Mode::ProbeRefill, from);
    let state = |at| {
        series
            .at(at)
            .map(|snapshot| (snapshot.bandwidth, snapshot.congestion_window.0))
    };
    // The Refill before it: Up's window is larger than any other phase's.
    let before = state(from - 2 * RTT);
    let after = refill.and_then(state);
    let restored = before
        .zip(after)
        .is_some_and(|((rate, window), (rate_after, window_after))| {
            let kept = rate
                .zip(rate_after)
                .is_some_and(|(rate, after)| after.as_f64() >= 0.99 * rate.as_f64());
            kept && window_after as f64 >= 0.98 * window as f64
        });
    let text = format!(
        "{names:?}; Refill {} after the losses began, estimate and window {}",
        seconds(refill.map(|at| at - from)),
        if restored { "restored" } else { "not restored" }
    );
    let by_way_of_refill = names.starts_with(&[Mode::ProbeDown, Mode::ProbeRefill, Mode::ProbeUp])
        || names.starts_with(&[
            Mode::ProbeDown,
            Mode::ProbeCruise,
            Mode::ProbeRefill,
            Mode::ProbeUp,
        ]);
    let soon = refill.is_some_and(|at| at - from < Duration::from_secs(1));
    (text, restored && by_way_of_refill && soon)
}

pub(crate) fn fast_recovery() -> Result<Outcome, RunError> {
    let (series, from) = late(Duration::from_millis(4), Duration::from_millis(10), true);
    let (measured, pass) = judge(&series, from);
    Ok(Outcome {
        number: 18,
        name: "Spurious fast recovery",
        setup: "`bbr3:paper` on the testkit's sender, which reports spurious losses; in Up, 4 ms of packets come 10 ms late",
        expected: "the losses end Up; the notice restores estimate, bounds and window, and leads back to Up by way of Refill",
        measured,
        pass,
    })
}

pub(crate) fn timeout() -> Result<Outcome, RunError> {
    let (series, from) = late(
        Duration::from_millis(300),
        Duration::from_millis(500),
        false,
    );
    let (measured, pass) = judge(&series, from);
    Ok(Outcome {
        number: 19,
        name: "Spurious timeout",
        setup: "`bbr3:paper` on the testkit's sender, which reports spurious losses; in Up, everything comes 500 ms late, after the timeout",
        expected: "the same after a timeout",
        measured,
        pass,
    })
}

//! Scenarios 12 and 13: acknowledgements and data in lumps.

use std::time::Duration;

use kneepoint_controllers::Mode;
use kneepoint_emulator::link::{Aggregation, LinkConfig, RateStep, Shaper};

use super::Outcome;
use super::setup::{BDP, RATE, believed_bdp, error, greedy, link, over, return_link, seconds};
use kneepoint_lab::run::RunError;
use kneepoint_lab::watch::TimeSeries;
use kneepoint_lab::workload::Load;

/// The share of the plain path's rate that left the link.
fn utilization(series: &TimeSeries, from: Duration, to: Duration) -> f64 {
    series.rate(from, to).as_f64() / RATE as f64
}

/// The window at `at`, as a multiple of the believed bandwidth-delay product.
fn window(series: &TimeSeries, at: Duration) -> f64 {
    series.at(at).map_or(0.0, |snapshot| {
        snapshot.congestion_window.0 as f64 / believed_bdp(snapshot).0.max(1) as f64
    })
}

pub(crate) fn from_the_start() -> Result<Outcome, RunError> {
    let link = LinkConfig {
        aggregation: Some(Aggregation {
            interval: Duration::from_millis(20).into(),
            packets: None,
        }),
        ..link()
    };
    let series = greedy(link, 6000)?;
    let second = Duration::from_secs(1);
    let drain = series.entry(Mode::Drain, Duration::ZERO);
    let used = utilization(&series, 2 * second, 6 * second);
    let window = window(&series, drain.unwrap_or_default() + second / 2);
    let error = series
        .at(6 * second)
        .map_or(1.0, |snapshot| error(snapshot.bandwidth, RATE));
    Ok(Outcome {
        number: 12,
        name: "Startup with aggregation",
        setup: "`bbr3:paper` on quinn, 10 Mb/s, 40 ms; data arrives in lumps, every 20 ms",
        expected: "Startup finds the full bandwidth; window above 2 BDP; no sample beyond the sending rate inflates the estimate",
        measured: format!(
            "Drain at {}; window {window:.2} BDP; link used to {:.1} %; estimate off by {:.1} %",
            seconds(drain),
            100.0 * used,
            100.0 * error
        ),
        pass: drain.is_some_and(|at| at < second) && window > 2.05 && used > 0.98 && error < 0.1,
    })
}

pub(crate) fn from_cruise_on() -> Result<Outcome, RunError> {
    let plain = greedy(link(), 8000)?;
    // Some rounds into the Cruise that follows Drain.
    let cruise = plain.entry(Mode::ProbeCruise, Duration::ZERO);
    let begin = cruise.unwrap_or_default() + Duration::from_millis(500);
    let step = |from: Duration, bytes_per_second| RateStep {
        from: from.into(),
        bytes_per_second,
    };
    let mut steps = vec![step(Duration::ZERO, FAST)];
    for lump in 0..100 {
        let shut = begin + lump * LUMP;
        steps.push(step(shut, 0));
        steps.push(step(shut + LUMP - OPEN, FAST));
    }
    let reverse = LinkConfig {
        shaper: Shaper::Schedule(steps),
        ..return_link()
    };
    let end = Duration::from_secs(8);
    let series = over(link(), reverse, vec![Load::Greedy.until(end)])?;
    let (from, to) = (begin + Duration::from_millis(500), begin + 100 * LUMP);
    let used = utilization(&series, from, to.min(Duration::from_secs(8)));
    let before = series
        .at(begin)
        .map_or(0, |snapshot| snapshot.congestion_window.0);
    let after = series
        .at(from)
        .map_or(0, |snapshot| snapshot.congestion_window.0);
    let grown = after.saturating_sub(before) as f64 / BDP as f64;
    Ok(Outcome {
        number: 13,
        name: "Cruise with aggregation",
        setup: "`bbr3:paper` on quinn; in Cruise acknowledgements begin to come in lumps, every 30 ms",
        expected: "the window grows by what the lumps hold; the link stays full",
        measured: format!(
            "lumps from {:.2} s on; window grown by {grown:.2} BDP half a second later; link used to {:.1} %",
            begin.as_secs_f64(),
            100.0 * used
        ),
        pass: grown > 0.3 && used > 0.98,
    })
}

/// From one lump of acknowledgements to the next, and how long the way back is open for it.
const LUMP: Duration = Duration::from_millis(30);
const OPEN: Duration = Duration::from_millis(2);

/// 1 Gb/s.
const FAST: u64 = 125_000_000;

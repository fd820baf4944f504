//! Scenarios 14 to 17: small paths, changing rates, and a policer.

use std::time::Duration;

use kneepoint_controllers::Mode;
use kneepoint_emulator::link::{LinkConfig, Policer, Shaper};

use super::Outcome;
use super::setup::{RATE, error, greedy, link, mode, over, return_link, rounds, seconds, step};
use kneepoint_lab::run::RunError;
use kneepoint_lab::watch::TimeSeries;
use kneepoint_lab::workload::Load;

/// When the estimate first was within 5 % of `rate`, after `from`.
fn found(series: &TimeSeries, rate: u64, from: Duration) -> Option<Duration> {
    series
        .samples
        .iter()
        .find(|sample| sample.at > from && error(sample.snapshot.bandwidth, rate) < 0.05)
        .map(|sample| sample.at)
}

pub(crate) fn below_a_packet() -> Result<Outcome, RunError> {
    const SLOW: u64 = 8000;
    let half = Duration::from_micros(500);
    let link = LinkConfig {
        shaper: Shaper::ConstantRate {
            bytes_per_second: SLOW,
        },
        delay: half.into(),
        ..link()
    };
    let reverse = LinkConfig {
        delay: half.into(),
        ..return_link()
    };
    let (from, to) = (Duration::from_secs(20), Duration::from_secs(60));
    let series = over(link, reverse, vec![Load::Greedy.until(to)])?;
    let used = series.rate(from, to).as_f64() / SLOW as f64;
    let late = series.between(from, to);
    let min = late
        .iter()
        .map(|sample| sample.snapshot.congestion_window.0)
        .min();
    let worst = series
        .at(to)
        .map_or(1.0, |snapshot| error(snapshot.bandwidth, SLOW));
    Ok(Outcome {
        number: 14,
        name: "BDP below a packet",
        setup: "`bbr3:paper` on quinn, 64 kb/s, 1 ms, greedy, 60 s",
        expected: "window never below 4 packets; the rate matches the link; no stalls",
        measured: format!(
            "window {} B at least; estimate off by {:.1} %; link used to {:.1} %",
            min.unwrap_or(0),
            100.0 * worst,
            100.0 * used
        ),
        pass: min.is_some_and(|min| min >= 4 * 1200) && worst < 0.1 && used > 0.95,
    })
}

pub(crate) fn ten_times_faster() -> Result<Outcome, RunError> {
    let change = Duration::from_secs(4);
    let link = LinkConfig {
        shaper: step(RATE, change, 10 * RATE),
        ..link()
    };
    let series = greedy(link, 12_000)?;
    let found = found(&series, 10 * RATE, change);
    let rounds = found.map(|found| rounds(&series, change, found));
    let phase = found.and_then(|found| Some((found, series.at(found)?.mode)));
    Ok(Outcome {
        number: 15,
        name: "Bandwidth x 10",
        setup: "`bbr3:paper` on quinn, 10 Mb/s, from 4 s on 100 Mb/s, 40 ms",
        expected: "full bandwidth within O(log BDP) rounds: 18 at most, twice the doublings of 344 packets",
        measured: format!(
            "estimate within 5 % of 100 Mb/s {} after the change, {} rounds, in {}",
            seconds(found.map(|found| found - change)),
            rounds.unwrap_or_default(),
            mode(phase)
        ),
        pass: rounds.is_some_and(|rounds| rounds <= 18),
    })
}

pub(crate) fn ten_times_slower() -> Result<Outcome, RunError> {
    let change = Duration::from_secs(4);
    let link = LinkConfig {
        shaper: step(10 * RATE, change, RATE),
        ..link()
    };
    let series = greedy(link, 18_000)?;
    let refill = series.entry(Mode::ProbeRefill, change).unwrap_or(change);
    let bound = series
        .between(change, refill)
        .iter()
        .filter_map(|sample| sample.snapshot.bandwidth)
        .map(|bandwidth| bandwidth.as_f64() / RATE as f64)
        .fold(10.0, f64::min);
    // A probe lifts the short-term bound, so that the maximum itself shows in the Up that follows the end of two cycles.
    let mut settled = Some(change);
    for entered in [Mode::ProbeDown, Mode::ProbeDown, Mode::ProbeUp] {
        let next = |at| series.entry(entered, at + Duration::from_millis(1));
        settled = settled.and_then(next);
    }
    let after = settled
        .and_then(|at| series.at(at))
        .and_then(|snapshot| snapshot.bandwidth);
    let off = error(after, RATE);
    Ok(Outcome {
        number: 16,
        name: "Bandwidth / 10",
        setup: "`bbr3:paper` on quinn, 100 Mb/s, from 4 s on 10 Mb/s, 40 ms, 500 kB of queue",
        expected: "the short-term bound comes down by 0.7 in each round with losses; after two cycles the maximum is the new rate",
        measured: format!(
            "{:.0} Mb/s by the first Refill, {}; off by {:.1} % in the Up after two cycles, {} after the change",
            10.0 * bound,
            seconds(Some(refill - change)),
            100.0 * off,
            seconds(settled.map(|at| at - change))
        ),
        pass: bound <= 5.0 && off < 0.05,
    })
}

pub(crate) fn policed() -> Result<Outcome, RunError> {
    let link = LinkConfig {
        shaper: Shaper::ConstantRate {
            bytes_per_second: 10 * RATE,
        },
        policer: Some(Policer {
            bytes_per_second: RATE,
            burst: 100_000,
        }),
        ..link()
    };
    let series = greedy(link, 30_000)?;
    let (from, to) = (Duration::from_secs(15), Duration::from_secs(30));
    let used = series.rate(from, to).as_f64() / RATE as f64;
    let (arrived, lost) = series.dropped(from, to);
    let share = lost as f64 / arrived.max(1) as f64;
    let mean = {
        let late = series.between(from, to);
        let rates = late.iter().filter_map(|sample| sample.snapshot.bandwidth);
        rates.map(|rate| rate.as_f64()).sum::<f64>() / late.len().max(1) as f64
    };
    Ok(Outcome {
        number: 17,
        name: "Token-bucket policer",
        setup: "`bbr3:paper` on quinn, 100 Mb/s with a policer of 10 Mb/s and 100 kB, 40 ms; the last 15 of 30 s",
        expected: "the short-term bounds come down to a stable point at the token rate, without continuous heavy loss (under 5 %)",
        measured: format!(
            "policer used to {:.1} %; {:.1} % lost; estimate {:.1} Mb/s on average",
            100.0 * used,
            100.0 * share,
            mean / 125_000.0
        ),
        pass: used > 0.85 && share < 0.05 && mean < 1.25 * RATE as f64,
    })
}

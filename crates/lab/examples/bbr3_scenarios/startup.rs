//! Scenarios 1, 2 and 7: what ends Startup, and what does not.

use std::time::Duration;

use kneepoint_controllers::Mode;
use kneepoint_emulator::link::{LinkConfig, Loss};

use super::Outcome;
use super::setup::{RATE, error, greedy, link, mode, perform, rounds, seconds};
use kneepoint_lab::run::RunError;
use kneepoint_lab::watch::TimeSeries;
use kneepoint_lab::workload::Load;

pub(crate) fn ends_on_a_plateau() -> Result<Outcome, RunError> {
    let series = greedy(link(), 3000)?;
    let drain = series.entry(Mode::Drain, Duration::ZERO);
    let before = drain.unwrap_or_default();
    let estimate = series.at(before).and_then(|snapshot| snapshot.bandwidth);
    let error = error(estimate, RATE);
    let still = rounds_without_growth(&series, before);
    Ok(Outcome {
        number: 1,
        name: "Startup ends on a plateau",
        setup: "`bbr3:paper` on quinn, 10 Mb/s, 40 ms, 10 BDP of queue, greedy",
        expected: "the third round in a row under 25 % growth ends Startup, with the estimate within 2 % of the link",
        measured: format!(
            "Drain at {} after {still} rounds without growth, estimate off by {:.1} %",
            seconds(drain),
            100.0 * error
        ),
        pass: drain.is_some() && still == 3 && error <= 0.02,
    })
}

/// Rounds until `end` since the estimate last grew by a quarter of what it was.
fn rounds_without_growth(series: &TimeSeries, end: Duration) -> u64 {
    let (mut baseline, mut grew, mut round) = (0.0, 0, 0);
    for sample in series.between(Duration::ZERO, end) {
        let snapshot = &sample.snapshot;
        round = snapshot.rounds;
        let rate = snapshot.bandwidth.map_or(0.0, |rate| rate.as_f64());
        if rate >= 1.25 * baseline {
            (baseline, grew) = (rate, round);
        }
    }
    // The round that ends Startup has only begun.
    (round + 1).saturating_sub(grew)
}

/// An application of half the link's rate, from the start.
fn slow_application(loss: Loss) -> Result<TimeSeries, RunError> {
    let link = LinkConfig { loss, ..link() };
    let end = Duration::from_secs(6);
    perform(link, vec![Load::Steady(RATE / 2).until(end)])
}

pub(crate) fn ends_on_loss() -> Result<Outcome, RunError> {
    // Every other packet of 20, which leave within one round trip.
    let lost: Vec<u64> = (0..10).map(|range| 2000 + 2 * range).collect();
    let series = slow_application(Loss::Packets(lost))?;
    let from = series
        .link
        .records
        .get(2000)
        .map_or(Duration::ZERO, |record| record.arrival.into());
    let next = series.next_mode(from);
    let rounds = next.map(|(at, _)| rounds(&series, from, at));
    let always_limited = series
        .between(Duration::from_secs(1), from)
        .iter()
        .all(|sample| sample.snapshot.app_limited);
    Ok(Outcome {
        number: 2,
        name: "Startup ends on loss although app-limited",
        setup: "`bbr3:paper` on quinn, an application of 5 Mb/s on 10 Mb/s; 10 of 20 packets in a row are lost, every other one",
        expected: "Startup ends with the round of the losses; Drain, which lasts no time as the flight fits already",
        measured: format!(
            "{} in flight; {} at {}, {} rounds after the first loss",
            if always_limited {
                "never a full window"
            } else {
                "a full window"
            },
            mode(next),
            seconds(next.map(|(at, _)| at)),
            rounds.unwrap_or_default()
        ),
        pass: always_limited && next.is_some() && rounds.is_some_and(|rounds| rounds <= 3),
    })
}

pub(crate) fn stays_while_app_limited() -> Result<Outcome, RunError> {
    let startup = slow_application(Loss::Random(0.0))?;
    let only_startup = startup.modes().len() == 1;
    let (series, up) = super::probe::app_limited_up(Loss::Random(0.0))?;
    let left = up.and_then(|up| series.next_mode(up));
    let end = series.samples.last().map(|sample| sample.at);
    let stayed = left.map(|(at, _)| at).or(end).zip(up);
    let stayed = stayed.map_or(Duration::ZERO, |(to, from)| to - from);
    Ok(Outcome {
        number: 7,
        name: "Neither Startup nor Up ends while app-limited without loss",
        setup: "`bbr3:paper` on quinn; an application of 5 Mb/s on 10 Mb/s from the start, and another from ProbeBW on",
        expected: "both phases last as long as the application limits the sender",
        measured: format!(
            "Startup for all of 6 s: {}; Up for {:.1} s, to the end: {}",
            if only_startup { "yes" } else { "no" },
            stayed.as_secs_f64(),
            if left.is_none() { "yes" } else { "no" },
        ),
        pass: only_startup && left.is_none() && stayed > Duration::from_secs(2),
    })
}

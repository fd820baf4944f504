//! Scenarios 5, 6, 21 and 22: Up and Refill.

use std::time::Duration;

use kneepoint_controllers::Mode;
use kneepoint_emulator::link::{Interval, Limit, LinkConfig, Loss, Queue};

use super::Outcome;
use super::setup::{BDP, RATE, error, greedy, link, mode, perform, rounds, seconds};
use kneepoint_lab::run::RunError;
use kneepoint_lab::watch::TimeSeries;
use kneepoint_lab::workload::Load;

pub(crate) fn up_ends_on_a_plateau() -> Result<Outcome, RunError> {
    let series = greedy(link(), 8000)?;
    let up = series.entry(Mode::ProbeUp, Duration::ZERO);
    let next = up.and_then(|up| series.next_mode(up));
    let rounds = up
        .zip(next)
        .map_or(0, |(up, (end, _))| rounds(&series, up, end));
    let drops = series.link.statistics.queue_full.packets;
    Ok(Outcome {
        number: 5,
        name: "Up ends on a plateau",
        setup: "`bbr3:paper` on quinn, 10 Mb/s, 40 ms, 10 BDP of queue, greedy",
        expected: "Up -> Down after three rounds under 25 % growth, without losses",
        measured: format!(
            "Up at {}, {rounds} rounds until {}, {drops} packets dropped",
            seconds(up),
            mode(next)
        ),
        pass: next.is_some_and(|(_, mode)| mode == Mode::ProbeDown)
            && (3..=4).contains(&rounds)
            && drops == 0,
    })
}

/// A run whose application is greedy for 2 s and then slower than the link, and when it first was in Up since.
pub(crate) fn app_limited_up(loss: Loss) -> Result<(TimeSeries, Option<Duration>), RunError> {
    let greedy_until = Duration::from_secs(2);
    let application = vec![
        Load::Greedy.until(greedy_until),
        Load::Steady(RATE / 2).until(Duration::from_secs(9)),
    ];
    let series = perform(LinkConfig { loss, ..link() }, application)?;
    let up = series.entry(Mode::ProbeUp, greedy_until);
    Ok((series, up))
}

pub(crate) fn up_ends_on_loss() -> Result<Outcome, RunError> {
    let (_, up) = app_limited_up(Loss::Random(0.0))?;
    let from = up.unwrap_or_default() + Duration::from_secs(1);
    let lost = Interval {
        from: from.into(),
        to: (from + Duration::from_millis(8)).into(),
    };
    let (series, _) = app_limited_up(Loss::Intervals(vec![lost]))?;
    let next = series.next_mode(from);
    let limited = series.at(from).is_some_and(|snapshot| snapshot.app_limited);
    let after = next.map(|(at, _)| at.saturating_sub(from));
    let lost = series.link.statistics.lost.packets;
    Ok(Outcome {
        number: 6,
        name: "Up ends on loss although app-limited",
        setup: "`bbr3:paper` on quinn, from 2 s on an application of 5 Mb/s on 10 Mb/s; a second into Up, 8 ms of loss",
        expected: "Up -> Down with the feedback to the losses",
        measured: format!(
            "{lost} packets lost, {} after {}",
            mode(next),
            seconds(after)
        ),
        pass: limited
            && next.is_some_and(|(_, mode)| mode == Mode::ProbeDown)
            && after.is_some_and(|after| after < Duration::from_millis(120)),
    })
}

pub(crate) fn loss_in_up_with_a_bound() -> Result<Outcome, RunError> {
    // Less queue than Up's window needs, so that each probe overflows it.
    let link = LinkConfig {
        queue: Queue::DropTail(Limit::bytes(2 * BDP / 5)),
        ..link()
    };
    let series = greedy(link, 15_000)?;
    // A probe that finds the flight at the bound after one too high ends by precaution: the first that loses is meant.
    let probe = series
        .modes()
        .windows(2)
        .filter(|pair| pair[0].1 == Mode::ProbeUp)
        .map(|pair| (pair[0].0, pair[1], series.dropped(pair[0].0, pair[1].0).1))
        .find(|&(_, _, lost)| lost > 0);
    let down = probe.map(|(_, down, _)| down);
    let (lost, rounds) = probe.map_or((0, 0), |(up, (down, _), lost)| {
        (lost, rounds(&series, up, down))
    });
    // The bound shows in the window of Down, which nothing else holds below two bandwidth-delay products.
    let window = down
        .and_then(|(down, _)| series.at(down))
        .map_or(0, |snapshot| snapshot.congestion_window.0);
    let share = window as f64 / BDP as f64;
    Ok(Outcome {
        number: 21,
        name: "Loss in Up with a long-term bound set",
        setup: "`bbr3:paper` on quinn, 10 Mb/s, 40 ms, 0.4 BDP of queue; bound set by the losses of Startup",
        expected: "-> Down at once, with the bound at the flight that lost 2 %, but no less than 0.7 BDP",
        measured: format!(
            "{lost} packets lost in Up, {} after {rounds} rounds, window {share:.2} BDP",
            mode(down)
        ),
        pass: down.is_some_and(|(_, mode)| mode == Mode::ProbeDown)
            && lost > 0
            && rounds <= 3
            && (0.7..=1.5).contains(&share),
    })
}

pub(crate) fn app_limited_refill() -> Result<Outcome, RunError> {
    let plain = greedy(link(), 8000)?;
    let refill = plain.entry(Mode::ProbeRefill, Duration::ZERO);
    let pause = refill.unwrap_or_default();
    // Long enough for the round of Refill: what was in flight at its beginning takes two round trips to be acknowledged.
    let resume = pause + Duration::from_millis(160);
    let application = vec![
        Load::Greedy.until(pause),
        Load::Steady(RATE / 10).until(resume),
        Load::Greedy.until(Duration::from_secs(8)),
    ];
    let series = perform(link(), application)?;
    let next = series.next_mode(pause);
    let up = next.filter(|&(_, mode)| mode == Mode::ProbeUp);
    let down = up.and_then(|(up, _)| series.next_mode(up));
    let worst = series
        .between(pause, down.map_or(resume, |(down, _)| down))
        .iter()
        .map(|sample| error(sample.snapshot.bandwidth, RATE))
        .fold(0.0, f64::max);
    Ok(Outcome {
        number: 22,
        name: "App-limited in Refill",
        setup: "`bbr3:paper` on quinn; as Refill begins the application falls to 1 Mb/s for 160 ms",
        expected: "the estimate stays; Up after the round, and the probe ends as any other",
        measured: format!(
            "estimate off by {:.1} % at most; {}, then {}",
            100.0 * worst,
            mode(next),
            mode(down)
        ),
        pass: up.is_some() && down.is_some_and(|(_, mode)| mode == Mode::ProbeDown) && worst < 0.03,
    })
}

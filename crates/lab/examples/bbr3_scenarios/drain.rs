//! Scenarios 3, 4, 8 and 9: what ends Drain and Down.

use std::time::Duration;

use kneepoint_controllers::Mode;
use kneepoint_emulator::link::LinkConfig;

use super::setup::{RATE, believed_bdp, greedy, link, mode, pacing_gain, rounds, seconds, step};
use super::{Outcome, host};
use kneepoint_lab::run::RunError;
use kneepoint_lab::watch::TimeSeries;

/// The flight as a multiple of the believed bandwidth-delay product. An acknowledgement between two samples takes up to two
/// packets off it, 0.06 BDP of the plain path.
fn flight(series: &TimeSeries, at: Duration) -> f64 {
    series.at(at).map_or(0.0, |snapshot| {
        snapshot.in_flight.0 as f64 / believed_bdp(snapshot).0.max(1) as f64
    })
}

/// A phase from `begin` on that ends once the flight is at most 1 BDP: what was seen of it, and whether it had this pacing gain
/// and led to one of these modes.
fn until_flight(
    series: &TimeSeries,
    begin: Duration,
    wanted: f64,
    modes: &[Mode],
) -> (String, bool) {
    let Some((end, next)) = series.next_mode(begin) else {
        return ("no change".to_owned(), false);
    };
    let gain = series.at(begin).map_or(0.0, pacing_gain);
    let (before, after) = (flight(series, begin), flight(series, end - SAMPLE));
    let measured = format!(
        "gain {gain:.2}; flight {before:.2} BDP, {next:?} after {:.0} ms at {after:.2} BDP",
        (end - begin).as_secs_f64() * 1e3
    );
    let pass = (gain - wanted).abs() < 0.01 && before > 1.05 && after <= 1.06;
    (measured, pass && modes.contains(&next))
}

pub(crate) fn ends_by_flight() -> Result<Outcome, RunError> {
    let series = greedy(link(), 3000)?;
    let drain = series.entry(Mode::Drain, Duration::ZERO);
    let next = [Mode::ProbeDown, Mode::ProbeCruise];
    let (measured, pass) = until_flight(&series, drain.unwrap_or_default(), 0.5, &next);
    Ok(Outcome {
        number: 3,
        name: "Drain ends by flight",
        setup: "`bbr3:paper` on quinn, 10 Mb/s, 40 ms, 10 BDP of queue, greedy",
        expected: "pacing gain 0.5; Down (or Cruise, within one acknowledgement) once the flight is at most 1 BDP",
        measured,
        pass,
    })
}

pub(crate) fn ends_by_time() -> Result<Outcome, RunError> {
    let plain = host::run(link(), 3000);
    let drain = plain.entry(Mode::Drain, Duration::ZERO).unwrap_or_default();
    let slower = LinkConfig {
        shaper: step(RATE, drain, RATE / 10 * 9),
        ..link()
    };
    let series = host::run(slower, 3000);
    let (end, next) = series.next_mode(drain).unwrap_or((drain, Mode::Drain));
    let rounds = rounds(&series, drain, end);
    let after = flight(&series, end - SAMPLE);
    Ok(Outcome {
        number: 4,
        name: "Drain ends by time",
        setup: "`bbr3:paper` on the testkit's sender, which paces; as Drain begins the link slows by 10 %",
        expected: "ProbeBW after three rounds, the fourth round's start at the latest, although the flight is above 1 BDP",
        measured: format!("{next:?} after {rounds} rounds, with {after:.2} BDP in flight"),
        pass: next == Mode::ProbeDown && (3..=4).contains(&rounds) && after > 1.06,
    })
}

pub(crate) fn down_ends_by_flight() -> Result<Outcome, RunError> {
    let series = host::run(link(), 8000);
    let up = series
        .entry(Mode::ProbeUp, Duration::ZERO)
        .unwrap_or_default();
    let (down, _) = series.next_mode(up).unwrap_or((up, Mode::ProbeUp));
    let (measured, pass) = until_flight(&series, down, 0.9, &[Mode::ProbeCruise]);
    Ok(Outcome {
        number: 8,
        name: "Down ends by flight",
        setup: "`bbr3:paper` on the testkit's sender, which paces; 10 Mb/s, 40 ms, 10 BDP of queue, no long-term bound",
        expected: "pacing gain 0.90; Cruise once the flight is at most 1 BDP",
        measured,
        pass,
    })
}

pub(crate) fn down_ends_by_time() -> Result<Outcome, RunError> {
    let plain = host::run(link(), 10_000);
    let up = plain
        .entry(Mode::ProbeUp, Duration::ZERO)
        .unwrap_or_default();
    let down = plain.entry(Mode::ProbeDown, up).unwrap_or_default();
    let slower = LinkConfig {
        shaper: step(RATE, down, RATE / 10 * 9),
        ..link()
    };
    let series = host::run(slower, 10_000);
    let next = series.next_mode(down);
    let wait = next.map(|(end, _)| end.saturating_sub(down));
    let end = next.map_or(down, |(end, _)| end);
    Ok(Outcome {
        number: 9,
        name: "Down ends by time",
        setup: "`bbr3:paper` on the testkit's sender, which paces; as Down begins the link slows by 10 %",
        expected: "after the random wait (2 to 3 s, or the rounds of Reno) Refill, without Cruise",
        measured: format!(
            "{} after {} and {} rounds, with {:.2} BDP in flight",
            mode(next),
            seconds(wait),
            rounds(&series, down, end),
            flight(&series, end - SAMPLE)
        ),
        pass: next.is_some_and(|(_, mode)| mode == Mode::ProbeRefill)
            && wait.is_some_and(|wait| wait > Duration::from_secs(1)),
    })
}

/// The time between two samples.
const SAMPLE: Duration = Duration::from_millis(1);

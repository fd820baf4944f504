//! What an attack cost.

use std::fmt;
use std::time::Duration;

use crate::attack::Attack;
use crate::run::{BDP, RTT, Seen, run};

/// The worst of one controller under one attack, alone and beside a neighbour with the same controller. Times are in round trips.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    /// When and why the sender's connection was closed, from the attack on.
    pub(crate) closed: Vec<(usize, String)>,
    /// The largest window from the attack on, in bandwidth-delay products.
    pub(crate) window: f64,
    /// The longest time for which the sender offered more than twice the link's rate.
    pub(crate) flood: usize,
    /// The longest time for which the neighbour's rate over ten round trips was below a quarter of the link.
    pub(crate) starved: usize,
    /// For how long after the attack the sender alone heard nothing.
    pub(crate) silent: usize,
    /// How long it took from then until it had 90 % of the link over five round trips, unless its connection was closed.
    pub(crate) back: Option<usize>,
}

impl Figures {
    pub(crate) fn of(controller: &str, attack: Attack, seed: u64) -> Self {
        let alone = run(controller, attack, false, PATIENCE, seed);
        let beside = run(controller, attack, true, Duration::from_secs(1), seed);
        let during = attack.during();
        let (from, to) = (bin(during.start), bin(during.end));
        let runs = [&alone, &beside];
        let flood = |seen: &Seen| longest(seen.offered[from..].iter().map(|&rate| rate > 2 * BDP));
        let windows = runs.map(|seen| {
            let later = seen.windows.iter().filter(|(at, _)| *at >= during.start);
            later.map(|(_, window)| *window).max().unwrap_or(0)
        });
        let closed = |seen: &Seen| {
            let (at, reason) = seen.closed.clone()?;
            Some((bin(at.saturating_sub(during.start)), reason))
        };
        let below = |bins: &[u64]| bins.iter().sum::<u64>() < bins.len() as u64 * BDP / 4;
        let heard = alone.acked.iter().find(|at| **at >= during.end);
        let heard = heard.map_or(alone.offered.len(), |at| bin(*at));
        let enough = |bins: &[u64]| 10 * bins.iter().sum::<u64>() >= 9 * 5 * BDP;
        let mut own = alone.passed[0][heard..].windows(5);
        let back = own.position(enough).unwrap_or(usize::MAX);
        Self {
            closed: runs.into_iter().filter_map(closed).collect(),
            window: windows.into_iter().max().unwrap_or(0) as f64 / BDP as f64,
            flood: flood(&alone).max(flood(&beside)),
            starved: longest(beside.passed[1][from..to].windows(10).map(below)),
            silent: heard - to,
            back: alone.closed.is_none().then_some(back),
        }
    }

    /// The worst of both.
    pub(crate) fn or(mut self, other: Self) -> Self {
        self.closed.extend(other.closed);
        Self {
            closed: self.closed,
            window: self.window.max(other.window),
            flood: self.flood.max(other.flood),
            starved: self.starved.max(other.starved),
            silent: self.silent.max(other.silent),
            back: self.back.max(other.back),
        }
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for time in [self.flood, self.starved] {
            let mark = if time > LIMIT { "**" } else { "" };
            write!(f, "{mark}{time}{mark} / ")?;
        }
        match self.back {
            None => f.write_str("closed"),
            Some(usize::MAX) => f.write_str("**never**"),
            Some(back) => write!(f, "{back}"),
        }
    }
}

/// The longest run of what holds.
fn longest(holds: impl Iterator<Item = bool>) -> usize {
    let mut run = 0;
    let runs = holds.map(|holds| {
        run = if holds { run + 1 } else { 0 };
        run
    });
    runs.max().unwrap_or(0)
}

fn bin(time: Duration) -> usize {
    usize::try_from(time.as_nanos() / RTT.as_nanos()).unwrap_or(usize::MAX)
}

/// In round trips: no flood and no starvation may last longer.
pub(crate) const LIMIT: usize = 10;
/// How long a sender has to come back.
const PATIENCE: Duration = Duration::from_secs(30);

//! eBCC's states, a subset of BBR's.

use core::time::Duration;

use crate::snapshot::Mode;
use crate::units::Timestamp;

/// The states (Algorithm 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Doubles the window.
    Startup,
    /// Searches for the window between the target and the queue.
    ProbeBandwidth,
    /// Keeps the flight small, after a loss with a long queue.
    ProbeRtt(Probe),
}

/// One ProbeRTT.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Probe {
    /// Its minimum RTT.
    pub(super) min_rtt: Option<Duration>,
    /// Once the flight is small: the time and the round until which it stays so.
    pub(super) hold: Option<(Timestamp, u64)>,
    /// Whether a loss has cut the window already.
    pub(super) cut: bool,
}

impl State {
    pub(super) fn mode(self) -> Mode {
        match self {
            Self::Startup => Mode::Startup,
            Self::ProbeBandwidth => Mode::ProbeBandwidth(0),
            Self::ProbeRtt(_) => Mode::ProbeRtt,
        }
    }

    pub(super) fn may_become(self, next: Self) -> bool {
        // Persistent congestion leads back to Startup from anywhere.
        next == Self::Startup
            || matches!(
                (self, next),
                (Self::Startup | Self::ProbeRtt(_), Self::ProbeBandwidth)
                    | (Self::ProbeBandwidth | Self::ProbeRtt(_), Self::ProbeRtt(_))
            )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_its_own_edges_are_legal() {
        let probe = State::ProbeRtt(Probe::default());
        let states = [State::Startup, State::ProbeBandwidth, probe];
        let legal = [[true, true, false], [true, false, true], [true, true, true]];
        for (from, row) in states.iter().zip(legal) {
            for (to, expected) in states.iter().zip(row) {
                assert_eq!(from.may_become(*to), expected, "{from:?} -> {to:?}");
            }
        }
        let modes = states.map(State::mode);
        assert_eq!(
            modes,
            [Mode::Startup, Mode::ProbeBandwidth(0), Mode::ProbeRtt]
        );
    }
}

//! BBRv3's states. Each state holds the data that only it needs.

use super::config::Bbr3CoreConfig;
use super::probe::ProbeUp;
use crate::model::{FullPipe, PathCheck};
use crate::snapshot::Mode;
use crate::units::{Bytes, Gain, Timestamp};

/// The states (draft-ietf-ccwg-bbr, section "State Transition Diagram").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Doubles the rate each round, until the bandwidth stops growing or losses are too high.
    Startup(FullPipe),
    /// Drains the queue of Startup; ends in this round at the latest.
    Drain { last_round: u64 },
    /// The first phase of a ProbeBW cycle (section "ProbeBW"): sends slower than the path delivers, to drain the queue and leave room
    /// to others.
    ProbeDown,
    /// Sends as fast as the path delivers.
    ProbeCruise,
    /// Sends as fast as the long-term model allows, for a round.
    ProbeRefill,
    /// The last phase of the cycle: sends faster than the path delivers.
    ProbeUp(ProbeUp),
    /// Keeps half a BDP in flight, to measure the RTT without a queue.
    ProbeRtt(ProbeRttState),
}

/// The state of ProbeRTT (section "ProbeRTT Logic").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ProbeRttState {
    /// The check for a longer path, if one is due.
    pub(super) check: Option<PathCheck>,
    /// The window in ProbeRTT, from the estimates before it.
    pub(super) window: Bytes,
    /// The window before ProbeRTT.
    pub(super) prior_window: Bytes,
    /// Startup's detector, to continue with: with rounds of seconds, three of them do not fit between two ProbeRTTs.
    pub(super) search: FullPipe,
    /// Set once the flight is as small as the window.
    pub(super) hold: Option<Hold>,
}

/// How long the flight has to stay small: until this time, and until a round has passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hold {
    pub(super) until: Timestamp,
    pub(super) round_passed: bool,
}

impl State {
    /// The gain on the bandwidth, for pacing (section "Summary of Control Behavior in the State Machine").
    pub(super) const fn pacing_gain(&self, config: &Bbr3CoreConfig) -> Gain {
        match self {
            Self::Startup(_) => config.startup_pacing_gain,
            Self::Drain { .. } => config.drain_pacing_gain,
            Self::ProbeDown => config.down_pacing_gain,
            Self::ProbeUp(_) => config.up_pacing_gain,
            Self::ProbeCruise | Self::ProbeRefill | Self::ProbeRtt(_) => Gain::UNIT,
        }
    }

    /// The gain on the bandwidth-delay product, for the window (the same section).
    pub(super) const fn window_gain(&self, config: &Bbr3CoreConfig) -> Gain {
        match self {
            // Draining is the pacing rate's task.
            Self::Startup(_) | Self::Drain { .. } => config.startup_window_gain,
            Self::ProbeUp(_) => config.up_window_gain,
            Self::ProbeDown | Self::ProbeCruise | Self::ProbeRefill => config.window_gain,
            Self::ProbeRtt(_) => config.probe_rtt_gain,
        }
    }

    pub(super) const fn mode(&self) -> Mode {
        match self {
            Self::Startup(_) => Mode::Startup,
            Self::Drain { .. } => Mode::Drain,
            Self::ProbeDown => Mode::ProbeDown,
            Self::ProbeCruise => Mode::ProbeCruise,
            Self::ProbeRefill => Mode::ProbeRefill,
            Self::ProbeUp(_) => Mode::ProbeUp,
            Self::ProbeRtt(_) => Mode::ProbeRtt,
        }
    }

    /// Whether the state is a phase of ProbeBW.
    pub(super) const fn is_probe_bw(&self) -> bool {
        matches!(
            self,
            Self::ProbeDown | Self::ProbeCruise | Self::ProbeRefill | Self::ProbeUp(_)
        )
    }

    /// Whether the state probes for bandwidth, so that losses are expected (`IsProbingBW`).
    pub(super) const fn is_probing(&self) -> bool {
        matches!(
            self,
            Self::Startup(_) | Self::ProbeRefill | Self::ProbeUp(_)
        )
    }

    /// Whether the draft has an edge from `self` to `next`. The undo of a spurious loss can also return to Startup and
    /// Refill.
    pub(super) const fn may_become(&self, next: &Self) -> bool {
        use State::{Drain, ProbeCruise, ProbeDown, ProbeRefill, ProbeRtt, ProbeUp, Startup};
        match (self, next) {
            (Startup(_), Startup(_)) | (ProbeRtt(_), ProbeRtt(_)) => false,
            (_, Startup(_) | ProbeRtt(_))
            | (Startup(_), Drain { .. })
            | (Drain { .. } | ProbeUp(_) | ProbeRtt(_), ProbeDown)
            | (ProbeDown, ProbeCruise)
            | (ProbeDown | ProbeCruise | ProbeRefill, ProbeRefill)
            | (ProbeRefill, ProbeUp(_)) => true,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states() -> [State; 7] {
        [
            State::Startup(FullPipe::default()),
            State::Drain { last_round: 3 },
            State::ProbeDown,
            State::ProbeCruise,
            State::ProbeRefill,
            State::ProbeUp(ProbeUp::default()),
            State::ProbeRtt(ProbeRttState {
                check: None,
                window: Bytes(4800),
                prior_window: Bytes(9600),
                search: FullPipe::default(),
                hold: None,
            }),
        ]
    }

    #[test]
    fn only_the_drafts_edges_are_legal() {
        // From each row to Startup, Drain, Down, Cruise, Refill, Up, ProbeRTT.
        let legal = [
            [0, 1, 0, 0, 0, 0, 1],
            [1, 0, 1, 0, 0, 0, 1],
            [1, 0, 0, 1, 1, 0, 1],
            [1, 0, 0, 0, 1, 0, 1],
            [1, 0, 0, 0, 1, 1, 1],
            [1, 0, 1, 0, 0, 0, 1],
            [1, 0, 1, 0, 0, 0, 0],
        ];
        for (from, row) in states().iter().zip(legal) {
            for (to, expected) in states().iter().zip(row) {
                assert_eq!(from.may_become(to), expected == 1, "{from:?} -> {to:?}");
            }
        }
    }

    /// The table of section "Summary of Control Behavior in the State Machine".
    #[test]
    fn every_state_has_its_gains_and_its_mode() {
        let config = Bbr3CoreConfig::draft();
        let table = states().map(|state| {
            (
                state.mode(),
                state.pacing_gain(&config).as_f64(),
                state.window_gain(&config).as_f64(),
                state.is_probing(),
            )
        });
        assert_eq!(
            table,
            [
                (Mode::Startup, 2.77, 2.0, true),
                (Mode::Drain, 0.5, 2.0, false),
                (Mode::ProbeDown, 0.9, 2.0, false),
                (Mode::ProbeCruise, 1.0, 2.0, false),
                (Mode::ProbeRefill, 1.0, 2.0, true),
                (Mode::ProbeUp, 1.25, 2.25, true),
                (Mode::ProbeRtt, 1.0, 0.5, false),
            ]
        );
    }
}

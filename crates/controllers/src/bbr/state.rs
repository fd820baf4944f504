//! BBRv1's states. Each state holds the data that only it needs.

use crate::snapshot::Mode;
use crate::units::{Gain, Timestamp};

/// The states (BBR paper, section "Steady-state behavior" and fig. 4; names of
/// draft-cardwell-iccrg-bbr-congestion-control-00, section 4.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Doubles the rate each round, until the bandwidth stops growing.
    Startup,
    /// Drains the queue of Startup.
    Drain,
    /// Runs the gain cycle.
    ProbeBandwidth(Cycle),
    /// Keeps the flight small, to measure the RTT without a queue.
    ProbeRtt(ProbeRttPhase),
}

/// The position in the gain cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cycle {
    pub phase: u8,
    pub began: Timestamp,
    /// Whether packets were lost or marked in this phase, which ends a probe.
    pub congested: bool,
}

/// The phases of ProbeRTT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProbeRttPhase {
    /// The flight is still above the target.
    Draining,
    /// The flight is small enough. It stays so until this time, and until this round has passed.
    Holding { until: Timestamp, round: u64 },
}

impl State {
    /// The gain on the bandwidth estimate, for pacing.
    pub(super) fn pacing_gain(&self) -> Gain {
        match self {
            Self::Startup => STARTUP_GAIN,
            Self::Drain => DRAIN_GAIN,
            Self::ProbeBandwidth(cycle) => {
                CYCLE_GAINS[usize::from(cycle.phase) % CYCLE_GAINS.len()]
            }
            Self::ProbeRtt(_) => Gain::UNIT,
        }
    }

    pub(super) fn mode(&self) -> Mode {
        match self {
            Self::Startup => Mode::Startup,
            Self::Drain => Mode::Drain,
            Self::ProbeBandwidth(cycle) => Mode::ProbeBandwidth(cycle.phase),
            Self::ProbeRtt(_) => Mode::ProbeRtt,
        }
    }

    /// Whether the state machine of the paper has an edge from `self` to `next`.
    pub(super) fn may_become(&self, next: &Self) -> bool {
        matches!(
            (self, next),
            (Self::Startup, Self::Drain | Self::ProbeRtt(_))
                | (Self::Drain, Self::ProbeBandwidth(_) | Self::ProbeRtt(_))
                | (
                    Self::ProbeBandwidth(_),
                    Self::ProbeBandwidth(_) | Self::ProbeRtt(_)
                )
                | (
                    Self::ProbeRtt(_),
                    Self::ProbeRtt(_) | Self::ProbeBandwidth(_) | Self::Startup
                )
        )
    }
}

/// The gain cycle of ProbeBW: probe, drain what the probe queued, cruise (BBR paper, section "Steady-state
/// behavior").
pub(super) const CYCLE_GAINS: [Gain; 8] = [
    Gain::new(5, 4),
    Gain::new(3, 4),
    Gain::UNIT,
    Gain::UNIT,
    Gain::UNIT,
    Gain::UNIT,
    Gain::UNIT,
    Gain::UNIT,
];

/// The phase that probes for more.
pub(super) const PHASE_PROBE: u8 = 0;

/// The phase that drains the probe's queue.
pub(super) const PHASE_DRAIN: u8 = 1;

/// 2 / ln 2: the smallest gain that doubles the rate each round (BBR paper, section "Startup").
pub(super) const STARTUP_GAIN: Gain = Gain::new(288_539, 100_000);

/// ln 2 / 2, the inverse of Startup's gain (BBR paper, section "Startup").
const DRAIN_GAIN: Gain = Gain::new(34_657, 100_000);

#[cfg(test)]
mod tests {
    use super::*;

    /// The first phase that neither probes nor drains.
    const PHASE_CRUISE: u8 = 2;

    fn states() -> [State; 4] {
        [
            State::Startup,
            State::Drain,
            State::ProbeBandwidth(Cycle {
                phase: PHASE_CRUISE,
                began: Timestamp::ZERO,
                congested: false,
            }),
            State::ProbeRtt(ProbeRttPhase::Draining),
        ]
    }

    #[test]
    fn only_the_papers_edges_are_legal() {
        // From each row to Startup, Drain, ProbeBW, ProbeRTT.
        let legal = [
            [false, true, false, true],
            [false, false, true, true],
            [false, false, true, true],
            [true, false, true, true],
        ];
        for (from, row) in states().iter().zip(legal) {
            for (to, expected) in states().iter().zip(row) {
                assert_eq!(from.may_become(to), expected, "{from:?} -> {to:?}");
            }
        }
    }

    #[test]
    fn every_state_has_its_gain_and_its_mode() {
        let gains = states().map(|state| state.pacing_gain());
        assert_eq!(gains[0], STARTUP_GAIN);
        // Drain removes in one round the queue of one round of Startup.
        assert!((gains[0].as_f64() * gains[1].as_f64() - 1.0).abs() < 1e-4);
        assert_eq!((gains[2], gains[3]), (Gain::UNIT, Gain::UNIT));
        assert_eq!(
            states().map(|state| state.mode()),
            [
                Mode::Startup,
                Mode::Drain,
                Mode::ProbeBandwidth(PHASE_CRUISE),
                Mode::ProbeRtt
            ]
        );
    }

    #[test]
    fn the_cycle_neither_gains_nor_loses() {
        let sum: f64 = CYCLE_GAINS.iter().map(|gain| gain.as_f64()).sum();
        assert_eq!(sum, CYCLE_GAINS.len() as f64);
        assert!(CYCLE_GAINS[usize::from(PHASE_PROBE)].grows());
        assert!(CYCLE_GAINS[usize::from(PHASE_DRAIN)].shrinks());
        assert_eq!(CYCLE_GAINS[usize::from(PHASE_CRUISE)], Gain::UNIT);
    }
}

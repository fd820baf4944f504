//! The states of a window-based controller, and the state saved for an undo.

use super::window::Window;
use crate::snapshot::Mode;
use crate::units::{Bytes, Timestamp};

/// The states of RFC 9002, section 7.3. A loss, or its undo, can lead from each state to each other.
#[derive(Debug, Clone, Copy)]
pub(super) enum State<S> {
    /// Exponential growth (section 7.3.1).
    SlowStart(S),
    /// Slow growth (section 7.3.3).
    Avoidance,
    /// Waits for the acknowledgement of a packet sent after the reduction (section 7.3.2).
    Recovery {
        /// When the window was reduced.
        began: Timestamp,
    },
}

impl<S> State<S> {
    /// `searching` is the mode of slow start.
    pub(super) fn mode(&self, searching: impl FnOnce(&S) -> Mode) -> Mode {
        match self {
            Self::SlowStart(search) => searching(search),
            Self::Avoidance => Mode::CongestionAvoidance,
            Self::Recovery { .. } => Mode::Recovery,
        }
    }
}

/// A recovery period (RFC 9002, section 7.3.2): the window is reduced once for all packets sent before the reduction.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecoveryPeriod<A, S> {
    /// When the window was reduced. Packets sent later used the reduced window.
    pub(super) began: Timestamp,
    /// The state to restore if the loss was spurious.
    pub(super) undo: Option<UndoState<A, S>>,
}

/// The state before the first loss of a recovery period (RFC 9438, section 4.9.2). Later losses of the period must not
/// overwrite it.
#[derive(Debug, Clone, Copy)]
pub(super) struct UndoState<A, S> {
    pub(super) total: Bytes,
    pub(super) window: Window,
    pub(super) threshold: Option<Bytes>,
    pub(super) avoidance: A,
    pub(super) state: State<S>,
    /// When the previous recovery period began.
    pub(super) prior_start: Option<Timestamp>,
}

impl<A, S> RecoveryPeriod<A, S> {
    /// Whether a packet sent at `sent` belongs to this recovery period or an earlier one.
    pub(super) fn covers(&self, sent: Timestamp) -> bool {
        sent <= self.began
    }
}

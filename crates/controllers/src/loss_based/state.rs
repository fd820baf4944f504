//! Where a window-based controller stands, and what it has to remember of a loss.

use super::window::Window;
use crate::snapshot::Mode;
use crate::units::{Bytes, Timestamp};

/// The states of RFC 9002, section 7.3. Losses, and their undoing, lead from each to each.
#[derive(Debug, Clone, Copy)]
pub(super) enum State<S> {
    /// Searching for the window exponentially (section 7.3.1).
    SlowStart(S),
    /// Growing slowly around it (section 7.3.3).
    Avoidance,
    /// Waiting for packets that left after the reduction (section 7.3.2).
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

/// Losses that count as one: a window is reduced once for all packets that left before its reduction.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecoveryPeriod<A, S> {
    /// When the window was reduced. What left later was sent with the reduced window.
    pub(super) began: Timestamp,
    /// How to undo it, if it was for packets that were only late.
    pub(super) undo: Option<UndoState<A, S>>,
}

/// What was before the first loss of an episode (RFC 9438, section 4.9.2): later losses of the same episode find it
/// reduced already.
#[derive(Debug, Clone, Copy)]
pub(super) struct UndoState<A, S> {
    pub(super) total: Bytes,
    pub(super) window: Window,
    pub(super) threshold: Option<Bytes>,
    pub(super) avoidance: A,
    pub(super) state: State<S>,
    /// When the episode before that one began.
    pub(super) prior_start: Option<Timestamp>,
}

impl<A, S> RecoveryPeriod<A, S> {
    /// Whether a packet that left at `sent` belongs to it, or to one before it.
    pub(super) fn covers(&self, sent: Timestamp) -> bool {
        sent <= self.began
    }
}

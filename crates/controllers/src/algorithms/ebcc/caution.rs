//! Limits growth while congestion recurs.

use core::time::Duration;

use crate::units::Timestamp;

/// Records when the window was last reduced, and whether the reduction before was recent.
///
/// A binary search returns to the window that overflowed within a few rounds. After two reductions in sequence the path
/// is known to be full near this window, and the window then grows by one packet per round.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Caution {
    last: Option<Reduction>,
}

#[derive(Debug, Clone, Copy)]
struct Reduction {
    at: Timestamp,
    round: u64,
    again: bool,
}

impl Caution {
    /// The window is reduced now. Returns whether it was also reduced in the previous round.
    pub(super) fn reduced(&mut self, now: Timestamp, round: u64, memory: Duration) -> bool {
        let again = self.last.is_some_and(|last| now <= last.at + memory);
        let in_a_row = self
            .last
            .is_some_and(|last| round <= last.round.saturating_add(IN_A_ROW));
        self.last = Some(Reduction {
            at: now,
            round,
            again,
        });
        in_a_row
    }

    /// Whether growth is limited.
    pub(super) fn is_due(&self, now: Timestamp, memory: Duration) -> bool {
        self.last
            .is_some_and(|last| last.again && now <= last.at + memory)
    }
}

/// Packets sent with the reduced window are acknowledged up to two rounds later.
const IN_A_ROW: u64 = 2;

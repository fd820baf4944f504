//! Small steps while congestion recurs.

use core::time::Duration;

use crate::units::Timestamp;

/// Remembers when the window was last reduced, and whether it had been reduced not long before.
///
/// A search by halves comes back to the window that overflowed within a few rounds. Where one reduction follows another, the path is
/// known to be full near this window, and larger ones are tried a packet at a time.
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
    /// The window is reduced now. Returns whether it was in the round before, too.
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

    /// Whether the window is to grow by small steps.
    pub(super) fn is_due(&self, now: Timestamp, memory: Duration) -> bool {
        self.last
            .is_some_and(|last| last.again && now <= last.at + memory)
    }
}

/// What left with the reduced window is acknowledged up to two rounds later.
const IN_A_ROW: u64 = 2;

//! Packets by the time at which they left.

use crate::units::Timestamp;

/// The packets that left after one time, up to another. An end that is known stays.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Span {
    pub(super) after: Timestamp,
    pub(super) up_to: Timestamp,
}

impl Span {
    pub(super) fn since(now: Timestamp) -> Self {
        Self {
            after: now,
            up_to: Timestamp::MAX,
        }
    }

    pub(super) fn end(&mut self, now: Timestamp) {
        self.up_to = self.up_to.min(now);
    }

    pub(super) fn contains(&self, sent: Timestamp) -> bool {
        self.after < sent && sent <= self.up_to
    }
}

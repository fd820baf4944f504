//! The answer to an offer.

use super::DropCause;

/// The result of an offered packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnqueueResult {
    /// The packet is on its way. A queue that manages itself may still drop it.
    Accepted,
    /// The packet is gone.
    Dropped(DropCause),
}

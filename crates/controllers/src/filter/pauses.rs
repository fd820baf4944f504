//! Detects a closed link.

use core::time::Duration;

use crate::units::{Timestamp, saturating_nanos as nanos};

/// Detects gaps between acknowledgements that come from a closed link, not from its rate.
///
/// A link that opens and closes (a blocked millimetre-wave beam, a handover) delivers nothing while it is closed. This
/// says nothing about its rate when open. A slow link has long gaps too, but each of its acknowledgements follows one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pauses {
    /// The previous acknowledgement; the end of time before the first, which follows no gap.
    last: Timestamp,
    /// Whether the previous acknowledgement followed a gap.
    paused: bool,
}

impl Default for Pauses {
    fn default() -> Self {
        Self {
            last: Timestamp::MAX,
            paused: false,
        }
    }
}

impl Pauses {
    /// Handles an acknowledgement. Returns whether the link was closed before it.
    pub(super) fn link_was_closed(&mut self, now: Timestamp, min_rtt: u64) -> bool {
        let gap = now.nanos_since(core::mem::replace(&mut self.last, now));
        // Most gaps are overdue on no path.
        let paused = gap > nanos(MAX_ACK_DELAY) && gap > overdue_after(min_rtt);
        let paused_before = core::mem::replace(&mut self.paused, paused);
        paused && !paused_before
    }
}

/// The time in nanoseconds after which an acknowledgement is overdue: three RTTs, the probe timeout with an initial
/// variance, and the maximum ACK delay (RFC 9002, section 6.2.1).
///
/// The paper counts each min RTT without an acknowledgement as a zero-rate sample. On a short path a delayed
/// acknowledgement would then be an outage, and so would each gap of a cellular link.
pub(super) fn overdue_after(rtt: u64) -> u64 {
    rtt.saturating_mul(OVERDUE)
        .saturating_add(nanos(MAX_ACK_DELAY))
}

/// In RTTs (RFC 9002, section 5.3: the initial variance is half of the first RTT, and a probe timeout has four
/// variances).
const OVERDUE: u64 = 3;

/// The default of the transport parameter (RFC 9000, section 18.2). Transports do not report the peer's value to
/// controllers.
const MAX_ACK_DELAY: Duration = Duration::from_millis(25);

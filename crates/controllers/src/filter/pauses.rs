//! Silence that is the link's and not a sample of its rate.

use core::time::Duration;

use crate::units::{Timestamp, saturating_nanos as nanos};

/// Pauses between acknowledgements that the link makes, and not its rate.
///
/// A link that opens and closes (a millimetre-wave beam that is blocked, a cell that is handed over) is silent while it is
/// closed, and that says nothing of the rate at which it carries when open. A slow link, too, has long pauses; but there each
/// acknowledgement comes after one.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pauses {
    last: Option<Timestamp>,
    /// The acknowledgement before came after a pause.
    paused: bool,
}

impl Pauses {
    /// Takes the time of an acknowledgement. Returns whether the link was closed before it.
    pub(super) fn link_was_closed(&mut self, now: Timestamp, min_rtt: u64) -> bool {
        let gap = self
            .last
            .replace(now)
            .map_or(0, |last| now.nanos_since(last));
        let paused = gap > overdue_after(min_rtt);
        let paused_before = core::mem::replace(&mut self.paused, paused);
        paused && !paused_before
    }
}

/// After how many nanoseconds of silence an acknowledgement is overdue: three round trips, the probe timeout of a variance
/// not yet known, and the longest time for which a receiver delays it (RFC 9002, section 6.2.1).
///
/// The paper has one sample of nothing for each minimum RTT of silence. With that, an acknowledgement that the receiver delays
/// on a short path is an outage, and so is each pause of a cellular link.
pub(super) fn overdue_after(rtt: u64) -> u64 {
    rtt.saturating_mul(OVERDUE)
        .saturating_add(nanos(MAX_ACK_DELAY))
}

/// Round trips (RFC 9002, section 5.3: the first variance is half of the first round trip, of which a probe timeout has four).
const OVERDUE: u64 = 3;

/// The default of the transport parameter (RFC 9000, section 18.2). Hosts do not tell controllers what the peer chose.
const MAX_ACK_DELAY: Duration = Duration::from_millis(25);

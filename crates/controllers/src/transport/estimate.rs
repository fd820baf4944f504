//! A bandwidth estimate with what is to be known of it, for applications.

use core::time::Duration;
use std::time::Instant;

use crate::units::Bandwidth;

/// The bandwidth that a controller believes its path to have, and how far to trust it.
///
/// The rate is the estimate of the controller's model: neither the window over the round-trip time, which contains the queue, nor
/// what was sent lately, which contains what the application had to say. QUIC packets are counted with all that is in them, but not
/// the headers of UDP and IP. Payload is a few per cent less, and what is retransmitted comes out of it too. With competing
/// traffic it is this connection's part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct BandwidthEstimate {
    /// The rate.
    pub rate: Bandwidth,
    /// Whether the rate is a lower bound: the path has carried as much, and was not seen to carry no more. So it is in slow start, and
    /// while an application sends less than the path carries. To learn more the connection has to send more.
    ///
    /// A path that was measured stays measured when the application sends less from then on. The estimate is then as old as
    /// [`at`](Self::at) says.
    pub lower_bound: bool,
    /// The arrival of the last acknowledgement that the rate rests on: of packets that the path limited, or that were delivered at
    /// the lower bound.
    pub at: Instant,
    /// The round-trip time without queues; `None` if the controller has none.
    pub min_rtt: Option<Duration>,
}

impl BandwidthEstimate {
    /// How long ago the rate was measured or shown; zero if `now` is earlier. The library reads no clock.
    pub fn age(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.at)
    }
}

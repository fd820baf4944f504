//! The sender's interface to a congestion controller.

use std::time::Duration;

/// A controller with a transport's interface.
///
/// The calls for an acknowledgement come in quinn's order: [`on_packet_acked`](Self::on_packet_acked) for each packet,
/// [`on_end_acks`](Self::on_end_acks), then losses, then marks.
pub trait Adapter {
    /// A packet was sent.
    fn on_sent(&mut self, now: Duration, bytes: u64);

    /// A packet that was sent at `sent` was acknowledged.
    fn on_packet_acked(&mut self, now: Duration, sent: Duration, bytes: u64);

    /// The acknowledgement is complete. `in_flight` still includes packets that it shows to be lost.
    fn on_end_acks(&mut self, now: Duration, in_flight: u64, app_limited: bool);

    /// Packets were declared lost.
    fn on_lost(&mut self, now: Duration, lost: &Lost);

    /// A packet that was sent at `sent` was marked.
    fn on_ecn_mark(&mut self, now: Duration, sent: Duration);

    /// All packets declared lost have arrived after all.
    fn on_spurious_loss(&mut self, _now: Duration) {}

    /// When [`on_timer`](Self::on_timer) is due.
    fn next_timer(&self) -> Option<Duration> {
        None
    }

    /// The timer has expired.
    fn on_timer(&mut self, _now: Duration) {}

    /// The window, in bytes.
    fn window(&self) -> u64;

    /// Whether the window allows a datagram, by the transport's rule.
    fn may_send(&self, in_flight: u64, datagram: u64) -> bool;

    /// The controller's own pacing rate, in bytes per second.
    fn pacing_rate(&self) -> Option<u64> {
        None
    }
}

/// Packets that were declared lost together.
#[derive(Debug, Clone, Copy)]
pub struct Lost {
    /// When the newest of them was sent.
    pub newest_sent: Duration,
    /// Their bytes.
    pub bytes: u64,
    /// Their number.
    pub packets: u64,
    /// Whether this is persistent congestion (RFC 9002, section 7.6).
    pub persistent: bool,
}

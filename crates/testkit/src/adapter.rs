//! What a sender asks of a congestion controller.

use std::time::Duration;

/// A controller behind the interface of some transport.
///
/// The calls for an acknowledgement come in quinn's order: [`on_packet_acked`](Self::on_packet_acked) for each packet,
/// [`on_end_acks`](Self::on_end_acks), then losses, then marks.
pub trait Adapter {
    /// A packet left.
    fn on_sent(&mut self, now: Duration, bytes: u64);

    /// A packet that had left at `sent` was acknowledged.
    fn on_packet_acked(&mut self, now: Duration, sent: Duration, bytes: u64);

    /// The acknowledgement is over. `in_flight` still counts what it shows to be lost.
    fn on_end_acks(&mut self, now: Duration, in_flight: u64, app_limited: bool);

    /// Packets were declared lost.
    fn on_lost(&mut self, now: Duration, lost: &Lost);

    /// A packet that had left at `sent` was marked.
    fn on_ecn_mark(&mut self, now: Duration, sent: Duration);

    /// Everything that was declared lost has arrived after all.
    fn on_spurious_loss(&mut self, _now: Duration) {}

    /// When [`on_timer`](Self::on_timer) is wanted.
    fn next_timer(&self) -> Option<Duration> {
        None
    }

    /// That time has come.
    fn on_timer(&mut self, _now: Duration) {}

    /// The window, in bytes.
    fn window(&self) -> u64;

    /// Whether the window lets a datagram leave, as the transport compares them.
    fn may_send(&self, in_flight: u64, datagram: u64) -> bool;

    /// The controller's own pacing rate, in bytes per second.
    fn pacing_rate(&self) -> Option<u64> {
        None
    }
}

/// Packets that were declared lost together.
#[derive(Debug, Clone, Copy)]
pub struct Lost {
    /// When the newest of them had left.
    pub newest_sent: Duration,
    /// Their bytes.
    pub bytes: u64,
    /// How many they are.
    pub packets: u64,
    /// Whether they are persistent congestion (RFC 9002, section 7.6).
    pub persistent: bool,
}

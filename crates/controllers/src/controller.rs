//! The neutral trait: what a congestion controller is told, and what it answers.

use core::fmt::Debug;
use core::time::Duration;

use crate::event::{AckEvent, CongestionEvent, SentEvent};
use crate::snapshot::Snapshot;
use crate::units::{Bandwidth, Bytes, Timestamp};

/// A congestion controller.
///
/// It is told of events in the order in which they happen, each once, and updates its model once per event. It
/// knows no transport, reads no clock and draws no randomness of its own.
pub trait Controller: Debug + Send + Sync {
    /// Packets were sent.
    fn on_sent(&mut self, _event: &SentEvent) {}

    /// Packets were acknowledged.
    fn on_ack(&mut self, event: &AckEvent);

    /// [`on_ack`](Self::on_ack), after which `control` holds what [`control`](Self::control) answers; returns what
    /// [`next_timer`](Self::next_timer) does. For hosts that ask for both after each acknowledgement: one call of a trait
    /// object instead of three, and no controller has to implement it.
    fn acknowledge(&mut self, event: &AckEvent, control: &mut Control) -> Option<Timestamp> {
        self.on_ack(event);
        *control = self.control();
        self.next_timer()
    }

    /// Packets were lost or marked.
    fn on_congestion(&mut self, event: &CongestionEvent);

    /// Every packet of the last congestion event arrived after all: the event was none. Hosts that do not notice such
    /// things never call this.
    fn on_spurious_loss(&mut self, _now: Timestamp) {}

    /// The largest datagram that the path carries has changed.
    fn on_mtu_update(&mut self, mtu: Bytes);

    /// Whether the host should measure rates ([`AckEvent::rate`]) and keep the circumstances of each packet
    /// ([`CongestionEvent::flight`]) for it: that costs more than a window-based controller itself.
    fn wants_rate_samples(&self) -> bool {
        true
    }

    /// The next time at which the controller wants [`on_timer`](Self::on_timer), acknowledgements or not. Sending changes
    /// it only if nothing was in flight.
    fn next_timer(&self) -> Option<Timestamp> {
        None
    }

    /// The time of [`next_timer`](Self::next_timer) has come. A host without timers calls this late, before its
    /// next event; `now` is the time the timer was due. If that event is an acknowledgement, it comes first, and the timer only
    /// if the controller still wants it: what an acknowledgement ends was no silence.
    fn on_timer(&mut self, _now: Timestamp) {}

    /// What the sender may do from now on. Cheap and pure.
    fn control(&self) -> Control;

    /// The state, for people and their tools.
    fn snapshot(&self) -> Snapshot;

    /// A copy with the same state.
    fn clone_box(&self) -> Box<dyn Controller>;
}

/// What the sender may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Control {
    /// The congestion window: no more than this may be in flight.
    pub window: Bytes,
    /// The rate at which to send, if the controller has one.
    pub pacing_rate: Option<Bandwidth>,
    /// The most that may be sent back to back.
    pub send_quantum: Bytes,
    /// The model behind the window, once the pipe has been filled: what a host without a pacing rate needs to
    /// hold the sender near the knee all the same.
    pub operating_point: Option<OperatingPoint>,
    /// Whether the controller itself holds the sender below what the path could carry: rates measured meanwhile
    /// are as low as if the application had done so.
    pub self_limited: bool,
}

/// Where the controller wants the path to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperatingPoint {
    /// The bandwidth estimate.
    pub bandwidth: Bandwidth,
    /// The rate to send at: the estimate times the gain of the moment.
    pub rate: Bandwidth,
    /// The round-trip time without queues.
    pub min_rtt: Duration,
    /// What to have in flight at the least, whatever a host makes of the rest: beside flows that fill the queue.
    pub least: Bytes,
}

//! The neutral trait: what a congestion controller is told, and what it answers.

use core::fmt::Debug;

use crate::event::{AckEvent, CongestionEvent, SentEvent};
use crate::snapshot::Snapshot;
use crate::units::{Bandwidth, Bytes, Timestamp};

/// A congestion controller.
///
/// It is told of events in the order in which they happen, each once, and updates its model once per event. It
/// knows no transport, reads no clock and draws no randomness of its own.
pub trait Controller: Debug + Send + Sync {
    /// Packets were sent. It changes [`control`](Self::control) only if nothing was in flight.
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

/// What the sender may do: to be enforced as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Control {
    /// The congestion window: no more than this may be in flight.
    pub window: Bytes,
    /// For a transport that paces by its window alone: how to come to the window while less is in flight.
    pub refill: Refill,
    /// The rate at which to send, if the transport is to pace at a rate of the controller's.
    pub pacing_rate: Option<Bandwidth>,
    /// The most that may be sent back to back.
    pub send_quantum: Bytes,
}

impl Control {
    /// A window, and no rate.
    pub const fn window(window: Bytes, send_quantum: Bytes) -> Self {
        Self {
            window,
            refill: Refill::Plain,
            pacing_rate: None,
            send_quantum,
        }
    }
}

/// How a transport that paces by its window comes to the window while less is in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refill {
    /// As it paces anyway.
    Plain,
    /// As if the window were this one: a larger one closes the gap sooner, a smaller one without a burst.
    PaceOf(Bytes),
    /// The faster the more is missing, but as if the window were this one at the most.
    CatchUp(Bytes),
}

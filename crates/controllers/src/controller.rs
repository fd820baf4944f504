//! The transport-neutral trait of congestion controllers.

use core::fmt::Debug;

use crate::event::{AckEvent, CongestionEvent, SentEvent};
use crate::snapshot::Snapshot;
use crate::units::{Bandwidth, Bytes, Timestamp};

/// A congestion controller.
///
/// The transport reports each event once, in order. The controller updates its model once per event. It reads no clock
/// and has no source of randomness but its seed.
///
/// The trait is open: write a controller of your own, and a [`ControllerConfig`](crate::ControllerConfig) that builds it, and
/// every adapter runs it. Methods that a later version adds have a default, so that your code still compiles.
pub trait Controller: Debug + Send + Sync {
    /// Packets were sent. It changes [`control`](Self::control) only if nothing was in flight.
    fn on_sent(&mut self, _event: &SentEvent) {}

    /// Packets were acknowledged.
    fn on_ack(&mut self, event: &AckEvent);

    /// Calls [`on_ack`](Self::on_ack), writes [`control`](Self::control) to `control`, and returns
    /// [`next_timer`](Self::next_timer). A transport that needs both after each acknowledgement makes one call of a
    /// trait object instead of three. No controller has to implement it.
    fn acknowledge(&mut self, event: &AckEvent, control: &mut Control) -> Option<Timestamp> {
        self.on_ack(event);
        *control = self.control();
        self.next_timer()
    }

    /// Packets were lost or marked.
    fn on_congestion(&mut self, event: &CongestionEvent);

    /// Packets that counted as lost have arrived after all. They need not be those of the last congestion event. Transports
    /// that do not detect this never call it.
    fn on_spurious_loss(&mut self, _now: Timestamp) {}

    /// The MTU of the path has changed.
    fn on_mtu_update(&mut self, mtu: Bytes);

    /// Whether the transport should measure rates ([`AckEvent::rate`]) and keep per-packet state
    /// ([`CongestionEvent::flight`]). This costs more than a window-based controller itself.
    fn wants_rate_samples(&self) -> bool {
        true
    }

    /// The time at which the controller next needs [`on_timer`](Self::on_timer). Sending changes it only if nothing was in flight.
    fn next_timer(&self) -> Option<Timestamp> {
        None
    }

    /// The timer of [`next_timer`](Self::next_timer) has expired. A transport without timers calls this before its next
    /// event; `now` is the time the timer was due. If this event is an acknowledgement, the acknowledgement comes
    /// first, and the timer only if the controller still needs it.
    fn on_timer(&mut self, _now: Timestamp) {}

    /// The current window, rate and quantum. It costs little and changes nothing.
    fn control(&self) -> Control;

    /// The state, for logs and tools.
    fn snapshot(&self) -> Snapshot;

    /// A copy with the same state.
    fn clone_box(&self) -> Box<dyn Controller>;
}

/// The limits of the sender. The transport enforces them unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Control {
    /// The congestion window: the maximum flight.
    pub window: Bytes,
    /// For a transport that paces by its window: how the flight reaches the window.
    pub refill: Refill,
    /// The pacing rate, if the transport is to pace at the controller's rate.
    pub pacing_rate: Option<Bandwidth>,
    /// The maximum number of bytes sent back to back.
    pub send_quantum: Bytes,
}

impl Control {
    /// A window without a pacing rate.
    pub const fn window(window: Bytes, send_quantum: Bytes) -> Self {
        Self {
            window,
            refill: Refill::Plain,
            pacing_rate: None,
            send_quantum,
        }
    }
}

/// How the flight reaches the window on a transport that paces by its window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refill {
    /// At the transport's own pace.
    Plain,
    /// At the pace of this window. A larger window fills the gap sooner. A smaller window avoids a burst.
    PaceOf(Bytes),
}

//! Reads the state of a live connection's controller.

use kneepoint_controllers::{Bandwidth, Snapshot};
use quinn_proto::congestion::Controller;

use crate::adapter::QuinnController;

/// The state of the connection's controller, if it is one of ours:
/// `kneepoint::quinn::snapshot(connection.congestion_state())`.
///
/// quinn returns a clone of the controller and no reference. The clone shares the packet history with the connection;
/// only the controller's own state is copied, one to six kilobytes. The connection copies its history only if it
/// continues while the clone exists: do not keep the clone.
pub fn snapshot(state: Box<dyn Controller>) -> Option<Snapshot> {
    let controller = state.into_any().downcast::<QuinnController>().ok()?;
    Some(controller.snapshot())
}

/// The bandwidth estimate of the connection's controller, for an encoder that adapts to it:
/// `kneepoint::quinn::bandwidth_estimate(connection.congestion_state())`.
///
/// It is the estimate of the controller's model: neither the window over the round-trip time, which contains the queue,
/// nor what was sent lately, which contains what the application had to say. QUIC packets are counted with all that
/// is in them, but not the headers of UDP and IP; payload is a few per cent less, and what is retransmitted comes out of
/// it too. With competing traffic it is this connection's part.
///
/// While the application sends less than the path carries, a controller sees nothing but lower bounds, and the estimate stays
/// near what the application sends: [`Snapshot::app_limited`] tells. An encoder that wants to know whether there is more
/// asks for more in small steps while it is set, and goes below the estimate, to drain the queue, when it is not:
/// `examples/adaptive_bitrate.rs` does.
///
/// `None` before the first sample, for controllers without a model of the path (`cubic`, `new-reno`, `vegas`,
/// `compound`), and for controllers that are not ours. What it costs is what [`snapshot`] costs.
pub fn bandwidth_estimate(state: Box<dyn Controller>) -> Option<Bandwidth> {
    snapshot(state)?.bandwidth
}

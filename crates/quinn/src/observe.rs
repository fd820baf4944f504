//! What a live connection's controller believes.

use kneepoint_controllers::Snapshot;
use kneepoint_controllers::transport::{BandwidthEstimate, BandwidthWatch};
use quinn_proto::congestion::Controller;

use crate::adapter::QuinnController;

/// The state of the connection's controller, if it is one of ours:
/// `kneepoint::quinn::snapshot(connection.congestion_state())`.
///
/// quinn hands out a clone of the controller and no reference to it. The clone shares the history of packets in flight with the
/// connection; what is copied is the controller's own state, one to six kilobytes however much is in flight. The connection
/// copies its history only if it goes on while somebody keeps the clone: so hand it over at once, as above.
pub fn snapshot(state: Box<dyn Controller>) -> Option<Snapshot> {
    Some(ours(state)?.adapter().snapshot())
}

/// The bandwidth that the connection's controller believes its path to have, and how far to trust it:
/// `kneepoint::quinn::bandwidth_estimate(connection.congestion_state())`.
///
/// While the application sends less than the path carries, a controller sees nothing but
/// [lower bounds](BandwidthEstimate::lower_bound). An encoder that wants to know whether there is more has to send more for a
/// moment, and goes below the estimate, to drain the queue, when the path is full: `examples/adaptive_bitrate.rs` does both.
///
/// `None` before the first sample, for controllers without a model of the path (`cubic`, `new-reno`, `vegas`,
/// `compound`: the window over the round-trip time contains the queue, and the whole window while the application uses a
/// part of it), and for controllers that are not ours. What it costs is what [`snapshot`] costs; [`watch_bandwidth`] costs less.
pub fn bandwidth_estimate(state: Box<dyn Controller>) -> Option<BandwidthEstimate> {
    ours(state)?.adapter().bandwidth_estimate()
}

/// A handle that reads the [estimate](bandwidth_estimate) of this connection from now on, without a clone for each look:
/// `kneepoint::quinn::watch_bandwidth(connection.congestion_state())`, once for each connection of a client or of a server.
///
/// It stays with the path. When the peer comes with another IP address, quinn starts with a new controller
/// ([RFC 9000, section 9.4](https://www.rfc-editor.org/rfc/rfc9000#section-9.4)), and keeps the old one with the estimate that it has
/// until the peer's address or port changes again; then the handle reads `None`. Take a new handle when
/// `connection.remote_address()` changes. Another port of the same IPv4 address changes nothing.
///
/// `None` for controllers that are not ours.
pub fn watch_bandwidth(state: Box<dyn Controller>) -> Option<BandwidthWatch> {
    Some(ours(state)?.adapter().watch_bandwidth())
}

fn ours(state: Box<dyn Controller>) -> Option<Box<QuinnController>> {
    state.into_any().downcast().ok()
}

//! What a live connection's controllers believe.

use kneepoint_controllers::Snapshot;
use kneepoint_controllers::transport::{BandwidthEstimate, BandwidthWatch};
use noq_proto::congestion::Controller;

use crate::adapter::NoqController;

/// The state of a path's controller, if it is one of ours:
/// `connection.congestion_state(path).and_then(kneepoint::noq::snapshot)`.
///
/// noq hands out a clone of the controller. It shares the history of packets in flight with the connection; what is copied is
/// the controller's own state, some kilobytes however much is in flight.
pub fn snapshot(state: Box<dyn Controller>) -> Option<Snapshot> {
    Some(ours(state)?.adapter().snapshot())
}

/// The bandwidth that a path's controller believes it to have, and how far to trust it:
/// `connection.congestion_state(path).and_then(kneepoint::noq::bandwidth_estimate)`.
///
/// `None` before the first sample, for controllers without a model of the path (`cubic`, `new-reno`, `vegas`,
/// `compound`), and for controllers that are not ours. What it costs is what [`snapshot`] costs; [`watch_bandwidth`] costs less.
pub fn bandwidth_estimate(state: Box<dyn Controller>) -> Option<BandwidthEstimate> {
    ours(state)?.adapter().bandwidth_estimate()
}

/// A handle that reads the [estimate](bandwidth_estimate) of this path from now on, without a clone for each look:
/// `connection.congestion_state(path).and_then(kneepoint::noq::watch_bandwidth)`, once for each path of a connection.
///
/// When the peer of a path comes with another IP address, noq starts with a new controller: take a new handle.
///
/// `None` for controllers that are not ours.
pub fn watch_bandwidth(state: Box<dyn Controller>) -> Option<BandwidthWatch> {
    Some(ours(state)?.adapter().watch_bandwidth())
}

fn ours(state: Box<dyn Controller>) -> Option<Box<NoqController>> {
    state.into_any().downcast().ok()
}

//! A transport configuration for iroh, with Kneepoint's controller.

use iroh::endpoint::{Connection, PathId, QuicTransportConfig};
use kneepoint::noq::IntoFactory as _;
use kneepoint::{Algorithm, Snapshot};

/// For `Endpoint::builder(..).transport_config(..)`: each path of a connection sends with a `knee` of its own.
pub fn transport_config() -> QuicTransportConfig {
    QuicTransportConfig::builder()
        .congestion_controller_factory(Algorithm::default().factory())
        .build()
}

/// The state of a path's controller.
pub fn snapshot(connection: &Connection, path: PathId) -> Option<Snapshot> {
    connection
        .congestion_state(path)
        .and_then(kneepoint::noq::snapshot)
}

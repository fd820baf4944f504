//! State changes as `tracing` events, where the feature of that name is on; nothing at all where it is not.

use crate::snapshot::Mode;

/// The controller goes from one mode to another.
#[cfg(feature = "tracing")]
pub(crate) fn transition(algorithm: &'static str, from: Mode, to: Mode) {
    if from != to {
        tracing::debug!(target: "kneepoint", algorithm, ?from, ?to, "state change");
    }
}

/// The controller goes from one mode to another.
#[cfg(not(feature = "tracing"))]
pub(crate) fn transition(_algorithm: &'static str, _from: Mode, _to: Mode) {}

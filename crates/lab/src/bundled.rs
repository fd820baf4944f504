//! The trace that a comparison uses when none is named.

use kneepoint::traces;

use crate::scenario::Link;

/// The bundled link: LTE in a fast car, two minutes of it.
pub fn link() -> Link {
    let trace = traces::lte_driving_fast();
    Link::trace(trace.name().to_owned(), trace)
}

//! A host whose processor does something else for a second, as a process that is stopped.

use crate::frontier::{Path, seconds};
use crate::torture::case::{Case, Change};
use crate::torture::fault::Fault;

pub(super) fn cases() -> Vec<Case> {
    [
        ("sender stopped for 1s", "left"),
        ("receiver stopped for 1s", "right"),
    ]
    .map(|(name, node)| {
        let path = Path::constant(20.0, 40.0, 2.0);
        let case = Case::bulk(Fault::Pauses, name, path, seconds(OVER), seconds(REST));
        case.change(Change::Pause(node))
    })
    .into()
}

/// When the host goes on, and for how long it does, in seconds.
const OVER: f64 = 8.0;
const REST: f64 = 6.5;

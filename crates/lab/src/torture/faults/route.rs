//! Another route: rate, delay and buffer change at once, and packets on the shorter route overtake those on the longer one.

use crate::frontier::{Path, seconds};
use crate::torture::case::{Case, Change};
use crate::torture::fault::Fault;

pub(super) fn cases() -> Vec<Case> {
    let (fast, slow) = (
        || Path::constant(50.0, 20.0, 2.0),
        || Path::constant(5.0, 80.0, 1.0),
    );
    [
        ("50Mbps 20ms to 5Mbps 80ms", fast(), slow()),
        ("5Mbps 80ms to 50Mbps 20ms", slow(), fast()),
    ]
    .map(|(name, path, other)| {
        Case::bulk(Fault::Route, name, path, seconds(START), seconds(REST))
            .change(Change::Route(other))
    })
    .into()
}

/// When the route changes, and how long the run goes on, in seconds.
const START: f64 = 5.0;
const REST: f64 = 15.0;

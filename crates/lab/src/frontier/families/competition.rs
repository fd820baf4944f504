//! One flow beside another controller's.

use std::time::Duration;

use crate::frontier::case::Sender;
use crate::frontier::{Case, Family, Path, seconds};

pub(super) fn cases() -> Vec<Case> {
    let lasting = LASTING.iter().map(|&(other, bdps)| {
        let end = seconds(40.0);
        // The other one is there first.
        let senders = vec![
            Sender::bulk(Duration::ZERO, end).under(other),
            Sender::bulk(seconds(1.0), end),
        ];
        let name = format!("beside {other} at {bdps}bdp");
        Case::bulk(Family::Competition, name, path(bdps), end).senders(senders)
    });
    let leaving = LEAVING.iter().map(|&(other, bdps)| {
        let end = seconds(45.0);
        let senders = vec![
            Sender::bulk(seconds(2.0), seconds(25.0)).under(other),
            Sender::bulk(Duration::ZERO, end),
        ];
        let name = format!("{other} comes and leaves at {bdps}bdp");
        Case::bulk(Family::Competition, name, path(bdps), end).senders(senders)
    });
    lasting.chain(leaving).collect()
}

fn path(bdps: f64) -> Path {
    Path::constant(20.0, 40.0, bdps)
}

/// The other controller, and the buffer in BDP.
const LASTING: [(&str, f64); 7] = [
    ("quinn-cubic", 0.5),
    ("quinn-cubic", 1.0),
    ("quinn-cubic", 2.0),
    ("quinn-cubic", 4.0),
    ("bbr3", 1.0),
    ("bbr3", 4.0),
    ("new-reno", 2.0),
];

/// The same. The last third of the run begins 5 s after the other one has left.
const LEAVING: [(&str, f64); 2] = [("quinn-cubic", 2.0), ("bbr3", 2.0)];

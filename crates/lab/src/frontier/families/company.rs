//! Several flows of one controller, which start one after the other or differ in their round-trip times.

use std::time::Duration;

use super::rate_name;
use crate::frontier::case::Sender;
use crate::frontier::{Case, Family, Path, millis, seconds};

pub(super) fn cases() -> Vec<Case> {
    let staggered = STAGGERED.iter().map(|&(flows, gap, mbps)| {
        let last = gap * f64::from(flows - 1);
        let end = seconds(last + 30.0);
        let senders = (0..flows).map(|index| {
            let start = seconds(gap * f64::from(index));
            Sender::bulk(start, end)
        });
        let name = format!("{flows} flows {gap}s apart, {}", rate_name(mbps));
        let path = Path::constant(mbps, 40.0, 2.0);
        Case::bulk(Family::Company, name, path, end).senders(senders.collect())
    });
    let mixed = MIXES.iter().map(|&(rtts, bdps)| {
        let end = seconds(40.0);
        let max = rtts.iter().copied().fold(0.0, f64::max);
        let senders = rtts
            .iter()
            .map(|rtt| Sender::bulk(Duration::ZERO, end).access_rtt(millis(*rtt)));
        let names: Vec<String> = rtts.iter().map(ToString::to_string).collect();
        let name = format!("RTT {}ms, 20Mbps, {bdps}bdp", names.join("/"));
        // The delay is in the access links; the buffer is of the longest round-trip time.
        let mut path = Path::constant(20.0, max, bdps);
        for link in [&mut path.forward, &mut path.reverse] {
            link.delay = Duration::ZERO.into();
        }
        Case::bulk(Family::Company, name, path, end).senders(senders.collect())
    });
    staggered.chain(mixed).collect()
}

/// How many flows, how many seconds apart, and Mb/s.
const STAGGERED: [(u32, f64, f64); 9] = [
    (2, 0.1, 20.0),
    (2, 8.0, 20.0),
    (4, 0.5, 20.0),
    (4, 4.0, 20.0),
    (6, 1.0, 20.0),
    (6, 2.0, 4.0),
    (6, 8.0, 20.0),
    (10, 0.1, 30.0),
    (10, 4.0, 30.0),
];

/// The round-trip times in ms, and the buffer in BDP of the longest.
const MIXES: [(&[f64], f64); 2] = [(&[10.0, 50.0, 200.0], 1.0), (&[10.0, 200.0], 0.5)];

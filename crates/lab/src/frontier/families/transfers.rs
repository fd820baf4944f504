//! One response of a given size to one request: how long it takes.

use std::time::Duration;

use super::rate_name;
use crate::frontier::case::Sender;
use crate::frontier::{Case, Family, Path, seconds};

pub(super) fn cases() -> Vec<Case> {
    TRANSFERS
        .iter()
        .map(|&(bytes, mbps, rtt_ms, bdps, percent)| {
            let loss = if percent > 0.0 {
                format!(" loss {percent}%")
            } else {
                String::new()
            };
            let size = crate::units::format_size(bytes);
            let name = format!("{size} {} {rtt_ms}ms {bdps}bdp{loss}", rate_name(mbps));
            let path = Path::constant(mbps, rtt_ms, bdps).loss(percent / 100.0);
            // Ten times what the link needs, and 20 s for what a handshake may lose.
            let span = seconds(10.0 * bytes as f64 / (mbps * 125_000.0) + 20.0);
            let senders = vec![Sender::transfer(bytes, Duration::ZERO, span)];
            Case::bulk(Family::Transfers, name, path, span).senders(senders)
        })
        .collect()
}

/// Bytes, Mb/s, ms, BDP, and percent of random loss.
const TRANSFERS: [(u64, f64, f64, f64, f64); 7] = [
    (10_000, 20.0, 40.0, 1.0, 0.0),
    (100_000, 20.0, 40.0, 1.0, 0.0),
    (1_000_000, 20.0, 40.0, 1.0, 0.0),
    (10_000_000, 20.0, 40.0, 1.0, 0.0),
    (1_000_000, 20.0, 40.0, 2.0, 1.0),
    (10_000_000, 100.0, 100.0, 1.0, 0.0),
    (3_000_000, 20.0, 600.0, 1.0, 0.0),
];

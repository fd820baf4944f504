//! Senders that know what no controller can: what the others are measured by.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use kneepoint_emulator::link::{
    ConfigError, Link, LinkConfig, MAHIMAHI_OVERHEAD, PacketOutcome, Shaper,
};
use kneepoint_emulator::packet::Packet;
use kneepoint_emulator::time::Nanos;
use kneepoint_emulator::trace::Trace;

use crate::trial::{FlowOutcome, LinkOutcome, Outcome, RttSample};
use crate::workload::Received;

mod delayed_oracle;
mod omniscient;

pub use delayed_oracle::delayed_oracle;
pub use omniscient::omniscient;

/// A link that follows `trace` and drops nothing.
fn link(trace: &Trace) -> Result<Link, ConfigError> {
    let config = LinkConfig {
        overhead: MAHIMAHI_OVERHEAD,
        log: true,
        ..LinkConfig::new(Shaper::Trace(trace.clone()))
    };
    Link::new(config, 0)
}

/// A packet that fills one opportunity.
fn packet() -> Packet {
    let address = |host| SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, host, 1)), 1);
    Packet {
        source: address(0),
        destination: address(1),
        ecn: None,
        payload: vec![0; PAYLOAD],
    }
}

/// What the link's log says of one flow, if the empty path's round-trip time is `rtt`.
fn outcome(link: &Link, rtt: Duration, duration: Duration) -> Outcome {
    let base = u64::try_from(rtt.as_nanos()).unwrap_or(u64::MAX);
    let bins = duration.as_nanos().div_ceil(Received::BIN.as_nanos());
    let mut flow = FlowOutcome {
        received: vec![0; usize::try_from(bins).unwrap_or(0)],
        ..FlowOutcome::default()
    };
    let link = LinkOutcome::new(link);
    for record in &link.records {
        let PacketOutcome::Sent { departure, .. } = record.outcome else {
            continue;
        };
        flow.rtts.push(RttSample {
            at: departure.0,
            rtt: (departure - record.arrival).0.saturating_add(base),
        });
        let bin = u128::from(departure.0) / Received::BIN.as_nanos();
        let bin = usize::try_from(bin).unwrap_or(usize::MAX);
        if let Some(bytes) = flow.received.get_mut(bin) {
            *bytes += PAYLOAD as u64;
        }
    }
    Outcome {
        duration,
        flows: vec![flow],
        links: [("forward".to_owned(), link)].into(),
    }
}

/// The latest arrival time for an opportunity: a packet that arrives at its time is too late.
fn just_before(time: Nanos) -> Nanos {
    Nanos(time.0.saturating_sub(1))
}

/// With mahimahi's overhead, what an opportunity carries.
const PAYLOAD: usize = 1504 - MAHIMAHI_OVERHEAD as usize;

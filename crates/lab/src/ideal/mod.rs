//! Senders that know what no controller can: what the others are measured by.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use kneepoint_emulator::link::{ConfigError, Link, LinkConfig, MAHIMAHI_OVERHEAD, Shaper};
use kneepoint_emulator::packet::Packet;
use kneepoint_emulator::time::Nanos;
use kneepoint_emulator::trace::Trace;

use crate::metrics::stats::nanos;
use crate::trial::{FlowOutcome, LinkOutcome, Outcome, RttSample};
use crate::workload::Received;

mod delayed_oracle;

pub use delayed_oracle::delayed_oracle;

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
    let base = nanos(rtt);
    let bins = duration.as_nanos().div_ceil(Received::BIN.as_nanos());
    let mut flow = FlowOutcome {
        received: vec![0; usize::try_from(bins).unwrap_or(0)],
        ..FlowOutcome::default()
    };
    let link = LinkOutcome::new(link);
    for record in &link.records {
        let (Some(departure), Some(wait)) = (record.departure(), record.wait()) else {
            continue;
        };
        flow.rtts.push(RttSample {
            at: departure.0,
            rtt: wait.0.saturating_add(base),
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

/// What it achieves over a link that follows `trace`, if the empty path's round-trip time is `rtt`.
///
/// It lets every packet arrive just when the link can carry it. So it fills the link without a queue: its round-trip time
/// is the empty path's, and nothing is dropped. What a controller falls short of it is the price of not knowing the future.
/// It has no transport: its goodput counts all of a datagram's payload.
///
/// # Errors
/// The link cannot be emulated.
pub fn omniscient(
    trace: &Trace,
    rtt: Duration,
    duration: Duration,
) -> Result<Outcome, ConfigError> {
    let mut link = link(trace)?;
    let end = Nanos::from(duration);
    for time in trace.opportunities().take_while(|time| *time <= end) {
        let arrival = just_before(time);
        link.poll(arrival, |_, _| {});
        link.offer(arrival, packet());
    }
    link.poll(end, |_, _| {});
    Ok(outcome(&link, rtt, duration))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_fills_the_link_without_a_queue() {
        let trace = Trace::from_millis(vec![5, 5, 9, 100], "gaps").unwrap();
        let (rtt, duration) = (Duration::from_millis(40), Duration::from_millis(300));
        let outcome = omniscient(&trace, rtt, duration).unwrap();
        let link = &outcome.links["forward"];
        let carried = link.delivered(Duration::ZERO, duration + Duration::from_nanos(1));
        assert_eq!(carried, trace.capacity(Nanos::ZERO, duration.into()));
        assert_eq!(link.statistics.all_dropped().packets, 0);
        let rtts = outcome.rtts(Duration::ZERO, 2 * duration);
        assert_eq!(rtts.len(), 12);
        assert!(rtts.iter().all(|&rtt| rtt == 40_000_001), "{rtts:?}");
    }
}

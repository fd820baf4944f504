//! What several tests share.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use kneepoint_emulator::link::{EnqueueResult, Link, LinkConfig, PacketOutcome};
use kneepoint_emulator::network::Network;
use kneepoint_emulator::packet::Packet;
use kneepoint_emulator::time::Nanos;

pub(crate) const fn ms(millis: u64) -> Nanos {
    Nanos::from_millis(millis)
}

pub(crate) fn address(last: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, last], 4433))
}

/// A packet whose payload has the given size and begins with a serial number.
pub(crate) fn packet(size: usize, serial: u8) -> Packet {
    let mut payload = vec![0; size];
    if let Some(first) = payload.first_mut() {
        *first = serial;
    }
    Packet {
        source: address(1),
        destination: address(2),
        ecn: None,
        payload,
    }
}

/// A packet of 1000 bytes.
pub(crate) fn packet_between(source: SocketAddr, destination: SocketAddr) -> Packet {
    Packet {
        source,
        destination,
        ..packet(1000, 0)
    }
}

/// A link whose sizes on the wire are the sizes of the payloads, with a log.
pub(crate) fn bare(config: LinkConfig) -> Link {
    Link::new(
        LinkConfig {
            overhead: 0,
            log: true,
            ..config
        },
        1,
    )
    .unwrap()
}

/// Offers packets of (time, size) to a link and returns when each departs, `None` for dropped.
pub(crate) fn departures(link: &mut Link, arrivals: &[(Nanos, usize)]) -> Vec<Option<Nanos>> {
    for &(now, size) in arrivals {
        let (EnqueueResult::Accepted | EnqueueResult::Dropped(_)) =
            link.offer(now, packet(size, 0));
    }
    drain(link);
    let records = link.log().unwrap().records().iter();
    records
        .map(|record| match record.outcome {
            PacketOutcome::Sent { departure, .. } => Some(departure),
            PacketOutcome::Dropped { .. } => None,
            PacketOutcome::Queued => panic!("{record:?} never left the queue"),
        })
        .collect()
}

/// Polls at each event until the link is empty; returns what is delivered.
pub(crate) fn drain(link: &mut Link) -> Vec<(Nanos, Packet)> {
    let mut delivered = Vec::new();
    while let Some(now) = link.next_event() {
        link.poll(now, |time, packet| delivered.push((time, packet)));
    }
    delivered
}

/// Where the logs of a real mm-link are.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mm-link")
}

/// Polls a network at each event until it is empty; returns times, sources and destinations of deliveries.
pub(crate) fn drain_network(network: &mut Network) -> Vec<(Nanos, SocketAddr, SocketAddr)> {
    let mut deliveries = Vec::new();
    while let Some(now) = network.next_event() {
        network.poll(now, &mut |time, packet| {
            assert_eq!(time, now);
            deliveries.push((time, packet.source, packet.destination));
        });
    }
    deliveries
}

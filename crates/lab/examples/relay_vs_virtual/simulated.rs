//! The upload in virtual time.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use kneepoint_emulator::link::{LinkConfig, PacketOutcome};
use kneepoint_emulator::network::{Direction, Network, NetworkConfig, Side};
use kneepoint_emulator::sim::{Simulation, endpoint_config};

use crate::{Outcome, Scenario, real, transfer};

pub(crate) fn run(scenario: &Scenario, seed: u64) -> Result<Outcome, Box<dyn Error>> {
    let (up, reverse) = scenario.links();
    let forward = LinkConfig { log: true, ..up };
    let network = Network::new(NetworkConfig {
        forward,
        reverse,
        seed,
    })?;
    let mut host = scenario.host.clone();
    if !host.is_ideal() {
        host.receive.buffer_bytes = real::receive_buffer()?;
    }
    let simulation = Simulation::builder()
        .tokio(false)
        .transmit_segments(SEGMENTS)
        .hosts(host)
        .build(network);
    let address: SocketAddr = "10.0.0.2:4433".parse()?;
    let server = simulation.endpoint(
        Side::Right,
        address,
        endpoint_config(1),
        Some(transfer::server()),
    )?;
    let mut client =
        simulation.endpoint(Side::Left, "10.0.0.1:0".parse()?, endpoint_config(2), None)?;
    client.set_default_client_config(transfer::client(&scenario.controller, seed)?);

    let received = Arc::new(AtomicU64::new(0));
    let handle = simulation.handle();
    handle.spawn(transfer::receive(server, Arc::clone(&received)));
    handle.spawn(async move {
        // It ends with the simulation.
        let _ = transfer::upload(client, address).await;
    });
    simulation.run_until(scenario.duration.into())?;

    let mut outcome = Outcome {
        goodput_bytes: received.load(Ordering::Relaxed),
        ..Outcome::default()
    };
    simulation.with_network(|network| {
        let link = network.link(Direction::Forward);
        outcome.dropped = link.statistics().all_dropped().packets;
        for record in link.log().map_or(&[][..], |log| log.records()) {
            if let PacketOutcome::Sent { departure, .. } = record.outcome {
                outcome.packets += 1;
                outcome.queueing += (departure - record.arrival).into();
            }
        }
    });
    Ok(outcome)
}

/// As many datagrams as quinn passes to a real socket at once.
const SEGMENTS: usize = 10;

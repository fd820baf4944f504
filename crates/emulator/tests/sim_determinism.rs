//! The same seeds give the same packets, in this process and in another.
#![cfg(feature = "quinn")]
#![allow(clippy::unwrap_used, reason = "this is test code")]

mod sim_support;

use std::process::Command;
use std::time::Duration;

use kneepoint_emulator::link::LinkConfig;
use kneepoint_emulator::network::Direction;
use kneepoint_emulator::sim::Simulation;
use sim_support::{bytes, client, connect, discard, link, network, serve, upload};

/// The time, size and fate of every packet of a busy run: two clients, loss, streams, datagrams,
/// a resumed connection and closes.
fn trace(segments: usize) -> Vec<String> {
    let lossy = LinkConfig {
        loss: 0.005.into(),
        ..link()
    };
    let sim = Simulation::builder()
        .transmit_segments(segments)
        .build(network(lossy));
    let handle = sim.handle();
    serve(&sim, discard);
    let data = bytes(600_000);
    sim.block_on(async {
        let uploads = [1, 2].map(|n| {
            let (endpoint, data) = (client(&handle, n), data.clone());
            let clock = handle.clone();
            handle.spawn(async move {
                for _ in 0..2 {
                    let connection = connect(&endpoint).await;
                    let datagram = vec![n; 300];
                    connection.send_datagram(datagram.into()).unwrap();
                    upload(&connection, &data).await;
                    clock.sleep(Duration::from_millis(100)).await;
                    connection.close(0u32.into(), b"");
                }
                endpoint.wait_idle().await;
            })
        });
        for upload in uploads {
            upload.await;
        }
    })
    .unwrap();
    sim.with_network(|network| {
        [Direction::Forward, Direction::Reverse]
            .into_iter()
            .flat_map(|direction| network.link(direction).log().unwrap().records())
            .map(|record| format!("{record:?}"))
            .collect()
    })
}

/// FNV-1a, which is the same in every process.
fn hash(trace: &[String]) -> u64 {
    let bytes = trace.iter().flat_map(|line| line.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[test]
fn two_runs_in_one_process_are_the_same() {
    for segments in [1, 10] {
        let (first, second) = (trace(segments), trace(segments));
        assert!(first.len() > 2000);
        let difference = first.iter().zip(&second).find(|(one, other)| one != other);
        assert_eq!(difference, None);
        assert_eq!(first.len(), second.len());
    }
}

#[test]
fn two_processes_are_the_same() {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "print_the_hash", "--ignored", "--nocapture"])
        .output()
        .unwrap();
    assert!(child.status.success());
    let output = String::from_utf8(child.stdout).unwrap();
    let expected = format!("hash {:016x}", hash(&trace(10)));
    assert!(output.contains(&expected), "{expected} is not in {output}");
}

#[test]
#[ignore = "run by two_processes_are_the_same, in a process of its own"]
fn print_the_hash() {
    println!("hash {:016x}", hash(&trace(10)));
}

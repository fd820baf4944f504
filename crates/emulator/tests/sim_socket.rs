//! The sockets that quinn sends and receives through.
#![cfg(feature = "quinn")]
#![allow(clippy::unwrap_used, reason = "this is test code")]

mod sim_support;

use std::future::poll_fn;
use std::io::IoSliceMut;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use kneepoint_emulator::network::{Direction, Side};
use kneepoint_emulator::sim::{Handle, Socket};
use kneepoint_emulator::time::Nanos;
use quinn::AsyncUdpSocket;
use quinn::udp::{EcnCodepoint, RecvMeta, Transmit};
use sim_support::{DELAY, simulation};

const LEFT: &str = "10.0.0.1:1";
const RIGHT: &str = "10.0.0.2:2";

fn pair(handle: &Handle) -> (Arc<Socket>, Arc<Socket>) {
    let bind = |side, address: &str| handle.bind(side, address.parse().unwrap()).unwrap();
    (bind(Side::Left, LEFT), bind(Side::Right, RIGHT))
}

fn transmit<'a>(to: &str, contents: &'a [u8]) -> Transmit<'a> {
    Transmit {
        destination: to.parse().unwrap(),
        ecn: None,
        contents,
        segment_size: None,
        src_ip: None,
    }
}

/// Waits for datagrams and takes up to four, of up to 100 bytes.
async fn receive(socket: &Socket) -> Vec<(RecvMeta, Vec<u8>)> {
    let mut buffers = [[0; 100]; 4];
    let mut meta = [RecvMeta::default(); 4];
    let count = poll_fn(|cx| {
        let mut slices = buffers.each_mut().map(|buffer| IoSliceMut::new(buffer));
        socket.poll_recv(cx, &mut slices, &mut meta)
    })
    .await
    .unwrap();
    let datagrams = meta.iter().zip(&buffers).take(count);
    datagrams
        .map(|(meta, buffer)| (*meta, buffer[..meta.len].to_vec()))
        .collect()
}

#[test]
fn metadata_is_complete() {
    let sim = simulation();
    let (left, right) = pair(&sim.handle());
    left.try_send(&transmit(RIGHT, b"hello")).unwrap();
    let received = sim.block_on(receive(&right)).unwrap();
    let [(meta, data)] = &received[..] else {
        panic!("{received:?}");
    };
    assert_eq!(data, b"hello");
    assert_eq!(meta.addr, LEFT.parse::<SocketAddr>().unwrap());
    assert_eq!((meta.len, meta.stride), (5, 5));
    assert_eq!(meta.dst_ip, Some("10.0.0.2".parse().unwrap()));
    assert_eq!(meta.ecn, None);
    assert!(!left.may_fragment());
    assert_eq!(left.local_addr().unwrap(), LEFT.parse().unwrap());
}

#[test]
fn ecn_codepoints_pass_both_ways() {
    let sim = simulation();
    let (left, right) = pair(&sim.handle());
    for ecn in [EcnCodepoint::Ect0, EcnCodepoint::Ect1, EcnCodepoint::Ce].map(Some) {
        let there = Transmit {
            ecn,
            ..transmit(RIGHT, b"there")
        };
        let back = Transmit {
            ecn,
            ..transmit(LEFT, b"back")
        };
        left.try_send(&there).unwrap();
        right.try_send(&back).unwrap();
        for socket in [&left, &right] {
            let received = sim.block_on(receive(socket)).unwrap();
            assert_eq!(received[0].0.ecn, ecn);
        }
    }
}

#[test]
fn segments_are_datagrams_that_enter_the_network_at_once() {
    let sim = simulation();
    let handle = sim.handle();
    let (left, right) = pair(&handle);
    let contents = [[1; 40], [2; 40], [3; 40]].concat();
    let segmented = Transmit {
        segment_size: Some(40),
        ..transmit(RIGHT, &contents[..100])
    };
    left.try_send(&segmented).unwrap();
    sim.run_until(DELAY.into()).unwrap();
    let records = sim.with_network(|network| {
        let log = network.link(Direction::Forward).log().unwrap();
        log.records()
            .iter()
            .map(|record| (record.arrival, record.size))
            .collect::<Vec<_>>()
    });
    let sizes = [40 + 28, 40 + 28, 20 + 28];
    assert_eq!(records, sizes.map(|size| (Nanos::ZERO, size)));

    // They arrive one serialization time after the other, and wait for a reader.
    sim.run_until(Nanos::from_millis(30)).unwrap();
    let received = sim.block_on(receive(&right)).unwrap();
    let data: Vec<_> = received.iter().map(|(_, data)| data.as_slice()).collect();
    assert_eq!(data, [&[1; 40][..], &[2; 40], &[3; 20]]);
}

#[test]
fn packets_to_an_unbound_address_are_dropped() {
    let sim = simulation();
    let handle = sim.handle();
    let (left, right) = pair(&handle);
    left.try_send(&transmit(RIGHT, b"lost")).unwrap();
    drop(right);
    sim.run_until(Nanos::from_millis(100)).unwrap();
    let right = handle.bind(Side::Right, RIGHT.parse().unwrap()).unwrap();
    let nothing = sim.block_on(handle.timeout(Duration::from_secs(1), receive(&right)));
    assert!(nothing.unwrap().is_err());
}

#[test]
fn datagrams_longer_than_the_buffer_are_cut_off() {
    let sim = simulation();
    let (left, right) = pair(&sim.handle());
    left.try_send(&transmit(RIGHT, &[7; 150])).unwrap();
    let received = sim.block_on(receive(&right)).unwrap();
    assert_eq!(received[0].1, [7; 100]);
}

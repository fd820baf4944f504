//! Addresses that change in the middle of a transfer.

use std::net::{Ipv4Addr, SocketAddr};

use crate::frontier::{Path, seconds};
use crate::torture::case::{Case, Change};
use crate::torture::fault::Fault;
use crate::trial::{client_address, receiver_address};

pub(super) fn cases() -> Vec<Case> {
    let wifi = || Path::constant(50.0, 20.0, 2.0);
    let cellular = || Path::constant(10.0, 60.0, 2.0);
    let case = |name: &str, change| {
        Case::bulk(Fault::Address, name, wifi(), seconds(START), seconds(REST)).change(change)
    };
    let port = |address: SocketAddr| {
        Change::Rebinding(SocketAddr::new(
            address.ip(),
            address.port().saturating_add(PORTS),
        ))
    };
    let host = |address: SocketAddr| {
        Change::Rebinding(SocketAddr::new(
            Ipv4Addr::new(10, 0, 3, 1).into(),
            address.port(),
        ))
    };
    // A receiver that is cut off is silent: its connection lives or dies after the idle timeout.
    let patient = |name, change| {
        Case::bulk(
            Fault::Address,
            name,
            wifi(),
            seconds(START),
            seconds(PATIENCE),
        )
        .change(change)
        .download()
    };
    // In QUIC the client's address may change. It sends in an upload, and receives in a download.
    vec![
        case("new port, upload", port(client_address(0))),
        patient("new port, download", port(receiver_address(0))),
        case("new address, upload", host(client_address(0))),
        patient("new address, download", host(receiver_address(0))),
        case(
            "migration to 10Mbps 60ms, upload",
            Change::Migration(cellular()),
        ),
        case(
            "migration to 10Mbps 60ms, download",
            Change::Migration(cellular()),
        )
        .download(),
    ]
}

/// A port that nobody has.
const PORTS: u16 = 1000;

/// When the address changes, and how long the run goes on, in seconds.
const START: f64 = 5.0;
const REST: f64 = 12.0;
const PATIENCE: f64 = 35.0;

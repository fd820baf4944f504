//! A file server over QUIC on a real socket. Each second it prints throughput, round-trip time and the state of its
//! congestion controller. Three terminals put it behind an emulated LTE link:
//!
//! ```text
//! cargo run --release --example server
//! cargo run --release -- relay --listen 127.0.0.1:4433 --to 127.0.0.1:4434 --down traces/lte-driving-fast.trace --delay 20ms
//! cargo run --release --example client -- /20000000
//! ```
//!
//! `--controller bbr` after a second `--` chooses another controller, or the variable KNEEPOINT_CONTROLLER does;
//! `quinn-cubic` is quinn's own. `--qlog FOLDER` writes a file for each connection, and the variable SSLKEYLOGFILE names one for
//! the keys of all: docs/OPERATING.md. A path that is a number asks for so many bytes, any other for a file in `--root`.
#![expect(clippy::print_stdout, reason = "that is what it is for")]

#[allow(dead_code, reason = "the other half is the client's")]
mod net;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Parser;
use quinn::Endpoint;

/// Serves files with HTTP/0.9 over QUIC.
#[derive(Debug, Parser)]
struct Arguments {
    /// Where to listen
    #[arg(long, default_value = "127.0.0.1:4434")]
    listen: SocketAddr,
    /// The congestion controller: knee, bbr:tuned, quinn-cubic ...
    #[arg(long, env = "KNEEPOINT_CONTROLLER", default_value = "knee")]
    controller: net::controller::Choice,
    /// The folder to serve
    #[arg(long, default_value = "traces")]
    root: PathBuf,
    /// Where to write the certificate, which is made anew each time
    #[arg(long, default_value = "target/kneepoint/server.pem")]
    certificate: PathBuf,
    /// Where to write a qlog file for each connection
    #[arg(long)]
    qlog: Option<PathBuf>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> net::Result<()> {
    let arguments = Arguments::parse();
    let controller = arguments.controller;
    let config = net::tls::server_config(&arguments.certificate, controller.clone())?;
    let qlog = arguments
        .qlog
        .map(|folder| net::qlog::Qlog::new(folder, config.clone(), controller))
        .transpose()?;
    let endpoint = Endpoint::server(config, arguments.listen)?;
    println!("listening on {}", endpoint.local_addr()?);
    net::serve::serve(endpoint, arguments.root, qlog, |line| println!("{line}")).await;
    Ok(())
}

//! Downloads a file from `server.rs`, through `kneepoint relay` unless told otherwise; `server.rs` has the commands. Each
//! second it prints throughput and round-trip time.
//!
//! ```text
//! cargo run --release --example client -- /20000000
//! cargo run --release --example client -- /3g.trace --output target/kneepoint/3g.trace --server 127.0.0.1:4434
//! ```
#![expect(clippy::print_stdout, reason = "that is what it is for")]

#[allow(dead_code, reason = "the other half is the server's")]
mod net;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Parser;

/// Downloads a file with HTTP/0.9 over QUIC.
#[derive(Debug, Parser)]
struct Arguments {
    /// What to download: a number asks for so many bytes
    path: String,
    /// Where the server or a relay to it is
    #[arg(long, default_value = "127.0.0.1:4433")]
    server: SocketAddr,
    /// The congestion controller of what little the client sends: knee, bbr:tuned, quinn-cubic ...
    #[arg(long, env = "KNEEPOINT_CONTROLLER", default_value = "knee")]
    controller: net::controller::Choice,
    /// The certificate that the server has written
    #[arg(long, default_value = "target/kneepoint/server.pem")]
    certificate: PathBuf,
    /// Where to write the file [default: nowhere]
    #[arg(long)]
    output: Option<PathBuf>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> net::Result<()> {
    let arguments = Arguments::parse();
    let config = net::tls::client_config(&arguments.certificate, arguments.controller)?;
    let mut output: Box<dyn Write> = match &arguments.output {
        Some(path) => Box::new(BufWriter::new(File::create(path)?)),
        None => Box::new(io::sink()),
    };
    let received = net::download::download(
        config,
        arguments.server,
        &arguments.path,
        |bytes| output.write_all(bytes),
        |line| println!("{line}"),
    )
    .await?;
    output.flush()?;
    println!("{received} bytes");
    Ok(())
}

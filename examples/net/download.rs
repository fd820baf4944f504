//! The client.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use quinn::{ClientConfig, Endpoint};

use super::Result;
use super::report::report;

/// Downloads `path` and hands over its bytes as they come; `print` gets a line each second. Returns how many there were.
pub(crate) async fn download(
    config: ClientConfig,
    server: SocketAddr,
    path: &str,
    mut take: impl FnMut(&[u8]) -> std::io::Result<()>,
    print: fn(&str),
) -> Result<u64> {
    let any: SocketAddr = match server {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let endpoint = Endpoint::client(any)?;
    let connection = endpoint.connect_with(config, server, "localhost")?.await?;
    tokio::spawn(report(connection.clone(), print));
    let (mut request, mut reply) = connection.open_bi().await?;
    request
        .write_all(format!("GET {path}\r\n").as_bytes())
        .await?;
    request.finish()?;
    let mut received = 0;
    while let Some(chunk) = reply.read_chunk(usize::MAX, true).await? {
        take(&chunk.bytes)?;
        received += chunk.bytes.len() as u64;
    }
    connection.close(0u32.into(), b"done");
    endpoint.wait_idle().await;
    Ok(received)
}

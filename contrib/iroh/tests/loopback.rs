//! A transfer between two endpoints of this machine, without relays or discovery.

use std::error::Error;
use std::time::Duration;

use iroh::endpoint::{PathId, presets};
use iroh::{Endpoint, EndpointAddr, RelayMode};
use iroh_with_knee::{snapshot, transport_config};
use tokio::time::timeout;

const ALPN: &[u8] = b"kneepoint/transfer";
const BYTES: usize = 1_000_000;

type Failure = Box<dyn Error + Send + Sync>;

#[tokio::test]
async fn an_endpoint_sends_with_knee() -> Result<(), Failure> {
    timeout(Duration::from_secs(60), transfer()).await?
}

async fn endpoint() -> Result<Endpoint, Failure> {
    let builder = Endpoint::builder(presets::Minimal)
        .relay_mode(RelayMode::Disabled)
        .clear_ip_transports()
        .bind_addr("127.0.0.1:0")?
        .alpns(vec![ALPN.to_vec()])
        .transport_config(transport_config());
    Ok(builder.bind().await?)
}

async fn transfer() -> Result<(), Failure> {
    let (server, client) = (endpoint().await?, endpoint().await?);
    let mut address = EndpointAddr::new(server.id());
    for socket in server.bound_sockets() {
        address = address.with_ip_addr(socket);
    }
    let serve = async {
        let incoming = server.accept().await.ok_or("closed")?;
        let connection = incoming.await?;
        let mut stream = connection.open_uni().await?;
        stream.write_all(&vec![b'.'; BYTES]).await?;
        stream.finish()?;
        stream.stopped().await?;
        let seen = snapshot(&connection, PathId::ZERO).ok_or("the controller is another one")?;
        assert_eq!(seen.algorithm, "knee");
        assert!(seen.bandwidth.is_some());
        Ok::<_, Failure>(connection)
    };
    let fetch = async {
        let connection = client.connect(address, ALPN).await?;
        let received = connection.accept_uni().await?.read_to_end(BYTES).await?;
        assert_eq!(received.len(), BYTES);
        Ok::<_, Failure>(connection)
    };
    let _connections = tokio::try_join!(serve, fetch)?;
    Ok(())
}

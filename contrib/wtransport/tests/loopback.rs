//! A transfer over loopback sockets: the server's connection has Kneepoint's controller.

use std::error::Error;
use std::time::Duration;

use tokio::time::timeout;
use wtransport::{ClientConfig, Endpoint, Identity};
use wtransport_with_knee::server_config;

const BYTES: usize = 1_000_000;

#[tokio::test]
async fn the_server_sends_with_knee() -> Result<(), Box<dyn Error>> {
    timeout(Duration::from_secs(60), transfer()).await?
}

async fn transfer() -> Result<(), Box<dyn Error>> {
    let identity = Identity::self_signed(["localhost"])?;
    let certificate = identity.certificate_chain().as_slice()[0].hash();
    let server = Endpoint::server(server_config("127.0.0.1:0".parse()?, identity))?;
    let url = format!("https://localhost:{}/", server.local_addr()?.port());

    let serve = async {
        let session = server.accept().await.await?;
        let connection = session.accept().await?;
        let mut stream = connection.open_uni().await?.await?;
        stream.write_all(&vec![b'.'; BYTES]).await?;
        stream.finish().await?;
        let state = connection.quic_connection().congestion_state();
        let seen = kneepoint::quinn::snapshot(state).ok_or("the controller is another one")?;
        assert_eq!(seen.algorithm, "knee");
        assert!(seen.bandwidth.is_some());
        Ok::<_, Box<dyn Error>>(connection)
    };
    let fetch = async {
        let config = ClientConfig::builder()
            .with_bind_address("127.0.0.1:0".parse()?)
            .with_server_certificate_hashes([certificate])
            .build();
        let connection = Endpoint::client(config)?.connect(url).await?;
        let mut stream = connection.accept_uni().await?;
        let mut received = 0;
        let mut block = vec![0; 1 << 16];
        while let Some(bytes) = stream.read(&mut block).await? {
            received += bytes;
        }
        assert_eq!(received, BYTES);
        Ok::<_, Box<dyn Error>>(connection)
    };
    let _connections = tokio::try_join!(serve, fetch)?;
    Ok(())
}

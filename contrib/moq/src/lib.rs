//! A broadcast over Media over QUIC: an origin that publishes, and one that subscribes, over any quinn connections.

use std::error::Error;

use moq_net::origin::{Config, Producer};
use moq_net::{Client, Hop, Server, Session};
use web_transport_quinn::Session as Transport;

/// Any error.
pub type Failure = Box<dyn Error + Send + Sync>;

/// An origin, whose driver runs in a task of its own.
pub fn origin(hop: u64) -> Result<Producer, Failure> {
    let (producer, driver) = Producer::new(Config::new(Hop::new(hop)?));
    tokio::spawn(moq_net::time::run(driver));
    Ok(producer)
}

/// The side that accepts, and publishes what the origin has.
pub async fn publish(connection: quinn::Connection, origin: &Producer) -> Result<Session, Failure> {
    let server = Server::new().with_publisher(origin);
    let (session, driver) = server.accept(now(), Transport::raw(connection)).await?;
    tokio::spawn(moq_net::time::run(driver));
    Ok(session)
}

/// The side that connects, and subscribes into the origin.
pub async fn subscribe(
    connection: quinn::Connection,
    origin: Producer,
) -> Result<Session, Failure> {
    let client = Client::new().with_subscriber(origin);
    let (session, driver) = client.connect(now(), Transport::raw(connection)).await?;
    tokio::spawn(moq_net::time::run(driver));
    Ok(session)
}

/// Tokio's time, which is virtual within a simulation.
fn now() -> moq_net::time::Instant {
    tokio::time::Instant::now().into_std()
}

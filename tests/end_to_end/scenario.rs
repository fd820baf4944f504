//! One upload over the bundled LTE trace.

use std::sync::Arc;

use kneepoint::emulator::link::{LinkConfig, Record};
use kneepoint::emulator::network::{Direction, Network, NetworkConfig, Side};
use kneepoint::emulator::sim::{Simulation, endpoint_config, tls};
use kneepoint::emulator::time::Nanos;
use kneepoint::quinn::{Factory, snapshot};
use kneepoint::{ControllerSpec, Snapshot};
use quinn::{Connection, ConnectionError, Endpoint, TransportConfig};

use crate::uploads::{fast, lte, served, server_address};

/// A client that sends to a server: 40 ms of round-trip time, 3 MB of queue.
pub(crate) struct Scenario {
    pub(crate) spec: ControllerSpec,
    pub(crate) loss: f64,
    pub(crate) seed: u64,
}

/// The outcome of an upload without an end.
pub(crate) struct Outcome {
    /// Bytes on the wire that the link has served.
    pub(crate) served: u64,
    pub(crate) closed: Option<ConnectionError>,
    /// Every packet of both directions.
    pub(crate) log: Vec<Record>,
}

impl Scenario {
    pub(crate) fn new(spec: ControllerSpec) -> Self {
        Self {
            spec,
            loss: 0.0,
            seed: 1,
        }
    }

    /// Sends `data`; returns what the server read, and the sender's state when it had all been acknowledged.
    pub(crate) fn transfer(&self, data: &[u8]) -> (Vec<u8>, Option<Snapshot>) {
        let sim = self.simulation();
        let (server, client) = self.endpoints(&sim);
        let reader = sim.handle().spawn(async move {
            let connection = server.accept().await.unwrap().await.unwrap();
            let mut stream = connection.accept_uni().await.unwrap();
            let data = stream.read_to_end(usize::MAX).await.unwrap();
            connection.closed().await;
            data
        });
        sim.block_on(async {
            let connection = connect(&client).await;
            let mut stream = connection.open_uni().await.unwrap();
            stream.write_all(data).await.unwrap();
            stream.finish().unwrap();
            stream.stopped().await.unwrap();
            let snapshot = snapshot(connection.congestion_state());
            connection.close(0u32.into(), b"");
            (reader.await, snapshot)
        })
        .unwrap()
    }

    /// Sends as much as the controller lets it until `deadline`.
    pub(crate) fn fill(&self, deadline: Nanos) -> Outcome {
        let sim = self.simulation();
        let (server, client) = self.endpoints(&sim);
        sim.handle().spawn(async move {
            let connection = server.accept().await.unwrap().await.unwrap();
            let mut stream = connection.accept_uni().await.unwrap();
            while let Ok(Some(_)) = stream.read_chunk(usize::MAX, true).await {}
        });
        let connection = sim.block_on(connect(&client)).unwrap();
        let sender = connection.clone();
        sim.handle().spawn(async move {
            let mut stream = sender.open_uni().await.unwrap();
            while stream.write_all(&[0; 1 << 16]).await.is_ok() {}
        });
        sim.run_until(deadline).unwrap();
        let log: Vec<Record> = sim.with_network(|network| {
            [Direction::Forward, Direction::Reverse]
                .into_iter()
                .filter_map(|direction| network.link(direction).log())
                .flat_map(|log| log.records().iter().copied())
                .collect()
        });
        Outcome {
            served: sim.with_network(|network| {
                let log = network.link(Direction::Forward).log().unwrap();
                served(log.records(), Nanos::ZERO, deadline)
            }),
            closed: connection.close_reason(),
            log,
        }
    }

    fn simulation(&self) -> Simulation {
        let config = NetworkConfig {
            forward: LinkConfig {
                loss: self.loss.into(),
                ..lte()
            },
            reverse: fast(),
            seed: self.seed,
        };
        Simulation::new(Network::new(config).unwrap())
    }

    /// The server's and the client's.
    fn endpoints(&self, sim: &Simulation) -> (Endpoint, Endpoint) {
        let server = Some(tls::server_config());
        let server = sim.endpoint(Side::Right, server_address(), endpoint_config(1), server);
        let address = "10.0.0.1:0".parse().unwrap();
        let client = sim.endpoint(Side::Left, address, endpoint_config(2), None);
        let mut client = client.unwrap();

        let mut transport = TransportConfig::default();
        let factory = Factory::from(self.spec.clone()).seed(self.seed);
        transport.congestion_controller_factory(Arc::new(factory));
        let mut config = tls::client_config();
        config.transport_config(Arc::new(transport));
        client.set_default_client_config(config);
        (server.unwrap(), client)
    }
}

async fn connect(client: &Endpoint) -> Connection {
    let connecting = client.connect(server_address(), tls::SERVER_NAME);
    connecting.unwrap().await.unwrap()
}

//! One upload over noq.

use std::sync::Arc;

use kneepoint::emulator::link::{LinkConfig, Record};
use kneepoint::emulator::network::{Direction, Network, NetworkConfig, Side};
use kneepoint::emulator::sim::Simulation;
use kneepoint::emulator::sim::noq::{endpoint, endpoint_config, tls};
use kneepoint::emulator::time::Nanos;
use kneepoint::noq::{Factory, snapshot};
use kneepoint::{ControllerSpec, Snapshot};
use noq::{Connection, ConnectionError, Endpoint, PathId, TransportConfig};

use crate::uploads::{fast, server_address};

/// A client that sends to a server over a link, and 20 ms back.
pub(crate) struct Scenario {
    pub(crate) sim: Simulation,
    pub(crate) client: Endpoint,
    server: Endpoint,
}

/// The outcome of an upload without an end.
pub(crate) struct Outcome {
    pub(crate) closed: Option<ConnectionError>,
    pub(crate) snapshot: Option<Snapshot>,
    /// The packets of the forward link.
    pub(crate) log: Vec<Record>,
}

impl Scenario {
    pub(crate) fn new(spec: ControllerSpec, forward: LinkConfig) -> Self {
        let config = NetworkConfig {
            forward,
            reverse: fast(),
            seed: 1,
        };
        let sim = Simulation::new(Network::new(config).unwrap());
        let handle = sim.handle();
        let open = |side, address, seed, config| {
            endpoint(&handle, side, address, endpoint_config(seed), config).unwrap()
        };
        let server = open(Side::Right, server_address(), 1, Some(tls::server_config()));
        let client = open(Side::Left, "10.0.0.1:0".parse().unwrap(), 2, None);

        let mut transport = TransportConfig::default();
        let factory = Factory::from(spec).seed(1);
        transport.congestion_controller_factory(Arc::new(factory));
        let mut config = tls::client_config();
        config.transport_config(Arc::new(transport));
        client.set_default_client_config(config);
        Self {
            sim,
            client,
            server,
        }
    }

    /// Sends `data`, and calls `midway` when half of it is written; returns what the server read.
    pub(crate) fn transfer(&self, data: &[u8], midway: impl FnOnce(&Connection)) -> Vec<u8> {
        let server = self.server.clone();
        let reader = self.sim.handle().spawn(async move {
            let connection = server.accept().await.unwrap().await.unwrap();
            let mut stream = connection.accept_uni().await.unwrap();
            let data = stream.read_to_end(usize::MAX).await.unwrap();
            connection.closed().await;
            data
        });
        self.sim
            .block_on(async {
                let connection = connect(&self.client).await;
                let mut stream = connection.open_uni().await.unwrap();
                let (first, second) = data.split_at(data.len() / 2);
                stream.write_all(first).await.unwrap();
                midway(&connection);
                stream.write_all(second).await.unwrap();
                stream.finish().unwrap();
                stream.stopped().await.unwrap();
                connection.close(0u32.into(), b"");
                reader.await
            })
            .unwrap()
    }

    /// Sends as much as the controller lets it until `deadline`.
    pub(crate) fn fill(&self, deadline: Nanos) -> Outcome {
        let (sim, server) = (&self.sim, self.server.clone());
        sim.handle().spawn(async move {
            let connection = server.accept().await.unwrap().await.unwrap();
            let mut stream = connection.accept_uni().await.unwrap();
            while let Ok(Some(_)) = stream.read_chunk(usize::MAX).await {}
        });
        let connection = sim.block_on(connect(&self.client)).unwrap();
        let sender = connection.clone();
        sim.handle().spawn(async move {
            let mut stream = sender.open_uni().await.unwrap();
            while stream.write_all(&[0; 1 << 16]).await.is_ok() {}
        });
        sim.run_until(deadline).unwrap();
        Outcome {
            closed: connection.close_reason(),
            snapshot: connection.congestion_state(PathId::ZERO).and_then(snapshot),
            log: sim.with_network(|network| {
                let log = network.link(Direction::Forward).log().unwrap();
                log.records().to_vec()
            }),
        }
    }
}

async fn connect(client: &Endpoint) -> Connection {
    let connecting = client.connect(server_address(), tls::SERVER_NAME);
    connecting.unwrap().await.unwrap()
}

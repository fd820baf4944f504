//! Runs a scenario and judges it.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kneepoint::emulator::sim::{Net, Testbed, tls};
use kneepoint::emulator::time::Nanos;
use proptest::test_runner::TestCaseError;
use quinn::{Connection, ConnectionError, Endpoint, RecvStream, SendStream};

use crate::scenario::{Flow, Scenario};

/// What is known of a flow while it runs.
#[derive(Debug, Default)]
struct Progress {
    /// Bytes that the applications have read, upwards and downwards.
    read: [AtomicU64; 2],
    closed: Mutex<Option<ConnectionError>>,
}

/// Runs a scenario; returns how many times it was checked that a flow makes progress.
pub(crate) fn check(scenario: &Scenario) -> Result<u32, TestCaseError> {
    let bed = Testbed::new(scenario.network(), scenario.seed);
    let flows: Vec<Arc<Progress>> = scenario.flows.iter().map(|_| Arc::default()).collect();
    let samples = bed.run(async |net| {
        for (number, (flow, progress)) in scenario.flows.iter().zip(&flows).enumerate() {
            start(&net, scenario, number, flow, progress)?;
        }
        let mut samples = Vec::new();
        while net.now() < scenario.duration {
            net.sleep(STEP).await;
            samples.push(flows.iter().map(|flow| flow.sample()).collect::<Vec<_>>());
        }
        Ok::<_, io::Error>(samples)
    });
    let samples = samples.map_err(|error| TestCaseError::fail(error.to_string()))?;
    let samples = samples.map_err(|error| TestCaseError::fail(error.to_string()))?;
    judge(scenario, &flows, &samples)
}

fn judge(
    scenario: &Scenario,
    flows: &[Arc<Progress>],
    samples: &[Vec<[u64; 2]>],
) -> Result<u32, TestCaseError> {
    // After an outage, the next probe comes up to as long after it as it has lasted (RFC 9002, section 6.2).
    let recovering = scenario.outages().into_iter().map(|outage| {
        let length = outage.to - outage.from;
        (outage.from, outage.to + length + Nanos::from(STEP))
    });
    let recovering: Vec<_> = recovering.collect();
    let patience = PATIENCE + scenario.max_trip();
    let steps = (patience.0 / Nanos::from(STEP).0) as usize + 1;
    let time = |place: usize| Nanos(Nanos::from(STEP).0 * (place as u64 + 1));
    let clear: Vec<_> = (steps..samples.len())
        .map(|place| (place - steps, place))
        .filter(|(from, to)| {
            let broken = |outage: &(Nanos, Nanos)| outage.0 < time(*to) && time(*from) < outage.1;
            !recovering.iter().any(broken)
        })
        .collect();
    let alone = scenario.flows.len() == 1;
    for (number, (flow, progress)) in scenario.flows.iter().zip(flows).enumerate() {
        let closed = progress.closed.lock().unwrap().clone();
        let rightly = match closed {
            None => true,
            // One that is done times out, and one that competitors leave nothing.
            Some(ConnectionError::TimedOut) => !alone || progress.is_done(flow),
            Some(_) => false,
        };
        if !rightly {
            return Err(TestCaseError::fail(format!(
                "flow {number} closed: {closed:?}"
            )));
        }
    }
    let mut checked = 0;
    for (direction, &(from, to)) in clear.iter().flat_map(|span| [(0, span), (1, span)]) {
        // A flow alone must make progress; of several, at least one: some controllers do not care for losses, and may
        // leave the others nothing but their probes.
        let [before, after] = [from, to].map(|place| &samples[place]);
        let flows = scenario.flows.iter().enumerate();
        let unfinished: Vec<usize> = flows
            .filter(|(_, flow)| flow.start <= time(from))
            .filter(|(number, flow)| before[*number][direction] < [flow.up, flow.down][direction])
            .map(|(number, _)| number)
            .collect();
        let stuck = |number: &usize| before[*number][direction] == after[*number][direction];
        checked += u32::from(!unfinished.is_empty());
        // While its window is full and data waits, quinn-proto 0.11 holds acknowledgements back as well
        // (`Connection::poll_transmit`), which RFC 9002, section 7, exempts. Two ends that both send may then wait for
        // each other until a probe timeout, which can be tens of seconds on a path that others have made slow.
        let both = |number: &usize| {
            let flow = &scenario.flows[*number];
            before[*number][0] < flow.up && before[*number][1] < flow.down
        };
        let held_back = !alone && before != after && unfinished.iter().any(both);
        if !unfinished.is_empty() && unfinished.iter().all(stuck) && !held_back {
            let (from, to) = (time(from), time(to));
            return Err(TestCaseError::fail(format!(
                "direction {direction}: no progress of flows {unfinished:?} from {from} to {to}"
            )));
        }
    }
    Ok(checked)
}

fn start(
    net: &Net,
    scenario: &Scenario,
    number: usize,
    flow: &Flow,
    progress: &Arc<Progress>,
) -> io::Result<()> {
    let (from, to) = scenario.ends(number, flow.skips);
    let seed = scenario.seed ^ number as u64;
    let mut config = tls::server_config();
    config.transport_config(flow.controller.transport(seed));
    let server = net.server_at(&*to, config)?;
    let address = server.local_addr()?;
    let mut config = tls::client_config();
    config.transport_config(flow.controller.transport(!seed));
    let client = net.client_at(&*from, config)?;

    let Flow {
        up, down, start, ..
    } = *flow;
    let (tasks, at_server) = (net.clone(), Arc::clone(progress));
    net.spawn_named(format!("server {number}"), async move {
        // A handshake that fails shows at the client.
        while let Some(incoming) = server.accept().await {
            if let Ok(connection) = incoming.await
                && let Ok((send, recv)) = connection.accept_bi().await
            {
                tasks.spawn(write(send, down));
                tasks.spawn(read(recv, Arc::clone(&at_server), 0));
                connection.closed().await;
            }
        }
    });
    let (tasks, at_client) = (net.clone(), Arc::clone(progress));
    net.spawn_named(format!("client {number}"), async move {
        tasks.handle().sleep_until(start).await;
        if let Err(reason) = talk(&tasks, &client, address, up, &at_client).await {
            *at_client.closed.lock().unwrap() = Some(reason);
        }
    });
    Ok(())
}

/// Talks to a server until the connection closes, which it should not.
async fn talk(
    net: &Net,
    client: &Endpoint,
    server: SocketAddr,
    up: u64,
    progress: &Arc<Progress>,
) -> Result<(), ConnectionError> {
    let connecting = client.connect(server, tls::SERVER_NAME).unwrap();
    let connection: Connection = connecting.await?;
    let (send, recv) = connection.open_bi().await?;
    net.spawn(write(send, up));
    net.spawn(read(recv, Arc::clone(progress), 1));
    Err(connection.closed().await)
}

/// Writes so many bytes, after one that opens the stream.
async fn write(mut stream: SendStream, bytes: u64) {
    let mut left = bytes.saturating_add(1);
    while left > 0 {
        let chunk = CHUNK.len().min(usize::try_from(left).unwrap());
        if stream.write_all(&CHUNK[..chunk]).await.is_err() {
            return;
        }
        left -= chunk as u64;
    }
    // It fails if the connection is closed, which is reported elsewhere.
    let _ = stream.finish();
    let _ = stream.stopped().await;
}

async fn read(mut stream: RecvStream, progress: Arc<Progress>, direction: usize) {
    while let Ok(Some(chunk)) = stream.read_chunk(usize::MAX, true).await {
        progress.read[direction].fetch_add(chunk.bytes.len() as u64, Ordering::Relaxed);
    }
}

impl Progress {
    fn is_done(&self, flow: &Flow) -> bool {
        let [up, down] = self.sample();
        up > flow.up && down > flow.down
    }

    fn sample(&self) -> [u64; 2] {
        [0, 1].map(|direction| self.read[direction].load(Ordering::Relaxed))
    }
}

/// How long a path must have been there.
const PATIENCE: Nanos = Nanos::from_millis(10_000);
/// Between two looks at the progress.
const STEP: Duration = Duration::from_millis(500);
static CHUNK: [u8; 16_384] = [0; 16_384];

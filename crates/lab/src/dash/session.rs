//! One film over one path.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kneepoint_emulator::link::{Limit, LinkConfig, Queue, Shaper};
use kneepoint_emulator::network::{Direction, Network, NetworkConfig, Side};
use kneepoint_emulator::sim::{Handle, SimError, Simulation, endpoint_config, tls};
use quinn::{ClientConfig, Connection, Endpoint, TransportConfig, VarInt};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::abr::{Abr, Algorithm};
use super::outcome::{Observed, Outcome};
use super::player::{PlayError, Playback, play};
use super::server::serve;
use super::video::{SEGMENTS, Video};
use crate::probe::{Recorder, SharedFactory};
use crate::run::RunError;
use crate::token_bucket::LINE;
use crate::units::Rate;
use crate::watch::Sample;
use crate::workload::Clock;

/// A token bucket in front of a fast line, from the server to the player; and the way back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Path {
    /// How fast tokens accrue.
    pub rate: Rate,
    /// How many tokens the bucket holds, in bytes.
    pub burst: u64,
    /// The maximum queue for tokens, in bytes. Later arrivals are dropped.
    pub buffer: u64,
    /// The round-trip time of an empty path.
    pub rtt: Duration,
}

impl Path {
    /// The paper's path with the deep buffer: 25 Mb/s, 1 MB of burst, 10 MB of buffer, 100 ms (BBR-Sampled, section 3.1).
    pub const fn deep() -> Self {
        Self {
            rate: Rate::from_bits_per_second(25_000_000),
            burst: 1_000_000,
            buffer: 10_000_000,
            rtt: Duration::from_millis(100),
        }
    }

    /// The server is on the left: data goes forward.
    fn network(&self, seed: u64) -> NetworkConfig {
        let one_way = self.rtt / 2;
        let bucket = Shaper::TokenBucket {
            bytes_per_second: self.rate.bits_per_second() / 8,
            burst: self.burst,
            peak: Some(LINE),
        };
        let line = Shaper::ConstantRate {
            bytes_per_second: LINE,
        };
        NetworkConfig {
            forward: LinkConfig {
                delay: (self.rtt - one_way).into(),
                queue: Queue::DropTail(Limit::bytes(self.buffer)),
                ..LinkConfig::new(bucket)
            },
            reverse: LinkConfig {
                delay: one_way.into(),
                ..LinkConfig::new(line)
            },
            seed,
        }
    }
}

/// One film over one path.
#[derive(Clone)]
#[expect(missing_debug_implementations, reason = "a factory has none")]
pub struct Session {
    /// The path from the server to the player.
    pub path: Path,
    /// How the player chooses its levels.
    pub abr: Algorithm,
    /// Makes the server's congestion controller.
    pub controller: SharedFactory,
    /// The source of all randomness.
    pub seed: u64,
    /// The number of segments of the paper's video to show, up to all [`SEGMENTS`].
    pub segments: usize,
    /// Over how many connections the player fetches them in turn, as over HTTP/1.1; at least one is opened.
    pub connections: usize,
}

impl Session {
    /// The paper's default session with this controller: the whole video with DYNAMIC over the deep buffer.
    pub fn new(controller: SharedFactory) -> Self {
        Self {
            path: Path::deep(),
            abr: Algorithm::Dynamic,
            controller,
            seed: 1,
            segments: SEGMENTS,
            connections: 1,
        }
    }

    /// Shows the video to its end, or for four times its length.
    ///
    /// # Errors
    /// When the path cannot be emulated, or the simulation stops early. A connection that closes is an outcome.
    pub fn run(&self) -> Result<Outcome, RunError> {
        let video = Arc::new(Video::big_buck_bunny(self.segments));
        let mut seeds = Pcg64::seed_from_u64(self.seed);
        let simulation = Simulation::new(Network::new(self.path.network(self.seed))?);
        let handle = simulation.handle();
        let recorder = Recorder::new(handle.instant());
        let samples = Arc::new(Mutex::new(Vec::new()));

        let mut config = tls::server_config();
        let mut sender = transport();
        sender.congestion_controller_factory(recorder.observe(Arc::clone(&self.controller)));
        config.transport_config(Arc::new(sender));
        let server = endpoint_config(seeds.next_u64());
        let server = simulation.endpoint(Side::Left, SERVER, server, Some(config))?;
        let (watcher, seen) = (handle.clone(), Arc::clone(&samples));
        let accepted = move |connection| {
            watcher.spawn(observe(watcher.clone(), connection, Arc::clone(&seen)));
        };
        handle.spawn(serve(
            handle.runtime(),
            server,
            Arc::clone(&video),
            accepted,
        ));

        let client = endpoint_config(seeds.next_u64());
        let client = simulation.endpoint(Side::Right, CLIENT, client, None)?;
        let mut abr = self.abr.build(&video, seeds.next_u64());
        let clock = Clock::new(handle.runtime());
        let mut playback = Playback::default();
        let deadline = video.length() * PATIENCE;
        let many = self.connections;
        let session = watch(&clock, &client, many, &video, abr.as_mut(), &mut playback);
        let result = match simulation.block_on_until(deadline.into(), session) {
            Err(SimError::Deadline { .. }) => None,
            result => Some(result?),
        };
        if result != Some(Ok(())) {
            playback.buffer.advance(handle.now().into());
        }
        let drops = simulation.with_network(|network| {
            let link = network.link(Direction::Forward);
            link.statistics().queue_full.packets
        });
        let samples = std::mem::take(&mut *samples.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(Outcome::new(Observed {
            playback,
            finished: result == Some(Ok(())),
            closed: result.and_then(Result::err).map(|error| error.to_string()),
            samples,
            rtts: recorder
                .take()
                .rtts
                .iter()
                .map(|sample| sample.rtt)
                .collect(),
            drops,
        }))
    }
}

/// The viewer's side of a session.
async fn watch(
    clock: &Clock,
    endpoint: &Endpoint,
    many: usize,
    video: &Video,
    abr: &mut dyn Abr,
    playback: &mut Playback,
) -> Result<(), PlayError> {
    // An address and a configuration that quinn refuses would be ours, and show as a connection that closed locally.
    let connect = || {
        let connecting = endpoint.connect_with(client_config(), SERVER, tls::SERVER_NAME);
        connecting.map_err(|_| quinn::ConnectionError::LocallyClosed)
    };
    let first = connect()?.await?;
    let mut others = Vec::new();
    for _ in 1..many {
        others.push(connect()?.await?);
    }
    play(clock, &first, &others, video, abr, playback).await
}

/// Samples the sender's state at regular times.
async fn observe(handle: Handle, connection: Connection, samples: Arc<Mutex<Vec<Sample>>>) {
    while connection.close_reason().is_none() {
        // One that is not ours has no state to show.
        let Some(snapshot) = kneepoint_quinn::snapshot(connection.congestion_state()) else {
            return;
        };
        let at = Duration::from(handle.now());
        samples
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(Sample { at, snapshot });
        handle.sleep(INTERVAL).await;
    }
}

fn client_config() -> ClientConfig {
    let mut config = tls::client_config();
    config.transport_config(Arc::new(transport()));
    config
}

/// Flow control never limits the server, and a player that waits does not lose its connection.
fn transport() -> TransportConfig {
    let mut transport = TransportConfig::default();
    transport
        .stream_receive_window(FLOW_CONTROL_WINDOW)
        .receive_window(FLOW_CONTROL_WINDOW)
        .send_window(FLOW_CONTROL_WINDOW.into_inner())
        .max_idle_timeout(None);
    transport
}

const SERVER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 4433);
const CLIENT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 1, 1)), 10_000);

/// Beyond anything a link emulated here can hold: 1 GiB.
const FLOW_CONTROL_WINDOW: VarInt = VarInt::from_u32(1 << 30);

/// A session ends after this multiple of the video's length.
const PATIENCE: u32 = 4;

/// How often the sender's state is noted: often enough for the 200 ms of a ProbeRTT.
const INTERVAL: Duration = Duration::from_millis(20);

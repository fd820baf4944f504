//! One film over one path.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use kneepoint_emulator::link::{Limit, LinkConfig, Queue, Shaper};
use kneepoint_emulator::network::{Direction, Duplex, Side, Topology};
use kneepoint_emulator::sim::{SimError, Simulation};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::abr::{Abr, Algorithm};
use super::outcome::{Observed, Outcome};
use super::player::{PlayError, Playback, play};
use super::server::serve;
use super::video::{SEGMENTS, Video};
use crate::controllers::Candidate;
use crate::probe::Recorder;
use crate::run::RunError;
use crate::stack::Endpoint;
use crate::trial::{LIMITS, Moments, look};
use crate::units::Rate;
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

    /// The links from the server and back.
    pub(crate) fn links(&self) -> Duplex {
        let one_way = self.rtt / 2;
        let bucket = Shaper::TokenBucket {
            bytes_per_second: self.rate.bits_per_second() / 8,
            burst: self.burst,
            peak: Some(LINE),
        };
        Duplex {
            forward: LinkConfig {
                delay: (self.rtt - one_way).into(),
                queue: Queue::DropTail(Limit::bytes(self.buffer)),
                ..LinkConfig::new(bucket)
            },
            reverse: LinkConfig {
                delay: one_way.into(),
                ..LinkConfig::constant(LINE)
            },
        }
    }
}

/// The rate of the line behind the bucket: 1 Gb/s, in bytes per second.
const LINE: u64 = 125_000_000;

/// One film over one path.
#[derive(Clone)]
#[expect(missing_debug_implementations, reason = "a factory has none")]
pub struct Session {
    /// The path from the server to the player.
    pub path: Path,
    /// How the player chooses its levels.
    pub abr: Algorithm,
    /// Makes the server's congestion controller, and says over which stack the video is fetched.
    pub controller: Candidate,
    /// The source of all randomness.
    pub seed: u64,
    /// The number of segments of the paper's video to show, up to all [`SEGMENTS`].
    pub segments: usize,
    /// Over how many connections the player fetches them in turn, as over HTTP/1.1; at least one is opened.
    pub connections: usize,
}

impl Session {
    /// The paper's default session with this controller: the whole video with DYNAMIC over the deep buffer.
    pub fn new(controller: impl Into<Candidate>) -> Self {
        Self {
            path: Path::deep(),
            abr: Algorithm::Dynamic,
            controller: controller.into(),
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
        match &self.controller {
            Candidate::Quinn(factory) => self.run_over::<quinn::Endpoint>(factory),
            Candidate::Noq(factory) => self.run_over::<noq::Endpoint>(factory),
        }
    }

    fn run_over<E: Endpoint>(&self, factory: &E::Factory) -> Result<Outcome, RunError> {
        let video = Arc::new(Video::big_buck_bunny(self.segments));
        let mut seeds = Pcg64::seed_from_u64(self.seed);
        let topology = Topology::point_to_point(self.path.links());
        let simulation = Simulation::builder()
            .tokio(false)
            .build(topology.build(self.seed)?);
        let handle = simulation.handle();
        let clock = Clock::new(handle.runtime());
        let recorder = Recorder::new(handle.instant());
        let samples = Moments::default();

        let socket = handle.bind(Side::Left, SERVER)?;
        let seed = seeds.next_u64();
        let server = E::serving(&handle, socket, seed, LIMITS, factory, &recorder)?;
        let (watcher, seen) = (clock.clone(), Arc::clone(&samples));
        let accepted =
            move |connection: E::Connection| look(&watcher, &connection, INTERVAL, &seen);
        clock.spawn(serve(clock.clone(), server, Arc::clone(&video), accepted));

        let socket = handle.bind(Side::Right, CLIENT)?;
        let client = E::simulated(&handle, socket, seeds.next_u64(), None)?;
        let mut abr = self.abr.build(&video, seeds.next_u64());
        let mut playback = Playback::default();
        let deadline = video.length() * PATIENCE;
        let many = self.connections;
        let session = watch(&clock, &client, many, &video, abr.as_mut(), &mut playback);
        let result = match simulation.block_on_until(deadline.into(), session) {
            Err(SimError::Deadline { .. }) => None,
            result => Some(result?),
        };
        if result != Some(Ok(())) {
            playback.buffer.advance(clock.now());
        }
        let drops = simulation.with_network(|network| {
            let link = network.link(Direction::Forward);
            link.statistics().queue_full.packets
        });
        let samples = std::mem::take(&mut *samples.lock().unwrap_or_else(PoisonError::into_inner));
        let recording = recorder.take();
        Ok(Outcome::new(Observed {
            playback,
            finished: result == Some(Ok(())),
            closed: result.and_then(Result::err).map(|error| error.to_string()),
            samples,
            rtts: recording.rtts.iter().map(|sample| sample.rtt).collect(),
            drops,
        }))
    }
}

/// The viewer's side of a session.
async fn watch<E: Endpoint>(
    clock: &Clock,
    endpoint: &E,
    many: usize,
    video: &Video,
    abr: &mut dyn Abr,
    playback: &mut Playback,
) -> Result<(), PlayError> {
    // What little the player sends is under the stack's own controller, and nobody looks at that.
    let (stock, unseen) = (E::stock(), Recorder::new(clock.epoch()));
    let connect = async || {
        let handshake = endpoint.connect(SERVER, LIMITS, &stock, &unseen);
        let connection = handshake.map_err(PlayError::Connection)?.await;
        connection.map_err(PlayError::Connection)
    };
    let first = connect().await?;
    let mut others = Vec::new();
    for _ in 1..many {
        others.push(connect().await?);
    }
    play(clock, &first, &others, video, abr, playback).await
}

const SERVER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 4433);
const CLIENT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 1, 1)), 10_000);

/// A session ends after this multiple of the video's length.
const PATIENCE: u32 = 4;

/// How often the sender's state is noted: often enough for the 200 ms of a ProbeRTT.
const INTERVAL: Duration = Duration::from_millis(20);

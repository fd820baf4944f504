//! A video encoder that follows the congestion controller's estimate of the bandwidth, over an emulated link in virtual time. For
//! each second it prints what the link could carry, the estimate, the encoder's rate, the padding and how late frames were.
//!
//! `cargo run --release --example adaptive_bitrate` is a minute over the bundled LTE trace, with an optional name of a
//! controller. `-- knee 20 100` is a stream of 10 Mb/s over a link of 20 Mb/s and 100 ms.
#![expect(clippy::print_stdout, reason = "that is what it is for")]

#[path = "adaptive_bitrate/encoder.rs"]
mod encoder;

use std::collections::BTreeSet;
use std::error::Error;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use kneepoint::emulator::link::{Limit, LinkConfig, Queue, Shaper};
use kneepoint::emulator::network::{Network, NetworkConfig, Side};
use kneepoint::emulator::sim::{Handle, Simulation, endpoint_config, tls};
use kneepoint::emulator::time::Nanos;
use kneepoint::quinn::{IntoFactory as _, watch_bandwidth};
use kneepoint::{BandwidthEstimate, ControllerSpec, traces};
use quinn::{Connection, Endpoint, RecvStream, TransportConfig};

use self::encoder::{Encoder, PADDING, pad};

/// What is filmed, and where it goes.
#[derive(Debug, Clone)]
pub(crate) struct Scene {
    /// What the link carries.
    pub(crate) link: Shaper,
    /// The round-trip time without queues.
    pub(crate) rtt: Duration,
    /// The encoder's best quality, in bytes a second.
    pub(crate) best: f64,
    pub(crate) seconds: u64,
}

/// One frame of the video.
#[derive(Debug, Clone, Default)]
pub(crate) struct Frame {
    pub(crate) captured: Nanos,
    pub(crate) bytes: u64,
    /// What the connection knew at that time.
    pub(crate) estimate: Option<BandwidthEstimate>,
    /// How long after its capture all of it was there; `None` if it did not come.
    pub(crate) delay: Option<Duration>,
}

/// What came of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Video {
    pub(crate) frames: Vec<Frame>,
    /// The padding that arrived: when, and how many bytes.
    pub(crate) padding: Vec<(Nanos, u64)>,
}

impl Scene {
    /// A minute of up to 40 Mb/s over the bundled LTE trace.
    pub(crate) fn lte() -> Self {
        Self {
            link: Shaper::Trace(traces::lte_driving_fast()),
            rtt: Duration::from_millis(40),
            best: 5_000_000.0,
            seconds: 60,
        }
    }

    /// Ten seconds of up to 10 Mb/s over a link of a constant rate.
    pub(crate) fn steady(bytes_per_second: u64, rtt: Duration) -> Self {
        Self {
            link: Shaper::ConstantRate { bytes_per_second },
            rtt,
            best: 1_250_000.0,
            seconds: 10,
        }
    }

    /// What the link could carry in a second, in bytes.
    pub(crate) fn capacity(&self, second: u64) -> u64 {
        let at = |second: u64| Nanos::from_millis(second * 1000);
        match &self.link {
            Shaper::Trace(trace) => trace.capacity(at(second), at(second + 1)),
            Shaper::ConstantRate { bytes_per_second } => *bytes_per_second,
            _ => 0,
        }
    }

    fn network(&self) -> Result<Network, Box<dyn Error>> {
        let fast = LinkConfig {
            delay: Nanos::from(self.rtt / 2).into(),
            ..LinkConfig::constant(125_000_000)
        };
        let forward = LinkConfig {
            shaper: self.link.clone(),
            queue: Queue::DropTail(Limit::bytes(3_000_000)),
            ..fast.clone()
        };
        Ok(Network::new(NetworkConfig {
            forward,
            reverse: fast,
            seed: 1,
        })?)
    }

    /// Encodes and sends in virtual time.
    pub(crate) fn video(&self, controller: ControllerSpec) -> Result<Video, Box<dyn Error>> {
        let sim = Simulation::new(self.network()?);
        let address: SocketAddr = "10.0.1.1:4433".parse()?;
        let viewer = Some(tls::server_config());
        let viewer = sim.endpoint(Side::Right, address, endpoint_config(1), viewer)?;
        let camera = sim.endpoint(Side::Left, "10.0.0.1:0".parse()?, endpoint_config(2), None)?;
        let video: Arc<Mutex<Video>> = Arc::default();
        sim.handle()
            .spawn(watch(sim.handle(), viewer, video.clone()));

        let mut transport = TransportConfig::default();
        transport.congestion_controller_factory(controller.factory());
        let mut config = tls::client_config();
        config.transport_config(Arc::new(transport));
        sim.block_on(async {
            let connecting = camera.connect_with(config, address, tls::SERVER_NAME)?;
            let connection = connecting.await?;
            let encoder = Encoder::new(self.best);
            film(sim.handle(), connection, encoder, self.seconds, &video).await
        })??;
        let video = lock(&video).clone();
        Ok(video)
    }
}

impl Video {
    /// How long it took from the first frame to one of the best quality.
    pub(crate) fn best_after(&self, scene: &Scene) -> Option<Duration> {
        let best = (scene.best / FRAMES) as u64;
        let frame = self.frames.iter().find(|frame| frame.bytes >= best)?;
        Some((frame.captured - self.frames.first()?.captured).into())
    }

    /// From this second on: what part of the link the frames took, and how late they were in the median and at the 95th percentile.
    pub(crate) fn since(&self, scene: &Scene, second: u64) -> (f64, Duration, Duration) {
        let from = Nanos::from_millis(second * 1000);
        let capacity = (second..scene.seconds).map(|second| scene.capacity(second));
        let frames = || self.frames.iter().filter(|frame| frame.captured >= from);
        let encoded: u64 = frames().map(|frame| frame.bytes).sum();
        let mut delays: Vec<Duration> = frames().filter_map(|frame| frame.delay).collect();
        delays.sort_unstable();
        let at = |percent: usize| delays.get(delays.len() * percent / 100).copied();
        let [median, p95] = [50, 95].map(|percent| at(percent).unwrap_or_default());
        (encoded as f64 / capacity.sum::<u64>() as f64, median, p95)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let controller = arguments.first().map_or("knee", String::as_str).parse()?;
    let scene = match arguments.get(1..) {
        Some([megabits, millis]) => {
            let rate: f64 = megabits.parse()?;
            Scene::steady(
                (rate * 125_000.0) as u64,
                Duration::from_millis(millis.parse()?),
            )
        }
        _ => Scene::lte(),
    };
    println!(
        "second   link Mb/s   estimate   encoder   padding   frames: number, median and worst delay in ms"
    );
    let video = scene.video(controller)?;
    for second in 0..scene.seconds {
        print_second(&scene, &video, second);
    }
    let second = scene.seconds / 6;
    let (share, median, p95) = video.since(&scene, second);
    let millis = |delay: Duration| delay.as_secs_f64() * 1e3;
    println!(
        "from second {second} on: {:.0} % of the link; frames are {:.0} ms late in the median, {:.0} ms at the 95th percentile",
        100.0 * share,
        millis(median),
        millis(p95),
    );
    if let Some(after) = video.best_after(&scene) {
        println!("the best quality after {:.2} s", after.as_secs_f64());
    }
    Ok(())
}

fn print_second(scene: &Scene, video: &Video, second: u64) {
    let is_now = |at: Nanos| at.0 / 1_000_000_000 == second;
    let frames = || video.frames.iter().filter(|frame| is_now(frame.captured));
    let padding = video.padding.iter().filter(|(at, _)| is_now(*at));
    let mut delays: Vec<Duration> = frames().filter_map(|frame| frame.delay).collect();
    delays.sort_unstable();
    let megabits = |bytes: u64| bytes as f64 * 8e-6;
    let millis = |delay: Option<&Duration>| delay.map_or(0.0, |delay| delay.as_secs_f64() * 1e3);
    let estimate = frames().next_back().and_then(|frame| frame.estimate);
    let (rate, mark) = estimate.map_or((0.0, ' '), |estimate| {
        let mark = if estimate.lower_bound { '+' } else { ' ' };
        (estimate.rate.megabits_per_second(), mark)
    });
    println!(
        "{second:6} {:11.2} {rate:9.2}{mark} {:9.2} {:9.2} {:9} {:8.1} {:8.1}",
        megabits(scene.capacity(second)),
        megabits(frames().map(|frame| frame.bytes).sum()),
        megabits(padding.map(|(_, bytes)| bytes).sum()),
        delays.len(),
        millis(delays.get(delays.len() / 2)),
        millis(delays.last()),
    );
}

/// The camera: thirty frames a second, one stream per frame, as large as the encoder makes it.
async fn film(
    handle: Handle,
    connection: Connection,
    mut encoder: Encoder,
    seconds: u64,
    video: &Mutex<Video>,
) -> Result<(), Box<dyn Error>> {
    let watch = watch_bandwidth(connection.congestion_state());
    // When the frames were captured that have not arrived yet.
    let waiting: Arc<Mutex<BTreeSet<Instant>>> = Arc::default();
    let read = move || watch.as_ref().and_then(|watch| watch.get());
    for number in 0.. {
        let (captured, now) = (handle.now(), handle.instant());
        if captured >= Nanos::from_millis(seconds * 1000) {
            break;
        }
        let estimate = read();
        let oldest = lock(&waiting).first().copied();
        let waits = oldest.map_or(Duration::ZERO, |oldest| now - oldest);
        let mut frame = vec![0; (encoder.adapt(estimate, waits) / FRAMES) as usize];
        frame[..8].copy_from_slice(&u64::to_be_bytes(number));
        lock(video).frames.push(Frame {
            captured,
            bytes: frame.len() as u64,
            estimate,
            delay: None,
        });
        let mut stream = connection.open_uni().await?;
        // Earlier frames first.
        stream.set_priority(-(number as i32))?;
        lock(&waiting).insert(now);
        let waiting = waiting.clone();
        // Data that cannot be sent at once waits in the stream, and the next frame is captured in time.
        handle.spawn(async move {
            if stream.write_all(&frame).await.is_ok() && stream.finish().is_ok() {
                // All of it is acknowledged.
                let _ = stream.stopped().await;
            }
            lock(&waiting).remove(&now);
        });
        if encoder.asks(estimate, now) {
            let (connection, read) = (connection.clone(), read.clone());
            let asking = encoder.clone();
            handle.spawn(async move {
                pad(&connection, PADDING_BYTES, PADDING_TIME, || {
                    !asking.wants_more(read())
                })
                .await
            });
        }
        handle
            .sleep_until(captured + Nanos::from(Duration::from_secs_f64(1.0 / FRAMES)))
            .await;
    }
    Ok(())
}

/// The viewer notes how late each frame is.
async fn watch(handle: Handle, viewer: Endpoint, video: Arc<Mutex<Video>>) {
    let Some(incoming) = viewer.accept().await else {
        return;
    };
    let Ok(connection) = incoming.await else {
        return;
    };
    while let Ok(stream) = connection.accept_uni().await {
        handle.spawn(receive(handle.clone(), stream, video.clone()));
    }
}

async fn receive(handle: Handle, mut stream: RecvStream, video: Arc<Mutex<Video>>) {
    let mut first = [0; 8];
    if stream.read_exact(&mut first).await.is_err() {
        return;
    }
    loop {
        match stream.read_chunk(usize::MAX, false).await {
            Ok(Some(chunk)) if first == PADDING => {
                let arrived = (handle.now(), chunk.bytes.len() as u64);
                lock(&video).padding.push(arrived);
            }
            Ok(Some(_)) => {}
            Ok(None) => break,
            Err(_) => return,
        }
    }
    let number = u64::from_be_bytes(first) as usize;
    if let Some(frame) = lock(&video).frames.get_mut(number) {
        frame.delay = Some((handle.now() - frame.captured).into());
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Frames a second.
const FRAMES: f64 = 30.0;

/// What the encoder asks with at most.
const PADDING_BYTES: usize = 1_000_000;
const PADDING_TIME: Duration = Duration::from_secs(2);

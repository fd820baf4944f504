//! A video encoder that follows the congestion controller's estimate of the bandwidth, over an emulated LTE link in virtual
//! time. For each second it prints what the link could carry, the estimate, the encoder's rate and how late frames were.
//!
//! `cargo run --release --example adaptive_bitrate`, with an optional name of a controller
#![expect(clippy::print_stdout, reason = "that is what it is for")]

use std::error::Error;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kneepoint::emulator::link::{Limit, LinkConfig, Queue, Shaper};
use kneepoint::emulator::network::{Network, NetworkConfig, Side};
use kneepoint::emulator::sim::{Handle, Simulation, endpoint_config, tls};
use kneepoint::emulator::time::Nanos;
use kneepoint::quinn::{IntoFactory as _, snapshot};
use kneepoint::{ControllerSpec, Snapshot, traces};
use quinn::{Connection, Endpoint, TransportConfig};

/// One second of the video.
#[derive(Debug, Clone, Default)]
pub(crate) struct Second {
    /// The link's capacity in bytes.
    pub(crate) capacity: u64,
    /// The controller's estimate at its end, in bytes a second.
    pub(crate) estimate: u64,
    /// The encoder's output in bytes.
    pub(crate) encoded: u64,
    /// How long after its capture each frame of it was there.
    pub(crate) delays: Vec<Duration>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let name = std::env::args().nth(1);
    let controller = name.as_deref().unwrap_or("bbr3-s").parse()?;
    println!(
        "second   link Mb/s   estimate   encoder   frames: number, median and worst delay in ms"
    );
    let megabits = |bytes: u64| bytes as f64 * 8e-6;
    for (second, mut of) in video(controller)?.into_iter().enumerate() {
        of.delays.sort_unstable();
        let millis =
            |delay: Option<&Duration>| delay.map_or(0.0, |delay| delay.as_secs_f64() * 1e3);
        println!(
            "{second:6} {:11.2} {:10.2} {:9.2} {:9} {:8.1} {:8.1}",
            megabits(of.capacity),
            megabits(of.estimate),
            megabits(of.encoded),
            of.delays.len(),
            millis(of.delays.get(of.delays.len() / 2)),
            millis(of.delays.last()),
        );
    }
    Ok(())
}

/// Encodes and sends for [`SECONDS`] over the bundled LTE trace.
pub(crate) fn video(controller: ControllerSpec) -> Result<Vec<Second>, Box<dyn Error>> {
    let trace = traces::lte_driving_fast();
    let second = |number: u64| Nanos::from_millis(number * 1000);
    let seconds = (0..SECONDS).map(|number| Second {
        capacity: trace.capacity(second(number), second(number + 1)),
        ..Second::default()
    });
    let seconds: Arc<Mutex<Vec<Second>>> = Arc::new(Mutex::new(seconds.collect()));

    let fast = LinkConfig {
        delay: Nanos::from_millis(20).into(),
        ..LinkConfig::constant(125_000_000)
    };
    let lte = LinkConfig {
        shaper: Shaper::Trace(trace),
        queue: Queue::DropTail(Limit::bytes(3_000_000)),
        ..fast.clone()
    };
    let sim = Simulation::new(Network::new(NetworkConfig {
        forward: lte,
        reverse: fast,
        seed: 1,
    })?);
    let address: SocketAddr = "10.0.1.1:4433".parse()?;
    let viewer = Some(tls::server_config());
    let viewer = sim.endpoint(Side::Right, address, endpoint_config(1), viewer)?;
    let camera = sim.endpoint(Side::Left, "10.0.0.1:0".parse()?, endpoint_config(2), None)?;
    sim.handle()
        .spawn(watch(sim.handle(), viewer, seconds.clone()));

    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(controller.factory());
    let mut config = tls::client_config();
    config.transport_config(Arc::new(transport));
    sim.block_on(async {
        let connecting = camera.connect_with(config, address, tls::SERVER_NAME)?;
        film(sim.handle(), connecting.await?, &seconds).await
    })??;
    let seconds = lock(&seconds).clone();
    Ok(seconds)
}

/// The encoder: thirty frames a second, one stream per frame, as large as the estimate allows.
async fn film(
    handle: Handle,
    connection: Connection,
    seconds: &Mutex<Vec<Second>>,
) -> Result<(), Box<dyn Error>> {
    let mut rate = FIRST_RATE;
    loop {
        let captured = handle.now();
        let Some(number) = second_of(captured) else {
            return Ok(());
        };
        let state = snapshot(connection.congestion_state());
        let estimate = state.as_ref().and_then(|state| state.bandwidth);
        rate = adapt(rate, state).clamp(MIN_RATE, MAX_RATE);
        let mut frame = vec![0; (rate / FRAMES) as usize];
        frame[..8].copy_from_slice(&captured.0.to_be_bytes());
        if let Some(second) = lock(seconds).get_mut(number) {
            second.estimate = estimate.map_or(0, |estimate| estimate.bytes_per_second());
            second.encoded += frame.len() as u64;
        }
        let mut stream = connection.open_uni().await?;
        // Data that cannot be sent at once waits in the stream, and the next frame is captured in time.
        handle.spawn(async move {
            if stream.write_all(&frame).await.is_ok() {
                let _ = stream.finish();
            }
        });
        handle
            .sleep_until(captured + Nanos::from(Duration::from_secs_f64(1.0 / FRAMES)))
            .await;
    }
}

/// The next frame's rate, in bytes a second.
///
/// While the encoder does not fill the path, the estimate is not much more than what the encoder sends: to learn whether the
/// path carries more, it has to ask for more.
fn adapt(rate: f64, state: Option<Snapshot>) -> f64 {
    let Some((state, estimate)) = state.and_then(|state| Some((state, state.bandwidth?))) else {
        return rate;
    };
    let estimate = estimate.as_f64();
    if state.app_limited {
        (GROWTH * rate).min(BEYOND * estimate).max(SHARE * estimate)
    } else {
        rate.min(SHARE * estimate)
    }
}

/// The viewer notes how late each frame is, in the second of its capture.
async fn watch(handle: Handle, viewer: Endpoint, seconds: Arc<Mutex<Vec<Second>>>) {
    let Some(incoming) = viewer.accept().await else {
        return;
    };
    let Ok(connection) = incoming.await else {
        return;
    };
    while let Ok(mut stream) = connection.accept_uni().await {
        let (handle, seconds) = (handle.clone(), seconds.clone());
        handle.clone().spawn(async move {
            let Ok(frame) = stream.read_to_end(MAX_RATE as usize).await else {
                return;
            };
            let Some(captured) = frame.first_chunk() else {
                return;
            };
            let captured = Nanos(u64::from_be_bytes(*captured));
            let Some(number) = second_of(captured) else {
                return;
            };
            if let Some(second) = lock(&seconds).get_mut(number) {
                second.delays.push((handle.now() - captured).into());
            }
        });
    }
}

fn second_of(time: Nanos) -> Option<usize> {
    let second = time.0 / 1_000_000_000;
    (second < SECONDS).then_some(second as usize)
}

fn lock(seconds: &Mutex<Vec<Second>>) -> MutexGuard<'_, Vec<Second>> {
    seconds.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How long the video is.
const SECONDS: u64 = 60;
/// Frames a second.
const FRAMES: f64 = 30.0;
/// The share of the estimate that the encoder takes of a full path: the rest drains the queue.
const SHARE: f64 = 0.7;
/// The growth per frame while the path is not full, and its limit above the estimate.
const GROWTH: f64 = 1.02;
const BEYOND: f64 = 1.1;
/// In bytes a second: before there is an estimate, and the bounds of what the encoder can do.
const FIRST_RATE: f64 = 125_000.0;
const MIN_RATE: f64 = 25_000.0;
const MAX_RATE: f64 = 5_000_000.0;

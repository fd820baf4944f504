//! What a sending application does.

use std::time::Duration;

use bytes::Bytes;
use quinn::{Connection, SendStream, VarInt};
use serde::{Deserialize, Serialize};

use super::clock::Clock;

/// What the sending application does until a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// When it ends, on the application's clock; the next one begins then.
    pub until: Duration,
    /// What it does meanwhile.
    pub load: Load,
}

/// What an application sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Load {
    /// As much as the controller lets it. What has not left when the phase ends is given up.
    Greedy,
    /// Nothing.
    Silent,
    /// So many bytes per second on one stream, a packet or so at a time.
    Steady(u64),
    /// Frames of a call: so many bytes at each multiple of the period, each on a stream of its own, whether or not those
    /// before have arrived.
    Frames {
        /// The size of each.
        bytes: u64,
        /// From one frame's beginning to the next one's.
        period: Duration,
    },
    /// Segments of so many bytes, as a video server sends them: each begins at a multiple of the period, counted from the
    /// beginning of the phase, or when the one before has arrived if that is later.
    Segments {
        /// The size of each.
        bytes: u64,
        /// From one segment's beginning to the next one's.
        period: Duration,
    },
    /// Requests of so many bytes, one after the other: each waits for its answer, and the next one for the pause after it.
    Requests {
        /// The size of each.
        bytes: u64,
        /// From an answer to the next request.
        pause: Duration,
    },
}

/// Lives through the phases; returns when they are over or the connection is closed.
///
/// Every stream begins with the time at which it was meant to begin, 8 bytes that count as part of it: a
/// [receiver](super::receive) with the same clock measures with it.
pub async fn send(clock: &Clock, connection: &Connection, phases: &[Phase]) {
    for phase in phases {
        if perform(clock, connection, *phase).await.is_none() {
            return;
        }
        clock.sleep_until(phase.until).await;
    }
}

/// `None` once the connection has closed.
async fn perform(clock: &Clock, connection: &Connection, phase: Phase) -> Option<()> {
    let end = phase.until;
    match phase.load {
        Load::Silent => Some(()),
        Load::Greedy => {
            let mut stream = connection.open_uni().await.ok()?;
            // It ends with the time; only a connection that closes ends the writing.
            let closed = clock.until(end, write_for_ever(&mut stream)).await;
            stream.reset(VarInt::from_u32(0)).ok()?;
            closed.is_err().then_some(())
        }
        Load::Steady(rate) => {
            let mut stream = connection.open_uni().await.ok()?;
            let tick = Duration::from_nanos(TICK_BYTES * 1_000_000_000 / rate.max(1));
            while clock.now() < end {
                write(&mut stream, TICK_BYTES).await?;
                clock.sleep(tick).await;
            }
            stream.finish().ok()
        }
        Load::Frames { bytes, period } => {
            let mut next = clock.now();
            while next < end {
                clock.sleep_until(next).await;
                let mut stream = connection.open_uni().await.ok()?;
                let frame = async move {
                    // A frame that cannot be written any more is missing at the receiver.
                    if write_message(&mut stream, next, bytes).await.is_some() {
                        _ = stream.finish();
                    }
                };
                clock.spawn(frame);
                next += period.max(LEAST_PERIOD);
            }
            Some(())
        }
        Load::Segments { bytes, period } => {
            let mut next = clock.now();
            while next < end {
                clock.sleep_until(next).await;
                let mut stream = connection.open_uni().await.ok()?;
                write_message(&mut stream, clock.now(), bytes).await?;
                stream.finish().ok()?;
                stream.stopped().await.ok()?;
                next += period;
            }
            Some(())
        }
        Load::Requests { bytes, pause } => {
            while clock.now() < end {
                let (mut request, mut answer) = connection.open_bi().await.ok()?;
                write_message(&mut request, clock.now(), bytes).await?;
                request.finish().ok()?;
                answer.read_to_end(MOST_ANSWER).await.ok()?;
                clock.sleep(pause).await;
            }
            Some(())
        }
    }
}

async fn write_for_ever(stream: &mut SendStream) {
    while stream.write_chunk(Bytes::from_static(&CHUNK)).await.is_ok() {}
}

/// So many bytes, of which the first are the time of the beginning.
async fn write_message(stream: &mut SendStream, began: Duration, bytes: u64) -> Option<()> {
    let nanos = u64::try_from(began.as_nanos()).unwrap_or(u64::MAX);
    let header = Bytes::copy_from_slice(&nanos.to_be_bytes());
    let rest = bytes.saturating_sub(header.len() as u64);
    stream.write_chunk(header).await.ok()?;
    write(stream, rest).await
}

async fn write(stream: &mut SendStream, bytes: u64) -> Option<()> {
    let mut rest = bytes;
    while rest > 0 {
        let size = rest.min(CHUNK.len() as u64);
        rest -= size;
        let chunk = Bytes::from_static(&CHUNK).slice(..usize::try_from(size).ok()?);
        stream.write_chunk(chunk).await.ok()?;
    }
    Some(())
}

/// What is written, again and again.
static CHUNK: [u8; 256 * 1024] = [0; 256 * 1024];

/// What a steady application writes at a time: no more than fits one packet.
const TICK_BYTES: u64 = 1100;

/// Frames do not follow each other faster.
const LEAST_PERIOD: Duration = Duration::from_micros(1);

/// What an answer may hold; ours are empty.
const MOST_ANSWER: usize = 1024;

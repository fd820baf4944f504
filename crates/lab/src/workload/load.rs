//! What a sending application does.

use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use serde::{Deserialize, Serialize};

use super::clock::Clock;
use super::due::{Due, Series};
use crate::metrics::stats::nanos;
use crate::stack::{Connection, ReceiveStream, SendStream};

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
    /// Frames of two sizes at the multiples of the period, each on a stream of its own, whether or not those before have
    /// arrived: of each group the first one is an I-frame.
    Video {
        /// The size of the frames that are no I-frames.
        bytes: u64,
        /// The size of an I-frame.
        i_bytes: u64,
        /// How many frames it is from one I-frame to the next, the I-frame included.
        group: u32,
        /// From one frame's beginning to the next one's.
        period: Duration,
    },
    /// Responses of so many bytes to requests of the receiver, which sends one at each multiple of the interval, whether or
    /// not those before have been answered. The receiver must expect them: see
    /// [`Received::expecting`](super::Received::expecting).
    Calls {
        /// The size of each response.
        bytes: u64,
        /// From one request to the next.
        interval: Duration,
        /// How many requests there are at most.
        count: Option<u32>,
    },
}

impl Load {
    /// A phase of it, which ends at this time.
    pub const fn until(self, until: Duration) -> Phase {
        Phase { until, load: self }
    }
}

/// Lives through the phases; returns when they are over or the connection is closed.
///
/// Every stream begins with the time at which it was meant to begin, 8 bytes that count as part of it: a
/// [receiver](super::receive) with the same clock measures with it.
pub async fn send<C: Connection>(clock: &Clock, connection: &C, phases: &[Phase]) {
    send_noting(clock, connection, phases, &Due::default()).await;
}

/// [`send`], and `due` has the frames that were to be sent.
pub async fn send_noting<C: Connection>(
    clock: &Clock,
    connection: &C,
    phases: &[Phase],
    due: &Due,
) {
    if phases
        .iter()
        .any(|phase| matches!(phase.load, Load::Calls { .. }))
    {
        clock.spawn(answer(clock.clone(), connection.clone()));
    }
    for phase in phases {
        if perform(clock, connection, *phase, due).await.is_none() {
            return;
        }
        clock.sleep_until(phase.until).await;
    }
}

/// `None` once the connection has closed.
async fn perform<C: Connection>(
    clock: &Clock,
    connection: &C,
    phase: Phase,
    due: &Due,
) -> Option<()> {
    let end = phase.until;
    match phase.load {
        // The receiver asks, and what answers it does not end with the phase.
        Load::Silent | Load::Calls { .. } => Some(()),
        Load::Greedy => {
            let mut streams = Vec::new();
            while streams.len() < C::BULK_STREAMS {
                streams.push(connection.open_uni().await.ok()?);
            }
            // It ends with the time; only a connection that closes ends the writing.
            let closed = clock.until(end, write_for_ever(&mut streams)).await;
            for stream in &mut streams {
                stream.abandon().ok()?;
            }
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
            let frames = series(clock.now(), period, end);
            due.begin(frames);
            for at in frames.times() {
                frame(clock, connection, at, bytes).await?;
            }
            Some(())
        }
        Load::Video {
            bytes,
            i_bytes,
            group,
            period,
        } => {
            let frames = series(clock.now(), period, end);
            due.begin(frames);
            for (number, at) in (0_u32..).zip(frames.times()) {
                let first_of_group = number.is_multiple_of(group.max(1));
                let bytes = if first_of_group { i_bytes } else { bytes };
                frame(clock, connection, at, bytes).await?;
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
                stream.acknowledged().await.ok()?;
                next += period;
            }
            Some(())
        }
        Load::Requests { bytes, pause } => {
            while clock.now() < end {
                let (mut request, mut answer) = connection.open_bi().await.ok()?;
                write_message(&mut request, clock.now(), bytes).await?;
                request.finish().ok()?;
                while answer.read().await.ok()?.is_some() {}
                clock.sleep(pause).await;
            }
            Some(())
        }
    }
}

/// Frames until the end of a phase.
fn series(first: Duration, period: Duration, until: Duration) -> Series {
    Series {
        first,
        period: period.max(MIN_PERIOD),
        until,
        max: None,
    }
}

/// Begins a frame when it is due, on a stream of its own.
async fn frame<C: Connection>(
    clock: &Clock,
    connection: &C,
    due: Duration,
    bytes: u64,
) -> Option<()> {
    clock.sleep_until(due).await;
    let mut stream = connection.open_uni().await.ok()?;
    clock.spawn(async move {
        // A frame that cannot be written any more is missing at the receiver.
        if write_message(&mut stream, due, bytes).await.is_some() {
            _ = stream.finish();
        }
    });
    Some(())
}

/// Answers requests until the connection closes.
async fn answer<C: Connection>(clock: Clock, connection: C) {
    while let Ok((mut response, mut request)) = connection.accept_bi().await {
        clock.spawn(async move {
            // A response that cannot be written any more is missing at the receiver.
            if let Some((due, bytes)) = read_request(&mut request).await
                && write_message(&mut response, due, bytes).await.is_some()
            {
                _ = response.finish();
            }
        });
    }
}

/// When a request was due, and the size of the response.
async fn read_request(stream: &mut impl ReceiveStream) -> Option<(Duration, u64)> {
    let mut request = BytesMut::new();
    while let Some(bytes) = stream.read().await.ok()? {
        if request.len() + bytes.len() > REQUEST_BYTES {
            return None;
        }
        request.extend_from_slice(&bytes);
    }
    let due = request.try_get_u64().ok()?;
    let bytes = request.try_get_u64().ok()?;
    Some((Duration::from_nanos(due), bytes))
}

/// Asks for a response of so many bytes.
pub(super) async fn write_request(
    stream: &mut impl SendStream,
    due: Duration,
    bytes: u64,
) -> Option<()> {
    let request = [nanos(due).to_be_bytes(), bytes.to_be_bytes()].concat();
    stream.write(request.into()).await.ok()?;
    stream.finish().ok()
}

async fn write_for_ever(streams: &mut [impl SendStream]) {
    loop {
        for stream in &mut *streams {
            if stream.write(Bytes::from_static(&CHUNK)).await.is_err() {
                return;
            }
        }
    }
}

/// So many bytes, of which the first are the time of the beginning.
async fn write_message(stream: &mut impl SendStream, began: Duration, bytes: u64) -> Option<()> {
    let header = Bytes::copy_from_slice(&nanos(began).to_be_bytes());
    let rest = bytes.saturating_sub(header.len() as u64);
    stream.write(header).await.ok()?;
    write(stream, rest).await
}

/// Writes so many bytes; `None` if the stream or the connection is closed.
pub(crate) async fn write(stream: &mut impl SendStream, bytes: u64) -> Option<()> {
    let mut rest = bytes;
    while rest > 0 {
        let size = rest.min(CHUNK.len() as u64);
        rest -= size;
        let chunk = Bytes::from_static(&CHUNK).slice(..usize::try_from(size).ok()?);
        stream.write(chunk).await.ok()?;
    }
    Some(())
}

/// What is written, again and again.
static CHUNK: [u8; 256 * 1024] = [0; 256 * 1024];

/// What a steady application writes at a time: no more than fits one packet.
const TICK_BYTES: u64 = 1100;

/// Frames do not follow each other faster.
const MIN_PERIOD: Duration = Duration::from_micros(1);

/// A request has the time at which it was due, and the size of the response.
const REQUEST_BYTES: usize = 16;

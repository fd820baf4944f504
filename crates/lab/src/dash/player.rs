//! The player: asks the algorithm, fetches segment by segment, and shows what has come.

use std::time::Duration;

use bytes::Bytes;
use thiserror::Error;

use super::abr::{Abr, Decision, Download, PlayerState};
use super::buffer::PlaybackBuffer;
use super::server::Request;
use super::video::Video;
use crate::stack::{Connection, ReceiveStream, SendStream};
use crate::workload::Clock;

/// The playback so far.
#[derive(Debug, Clone, Default)]
pub struct Playback {
    /// Every segment fetched, in order.
    pub downloads: Vec<Download>,
    /// The playback buffer.
    pub buffer: PlaybackBuffer,
}

/// Why a player stopped before the video's end.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PlayError {
    /// The connection closed, for this reason.
    #[error("{0}")]
    Connection(String),
    /// The server gave a segment up.
    #[error("segment {segment} is incomplete: {got} bytes of {expected}")]
    Incomplete {
        /// Which, from 0.
        segment: usize,
        /// How much of it came.
        got: u64,
        /// How much should have.
        expected: u64,
    },
}

/// Plays a film over a connection to a server of it, or over this and others in turn. Whatever happens, and if the future is
/// dropped, `playback` holds what was fetched until then.
///
/// # Errors
/// When a segment cannot be fetched.
pub async fn play<C: Connection>(
    clock: &Clock,
    connection: &C,
    others: &[C],
    video: &Video,
    abr: &mut dyn Abr,
    playback: &mut Playback,
) -> Result<(), PlayError> {
    while playback.downloads.len() < video.segments() {
        let now = clock.now();
        playback.buffer.advance(now);
        let decision = abr.choose(&PlayerState {
            now,
            buffer: playback.buffer.level(),
            stalls: playback.buffer.stalls(),
            downloads: &playback.downloads,
            video,
        });
        match decision {
            // A wait that rounds to nothing would be asked for again and again.
            Decision::Wait(wait) => clock.sleep(wait.max(MIN_WAIT)).await,
            Decision::Fetch(level) => {
                let segment = playback.downloads.len();
                let buffer = playback.buffer.level();
                // The first one, the others in turn, and so on.
                let turn = (segment % (others.len() + 1)).checked_sub(1);
                let connection = turn.and_then(|n| others.get(n)).unwrap_or(connection);
                let download = fetch(clock, connection, video, segment, level, buffer).await?;
                playback.buffer.append(download.finished, video.segment());
                playback.downloads.push(download);
            }
        }
    }
    playback.buffer.finish();
    Ok(())
}

async fn fetch<C: Connection>(
    clock: &Clock,
    connection: &C,
    video: &Video,
    segment: usize,
    level: usize,
    buffer: Duration,
) -> Result<Download, PlayError> {
    let requested = clock.now();
    let request = Request {
        segment: u32::try_from(segment).unwrap_or(u32::MAX),
        level: u32::try_from(level).unwrap_or(u32::MAX),
    };
    let (expected, mut got, mut first_byte) = (video.segment_bytes(level), 0, None);
    let bytes = Bytes::copy_from_slice(&request.encode());
    // An error of the stream that is not the connection's shows as an incomplete segment.
    if let Ok((mut send, mut receive)) = connection.open_bi().await
        && send.write(bytes).await.is_ok()
        && send.finish().is_ok()
    {
        while let Ok(Some(chunk)) = receive.read().await {
            first_byte.get_or_insert_with(|| clock.now());
            got += chunk.len() as u64;
        }
    }
    match first_byte {
        Some(first_byte) if got == expected => Ok(Download {
            level,
            bytes: got,
            requested,
            buffer,
            first_byte,
            finished: clock.now(),
        }),
        _ => Err(connection.close_reason().map_or(
            PlayError::Incomplete {
                segment,
                got,
                expected,
            },
            PlayError::Connection,
        )),
    }
}

/// Far below anything that a player could notice.
const MIN_WAIT: Duration = Duration::from_micros(100);

//! States of a player, by hand.

use std::time::Duration;

use super::{Download, PlayerState};
use crate::dash::video::{SEGMENTS, Video};

/// The paper's video: 1, 2.5, 5, ... 25 Mb/s.
pub(super) fn video() -> Video {
    Video::big_buck_bunny(SEGMENTS)
}

/// A segment of `level` that took `latency` seconds to begin and then came at `mbps`; requested at time zero.
pub(super) fn fetched(level: usize, mbps: f64, latency: f64) -> Download {
    let bytes = video().segment_bytes(level);
    let first_byte = Duration::from_secs_f64(latency);
    Download {
        level,
        bytes,
        requested: Duration::ZERO,
        buffer: Duration::ZERO,
        first_byte,
        finished: first_byte + Duration::from_secs_f64(bytes as f64 * 8.0 / (mbps * 1e6)),
    }
}

/// The state when the last of these arrived, with this buffer left.
pub(super) fn state<'a>(
    video: &'a Video,
    buffer: f64,
    downloads: &'a [Download],
) -> PlayerState<'a> {
    PlayerState {
        now: downloads
            .last()
            .map_or(Duration::ZERO, |last| last.finished),
        buffer: Duration::from_secs_f64(buffer),
        stalls: 0,
        downloads,
        video,
    }
}

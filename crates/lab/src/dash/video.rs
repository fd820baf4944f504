//! The video on the server.

use std::time::Duration;

use crate::units::Rate;

/// A video in segments of one length, each of them at every level.
///
/// Every segment of a level has the same size: the paper's encoding keeps their sizes as equal as it can (BBR-Sampled,
/// section 3.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Video {
    levels: Vec<Rate>,
    segment: Duration,
    segments: usize,
}

impl Video {
    /// The paper's video, or its beginning: at most `segments` segments of 5 s, on 11 levels from 1 to 25 Mb/s
    /// (BBR-Sampled, section 3.2). The whole has [`SEGMENTS`].
    pub fn big_buck_bunny(segments: usize) -> Self {
        Self {
            levels: LEVELS.map(Rate::from_bits_per_second).to_vec(),
            segment: SEGMENT,
            segments: segments.min(SEGMENTS),
        }
    }

    /// The bit rate of each level, in ascending order.
    pub fn levels(&self) -> &[Rate] {
        &self.levels
    }

    /// The best level there is.
    pub fn top(&self) -> usize {
        self.levels.len().saturating_sub(1)
    }

    /// The bit rate of a level, in bits per second; that of the best if there is no such level.
    pub fn bits_per_second(&self, level: usize) -> f64 {
        let rate = self.levels.get(level.min(self.top()));
        rate.map_or(0.0, |rate| rate.bits_per_second() as f64)
    }

    /// The best level of at most this rate; the lowest if there is none.
    pub fn level_within(&self, bits_per_second: f64) -> usize {
        let within = |rate: &Rate| rate.bits_per_second() as f64 <= bits_per_second;
        self.levels.partition_point(within).saturating_sub(1)
    }

    /// How long a segment plays.
    pub fn segment(&self) -> Duration {
        self.segment
    }

    /// How many segments there are.
    pub fn segments(&self) -> usize {
        self.segments
    }

    /// How long the whole plays.
    pub fn length(&self) -> Duration {
        let segments = u32::try_from(self.segments).unwrap_or(u32::MAX);
        self.segment.saturating_mul(segments)
    }

    /// The bytes of a segment at a level.
    pub fn segment_bytes(&self, level: usize) -> u64 {
        (self.bits_per_second(level) * self.segment.as_secs_f64() / 8.0) as u64
    }
}

/// The number of segments of the paper's video (BBR-Sampled, section 3.2).
pub const SEGMENTS: usize = 127;

/// BBR-Sampled, section 3.2.
const SEGMENT: Duration = Duration::from_secs(5);

/// In bits per second: from 1 Mb/s to 25 Mb/s in steps of 2.5 Mb/s (BBR-Sampled, section 3.2).
const LEVELS: [u64; 11] = [
    1_000_000, 2_500_000, 5_000_000, 7_500_000, 10_000_000, 12_500_000, 15_000_000, 17_500_000,
    20_000_000, 22_500_000, 25_000_000,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_video() {
        let video = Video::big_buck_bunny(SEGMENTS);
        assert_eq!(video.length(), Duration::from_secs(635));
        assert_eq!(video.top(), 10);
        // 5 s of 22.5 Mb/s are 112.5 Mb.
        assert_eq!(video.segment_bytes(9), 14_062_500);
        assert_eq!(video.segment_bytes(99), video.segment_bytes(10));
    }

    #[test]
    fn the_best_level_within_a_rate() {
        let video = Video::big_buck_bunny(3);
        for (mbps, level) in [
            (0.0, 0),
            (1.0, 0),
            (2.4, 0),
            (2.5, 1),
            (24.9, 9),
            (99.0, 10),
        ] {
            assert_eq!(video.level_within(mbps * 1e6), level, "{mbps}");
        }
    }
}

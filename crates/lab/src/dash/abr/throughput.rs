//! Throughput as dash.js measures it (dash.js 3.0, `ThroughputHistory.js`).

use std::time::Duration;

use super::{Download, PlayerState};

impl Download {
    /// Bits per second from the first byte to the last: the time until the first byte is the latency and does not count
    /// (`useDeadTimeLatency`). It takes a millisecond at least, dash.js' clock.
    pub fn throughput(&self) -> f64 {
        let time = self.finished.saturating_sub(self.first_byte);
        self.bytes as f64 * 8.0 / time.max(CLOCK).as_secs_f64()
    }

    /// From the request to the first byte.
    pub fn latency(&self) -> Duration {
        self.first_byte.saturating_sub(self.requested)
    }
}

/// The mean of the last throughputs in bits per second: of the last 3, and of one more for each of these that differs from
/// the one before by the factor 1.3 or more. `None` before the first segment.
fn average(downloads: &[Download]) -> Option<f64> {
    let kept = &downloads[downloads.len().saturating_sub(KEPT)..];
    let rates: Vec<f64> = kept.iter().rev().map(Download::throughput).collect();
    let mut size = SAMPLES.min(rates.len());
    let mut pair = 1;
    while pair < size && size < rates.len() {
        let ratio = rates[pair - 1] / rates[pair];
        if ratio >= VARIES || ratio <= 1.0 / VARIES {
            size += 1;
        }
        pair += 1;
    }
    let sum: f64 = rates[..size].iter().sum();
    (size > 0).then(|| sum / size as f64)
}

/// The best level that the throughput so far can keep up with: within 90 % of its mean, less the share of a segment's time
/// that passes before the first byte. The lowest before the first segment.
pub(super) fn sustainable_level(state: &PlayerState<'_>) -> usize {
    let Some(throughput) = average(state.downloads) else {
        return 0;
    };
    let last = &state.downloads[state.downloads.len().saturating_sub(LATENCIES)..];
    let latencies: f64 = last.iter().map(|d| d.latency().as_secs_f64()).sum();
    let segment = state.video.segment().as_secs_f64();
    let dead = (latencies / last.len() as f64 / segment).min(1.0);
    state.video.level_within(SAFETY * throughput * (1.0 - dead))
}

/// dash.js 3.0, `bandwidthSafetyFactor`.
const SAFETY: f64 = 0.9;

/// dash.js 3.0, `averageThroughputSampleAmount.vod`.
const SAMPLES: usize = 3;

/// dash.js 3.0, `averageLatencySampleAmount`.
const LATENCIES: usize = 4;

/// dash.js 3.0, `maxMeasurementsToKeep`.
const KEPT: usize = 20;

/// dash.js 3.0, `throughputIncreaseScale` and `throughputDecreaseScale`.
const VARIES: f64 = 1.3;

/// dash.js counts milliseconds.
const CLOCK: Duration = Duration::from_millis(1);

#[cfg(test)]
mod tests {
    use super::super::testing::{fetched, state, video};
    use super::*;

    fn average_of(mbps: &[f64]) -> f64 {
        let downloads: Vec<_> = mbps.iter().map(|&rate| fetched(5, rate, 0.1)).collect();
        (average(&downloads).unwrap() / 1e6 * 1000.0).round() / 1000.0
    }

    #[test]
    fn the_mean_of_the_last_three_or_more() {
        assert_eq!(average(&[]), None);
        assert_eq!(average_of(&[20.0]), 20.0);
        // All within 1.3 of each other: the last three.
        assert_eq!(average_of(&[1.0, 20.0, 22.0, 24.0]), 22.0);
        // 30 / 20 = 1.5: one sample more, (10 + 20 + 20 + 30) / 4.
        assert_eq!(average_of(&[10.0, 20.0, 20.0, 30.0]), 20.0);
        // 30 / 20 and 20 / 10 vary, and so does 10 / 5 once it is among them: all five, 69 / 5.
        assert_eq!(average_of(&[4.0, 5.0, 10.0, 20.0, 30.0]), 13.8);
    }

    #[test]
    fn the_safety_factor_and_the_latency_come_off() {
        let video = video();
        let level =
            |mbps, latency| sustainable_level(&state(&video, 5.0, &[fetched(3, mbps, latency)]));
        assert_eq!(sustainable_level(&state(&video, 0.0, &[])), 0);
        // 0.9 x 25 = 22.5 Mb/s is level 9; 0.1 s of 5 s leave 22.05, level 8 of 20 Mb/s.
        assert_eq!(level(25.0, 0.0), 9);
        assert_eq!(level(25.0, 0.1), 8);
        // A segment's time until the first byte: nothing can keep up.
        assert_eq!(level(25.0, 5.0), 0);
    }
}

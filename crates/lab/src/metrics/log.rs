//! A mahimahi log over time.

use kneepoint_emulator::log_format::{EventKind, Log};

use super::timeline::Sum;
use super::{Bin, Timeline};

impl Timeline {
    /// Sorts a log's events into bins of `width_millis`, from the log's base to its last event.
    pub fn of_log(log: &Log, width_millis: u64) -> Self {
        let width = width_millis.max(1);
        let end = log.events().iter().map(|event| event.time).max();
        // An event at a border belongs to the bin that begins there, as for mahimahi's scripts.
        let count = usize::try_from(end.unwrap_or(0) / width + 1).unwrap_or(usize::MAX);
        let mut bins = vec![(0_u64, Sum::default()); count];
        for event in log.events() {
            let index = usize::try_from(event.time / width).unwrap_or(usize::MAX);
            let Some((capacity, departed)) = bins.get_mut(index) else {
                continue;
            };
            match event.kind {
                EventKind::Opportunity { bytes } => *capacity = capacity.saturating_add(bytes),
                EventKind::Departure { bytes, delay } => departed.add(bytes, delay as f64),
                EventKind::Arrival { .. } | EventKind::Drop { .. } => {}
            }
        }
        let bin_seconds = width as f64 / 1e3;
        let mbps = |bytes: u64| bytes as f64 * 8.0 / 1e6 / bin_seconds;
        let bins: Vec<Bin> = bins
            .into_iter()
            .map(|(capacity, departed)| Bin {
                capacity_mbps: mbps(capacity),
                throughput_mbps: mbps(departed.bytes),
                queue_delay_ms: departed.spread(),
            })
            .collect();
        Self {
            bin_seconds,
            duration_seconds: bins.len() as f64 * bin_seconds,
            bins,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Spread;

    #[test]
    fn events_fall_into_bins() {
        let text = "# base timestamp: 100\n100 + 1250\n599 # 1504\n600 # 1504\n600 - 1250 500\n\
                    1599 - 1250 2\n";
        let log = Log::parse(text, "t").unwrap();
        let timeline = Timeline::of_log(&log, 500);
        let delay = |ms| {
            Some(Spread {
                min: ms,
                mean: ms,
                max: ms,
            })
        };
        assert_eq!((timeline.duration_seconds, timeline.bins.len()), (1.5, 3));
        let capacity = 1504.0 * 8.0 / 1e6 / 0.5;
        let bin = |capacity_mbps, throughput_mbps, queue_delay_ms| Bin {
            capacity_mbps,
            throughput_mbps,
            queue_delay_ms,
        };
        let expected = [
            bin(capacity, 0.0, None),
            bin(capacity, 0.02, delay(500.0)),
            bin(0.0, 0.02, delay(2.0)),
        ];
        assert_eq!(timeline.bins, expected);
    }
}

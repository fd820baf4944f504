//! The statistics of a log, as mahimahi's scripts compute them.

use std::collections::BTreeMap;

use super::{EventKind, Log};

/// A log in numbers, as mahimahi's `mm-throughput-graph` and `mm-delay-graph` define them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LogStatistics {
    /// From the first event to the last, in milliseconds.
    pub duration_ms: u64,
    /// Delivery opportunities.
    pub opportunities: u64,
    /// Their capacity.
    pub capacity_bytes: u64,
    /// Packets that arrived.
    pub arrived_packets: u64,
    /// Their size.
    pub arrived_bytes: u64,
    /// Packets that departed.
    pub departed_packets: u64,
    /// Their size.
    pub departed_bytes: u64,
    /// Packets that were dropped.
    pub dropped_packets: u64,
    /// Their size.
    pub dropped_bytes: u64,
    /// The 95th percentile of the departed packets' delays; `None` if there are none.
    pub queue_delay_p95_ms: Option<u64>,
    /// The 95th percentile, over the milliseconds from the first departed packet's arrival to the last one's, of how
    /// long what arrives then takes at least. For a millisecond without an arrival it is one more than for the next.
    pub signal_delay_p95_ms: Option<u64>,
}

impl LogStatistics {
    /// The link's capacity in bytes per second; `None` if the log has no duration.
    pub fn capacity(&self) -> Option<f64> {
        self.rate(self.capacity_bytes)
    }

    /// The link's throughput in bytes per second; `None` if the log has no duration.
    pub fn throughput(&self) -> Option<f64> {
        self.rate(self.departed_bytes)
    }

    /// The part of the capacity that was used; `None` if there was none.
    pub fn utilization(&self) -> Option<f64> {
        let used = self.departed_bytes as f64 / self.capacity_bytes as f64;
        (self.capacity_bytes > 0).then_some(used)
    }

    fn rate(&self, bytes: u64) -> Option<f64> {
        let seconds = self.duration_ms as f64 / 1e3;
        (self.duration_ms > 0).then(|| bytes as f64 / seconds)
    }
}

impl Log {
    /// The log in numbers.
    pub fn statistics(&self) -> LogStatistics {
        let mut statistics = LogStatistics::default();
        let mut delays = Vec::new();
        let mut signal = BTreeMap::new();
        let count = |packets: &mut u64, sum: &mut u64, more: u64, bytes: u64| {
            *packets = packets.saturating_add(more);
            *sum = sum.saturating_add(bytes);
        };
        let s = &mut statistics;
        for event in self.events() {
            match event.kind {
                EventKind::Arrival { bytes } => {
                    count(&mut s.arrived_packets, &mut s.arrived_bytes, 1, bytes);
                }
                EventKind::Drop { packets, bytes } => {
                    count(&mut s.dropped_packets, &mut s.dropped_bytes, packets, bytes);
                }
                EventKind::Opportunity { bytes } => {
                    count(&mut s.opportunities, &mut s.capacity_bytes, 1, bytes);
                }
                EventKind::Departure { bytes, delay } => {
                    count(&mut s.departed_packets, &mut s.departed_bytes, 1, bytes);
                    delays.push(delay);
                    let sent = event.time.saturating_sub(delay);
                    let min = signal.entry(sent).or_insert(delay);
                    *min = delay.min(*min);
                }
            }
        }
        let times = || self.events().iter().map(|event| event.time);
        let (first, last) = (times().next(), times().max());
        s.duration_ms = last.unwrap_or(0).saturating_sub(first.unwrap_or(0));
        delays.sort_unstable();
        s.queue_delay_p95_ms = nth(&delays, rank(delays.len() as u128));
        s.signal_delay_p95_ms = signal_delay(&signal);
        statistics
    }
}

/// The 95th percentile of the least delays of all milliseconds, of which those given have an arrival.
///
/// The milliseconds between two arrivals hold one run of consecutive delays. The runs are not written out: a log may
/// claim to span an age.
fn signal_delay(min: &BTreeMap<u64, u64>) -> Option<u64> {
    let next = min.iter().skip(1).map(|(sent, delay)| (*sent, *delay));
    let gaps = min.keys().zip(next).map(|(sent, (next, delay))| Run {
        from: delay.saturating_add(1),
        length: next - sent - 1,
    });
    let arrivals = min.values().map(|delay| Run {
        from: *delay,
        length: 1,
    });
    let runs: Vec<Run> = arrivals.chain(gaps).collect();
    let samples: u128 = runs.iter().map(|run| u128::from(run.length)).sum();
    let rank = rank(samples);
    let (mut low, mut high) = (0, runs.iter().map(Run::last).max()?);
    while low < high {
        let middle = low + (high - low) / 2;
        let up_to: u128 = runs.iter().map(|run| u128::from(run.up_to(middle))).sum();
        if up_to > rank {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(low)
}

/// Consecutive numbers.
struct Run {
    from: u64,
    length: u64,
}

impl Run {
    fn last(&self) -> u64 {
        self.from.saturating_add(self.length.saturating_sub(1))
    }

    /// How many of them do not exceed a value.
    fn up_to(&self, value: u64) -> u64 {
        let below = value.saturating_add(1).saturating_sub(self.from);
        below.min(self.length)
    }
}

fn nth(sorted: &[u64], rank: u128) -> Option<u64> {
    usize::try_from(rank)
        .ok()
        .and_then(|rank| sorted.get(rank))
        .copied()
}

/// The index, from 0, of mahimahi's 95th percentile among `samples` sorted samples.
fn rank(samples: u128) -> u128 {
    samples * 95 / 100
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, taken literally: missing milliseconds are filled backwards.
    fn filled(min: &BTreeMap<u64, u64>) -> Option<u64> {
        let (first, last) = (*min.keys().next()?, *min.keys().next_back()?);
        let mut delays = Vec::new();
        for millisecond in (first..=last).rev() {
            let next = delays.last().map_or(0, |next| next + 1);
            delays.push(min.get(&millisecond).copied().unwrap_or(next));
        }
        delays.sort_unstable();
        delays.get(delays.len() * 95 / 100).copied()
    }

    proptest::proptest! {
        #[test]
        fn the_signal_delay_is_that_of_the_filled_table(
            min in proptest::collection::btree_map(0..300_u64, 0..500_u64, 0..40),
        ) {
            proptest::prop_assert_eq!(signal_delay(&min), filled(&min));
        }
    }

    #[test]
    fn an_age_without_arrivals_takes_no_memory() {
        let min = BTreeMap::from([(0, 3), (u64::MAX, 0)]);
        let expected = (1 << 64) * 95 / 100;
        let found = signal_delay(&min).map(u128::from);
        assert!(found.is_some_and(|found| found.abs_diff(expected) <= 1));
    }
}

//! A run over time, in bins wide enough to read.

use std::time::Duration;

use kneepoint_emulator::link::Record;

use crate::scenario::Scenario;

/// One bin of a [`Timeline`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Bin {
    /// The link's capacity, in Mb/s.
    pub capacity_mbps: f64,
    /// Its throughput, in Mb/s on the wire.
    pub throughput_mbps: f64,
    /// Queueing delay of the packets that departed in the bin, in milliseconds; `None` when none did.
    pub queue_delay_ms: Option<Spread>,
}

/// The least, the mean and the largest of some values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The least value.
    pub min: f64,
    /// The mean.
    pub mean: f64,
    /// The largest value.
    pub max: f64,
}

/// A run over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// The width of every bin, in seconds; the last one may reach past the deadline.
    pub bin_seconds: f64,
    /// The deadline, in seconds.
    pub duration_seconds: f64,
    /// The bins, from time zero.
    pub bins: Vec<Bin>,
}

impl Timeline {
    /// How wide the bins of a run of this length are: a multiple of 100 ms that gives at most 300 bins.
    pub fn bin_width(duration: Duration) -> Duration {
        let hundreds = duration
            .as_millis()
            .div_ceil(100 * MAX_BINS)
            .clamp(1, u128::from(u32::MAX));
        Duration::from_millis(100) * hundreds as u32
    }

    /// The borders of the bins of a run of this length: from zero to the deadline, the last bin cut there.
    pub fn bin_borders(duration: Duration) -> Vec<Duration> {
        let width = Self::bin_width(duration);
        let mut borders = vec![Duration::ZERO];
        let mut border = width;
        while border < duration {
            borders.push(border);
            border += width;
        }
        borders.push(duration);
        borders
    }

    /// Sorts what the data link served by the deadline into bins.
    pub fn new(scenario: &Scenario, records: &[Record]) -> Self {
        let width = Self::bin_width(scenario.duration);
        let borders = Self::bin_borders(scenario.duration);
        let mut sums = vec![Sum::default(); borders.len() - 1];
        let last = sums.len() - 1;
        for record in records {
            let (Some(departure), Some(wait)) = (record.departure(), record.wait()) else {
                continue;
            };
            let departure = Duration::from(departure);
            if departure <= scenario.duration {
                let index = departure.as_nanos() / width.as_nanos();
                let index = usize::try_from(index).unwrap_or(last).min(last);
                let wait = Duration::from(wait).as_secs_f64() * 1e3;
                sums[index].add(record.size, wait);
            }
        }
        let bins = borders
            .windows(2)
            .zip(&sums)
            .map(|(border, sum)| {
                let seconds = (border[1] - border[0]).as_secs_f64();
                let mbps = |bytes: f64| bytes * 8.0 / 1e6 / seconds;
                Bin {
                    capacity_mbps: mbps(scenario.link.capacity(border[0], border[1])),
                    throughput_mbps: mbps(sum.bytes as f64),
                    queue_delay_ms: sum.spread(),
                }
            })
            .collect();
        Self {
            bin_seconds: width.as_secs_f64(),
            duration_seconds: scenario.duration.as_secs_f64(),
            bins,
        }
    }
}

#[derive(Clone, Copy, Default)]
pub(super) struct Sum {
    packets: u64,
    pub(super) bytes: u64,
    min: f64,
    max: f64,
    total: f64,
}

impl Sum {
    pub(super) fn add(&mut self, bytes: u64, delay: f64) {
        self.min = if self.packets == 0 {
            delay
        } else {
            self.min.min(delay)
        };
        self.max = self.max.max(delay);
        self.total += delay;
        self.packets += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }

    pub(super) fn spread(&self) -> Option<Spread> {
        (self.packets > 0).then(|| Spread {
            min: self.min,
            mean: self.total / self.packets as f64,
            max: self.max,
        })
    }
}

/// More bins than this cannot be told apart on a plot 1200 pixels wide.
const MAX_BINS: u128 = 300;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::tests::served;
    use crate::scenario::Link;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn bins_are_whole_tenths_of_a_second_and_few() {
        assert_eq!(Timeline::bin_width(ms(1)), ms(100));
        assert_eq!(Timeline::bin_width(Duration::from_secs(30)), ms(100));
        assert_eq!(Timeline::bin_width(Duration::from_secs(60)), ms(200));
        assert_eq!(Timeline::bin_width(Duration::from_secs(61)), ms(300));
        assert_eq!(Timeline::bin_borders(ms(250)), [0, 100, 200, 250].map(ms));
        assert_eq!(Timeline::bin_borders(ms(200)), [0, 100, 200].map(ms));
        let day = Timeline::bin_borders(Duration::from_secs(86_400));
        assert_eq!(day.len(), 301);
    }

    #[test]
    fn packets_fall_into_the_bin_of_their_departure() {
        // 10 ms a packet: departures at 10, 20, 30, 100 and 250 ms.
        let served = served(125_000, 9, &[0, 0, 0, 90, 240].map(|millis| (millis, 1250)));
        let scenario = Scenario::bulk(Link::constant("1Mbps".parse().unwrap()), ms(250));
        let timeline = Timeline::new(&scenario, &served.records);
        let [first, second, third] = timeline.bins.as_slice() else {
            panic!("three bins: {timeline:?}");
        };
        assert!((first.throughput_mbps - 0.3).abs() < 1e-12);
        assert!((first.capacity_mbps - 1.0).abs() < 1e-12);
        let spread = first.queue_delay_ms.unwrap();
        assert_eq!((spread.min, spread.mean, spread.max), (10.0, 20.0, 30.0));
        assert_eq!(second.queue_delay_ms.unwrap().mean, 10.0);
        // The last bin is 50 ms wide, and a departure at the deadline belongs to it.
        assert!((third.throughput_mbps - 0.2).abs() < 1e-12);
        assert!((third.capacity_mbps - 1.0).abs() < 1e-12);
    }
}

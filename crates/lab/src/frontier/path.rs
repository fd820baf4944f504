//! The path of a case: a bottleneck towards the receiver, and the way back.

use std::time::Duration;

use kneepoint_emulator::link::{
    Aggregation, Delay, DelayStep, Jitter, Limit, LinkConfig, Loss, MAHIMAHI_OVERHEAD, Policer,
    Queue, Shaper, UDP_IPV4_OVERHEAD,
};
use kneepoint_emulator::network::Duplex;
use kneepoint_emulator::time::Nanos;
use serde::Serialize;

use super::{millis, seconds};

/// Both directions of a bottleneck.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Path {
    /// The data's way.
    pub forward: LinkConfig,
    /// The acknowledgements' way.
    pub reverse: LinkConfig,
}

impl Path {
    /// A constant rate, with a drop-tail buffer of so many bandwidth-delay products but at least [`MIN_BUFFER`] bytes.
    pub(crate) fn constant(mbps: f64, rtt_ms: f64, bdps: f64) -> Self {
        let buffer = bdps * mbps * 125.0 * rtt_ms;
        Self::new(rate(mbps), rtt_ms, (buffer as u64).max(MIN_BUFFER))
    }

    /// A shaper with a drop-tail buffer of so many bytes. Half of the round-trip time passes in each direction.
    pub(crate) fn new(shaper: Shaper, rtt_ms: f64, buffer: u64) -> Self {
        let overhead = match shaper {
            Shaper::Trace(_) => MAHIMAHI_OVERHEAD,
            _ => UDP_IPV4_OVERHEAD,
        };
        let delay = Delay::from(millis(rtt_ms / 2.0));
        Self {
            forward: LinkConfig {
                queue: Queue::DropTail(Limit::bytes(buffer)),
                delay: delay.clone(),
                overhead,
                ..LinkConfig::new(shaper)
            },
            reverse: LinkConfig {
                delay,
                overhead,
                ..LinkConfig::new(rate(FAST_MBPS))
            },
        }
    }

    /// The same with loss on the data's way.
    pub(crate) fn loss(mut self, loss: impl Into<Loss>) -> Self {
        self.forward.loss = loss.into();
        self
    }

    /// The same with another queue.
    pub(crate) fn queue(mut self, queue: Queue) -> Self {
        self.forward.queue = queue;
        self
    }

    /// The same with a policer in front of the queue.
    pub(crate) fn policer(mut self, mbps: f64, burst: u64) -> Self {
        self.forward.policer = Some(Policer {
            bytes_per_second: bytes_per_second(mbps),
            burst,
        });
        self
    }

    /// The same with 0 to so many milliseconds more in each direction, drawn for every packet.
    pub(crate) fn jitter(mut self, most_ms: f64, reordering: bool) -> Self {
        for link in [&mut self.forward, &mut self.reverse] {
            let from = Nanos::from(mean_delay(&link.delay, Duration::ZERO, Duration::ZERO));
            link.delay = Delay::Jittered {
                jitter: Jitter::Uniform {
                    from,
                    to: from + Nanos::from(millis(most_ms)),
                },
                reordering,
            };
        }
        self
    }

    /// The same with the jitter of Wi-Fi in each direction, of so many milliseconds on average.
    pub(crate) fn wifi(mut self, mean_ms: f64) -> Self {
        for link in [&mut self.forward, &mut self.reverse] {
            let from = Nanos::from(mean_delay(&link.delay, Duration::ZERO, Duration::ZERO));
            let mean = millis(mean_ms).into();
            link.delay = Delay::Jittered {
                jitter: Jitter::Wifi { from, mean },
                reordering: false,
            };
        }
        self
    }

    /// The same with round-trip times in milliseconds that hold from given seconds on, half of them in each direction.
    pub(crate) fn rtt_steps(mut self, steps: &[(f64, f64)]) -> Self {
        for link in [&mut self.forward, &mut self.reverse] {
            let steps = steps.iter().map(|&(from, rtt_ms)| DelayStep {
                from: seconds(from).into(),
                delay: millis(rtt_ms / 2.0).into(),
            });
            link.delay = Delay::Steps {
                steps: steps.collect(),
                reordering: false,
            };
        }
        self
    }

    /// The same with data packets that are held, and released together at multiples of the interval.
    pub(crate) fn data_batches(mut self, interval_ms: f64) -> Self {
        self.forward.aggregation = Some(Aggregation {
            interval: millis(interval_ms).into(),
            packets: None,
        });
        self
    }

    /// The same with acknowledgements that are held, and released together at multiples of the interval.
    pub(crate) fn ack_batches(mut self, interval_ms: f64) -> Self {
        self.reverse.aggregation = Some(Aggregation {
            interval: millis(interval_ms).into(),
            packets: None,
        });
        self
    }

    /// The same with another way back.
    pub(crate) fn way_back(mut self, change: impl FnOnce(&mut LinkConfig)) -> Self {
        change(&mut self.reverse);
        self
    }

    /// The two links.
    pub(crate) fn duplex(&self) -> Duplex {
        Duplex {
            forward: self.forward.clone(),
            reverse: self.reverse.clone(),
        }
    }

    /// The bytes that the data link can carry between two times.
    pub fn capacity(&self, from: Duration, to: Duration) -> f64 {
        let span = to.saturating_sub(from);
        let shaped = match &self.forward.shaper {
            Shaper::ConstantRate { bytes_per_second } => {
                *bytes_per_second as f64 * (span - self.dark(from, to)).as_secs_f64()
            }
            Shaper::Trace(trace) => trace.capacity(from.into(), to.into()) as f64,
            Shaper::TokenBucket {
                bytes_per_second,
                burst,
                ..
            } => bucket(*bytes_per_second, *burst, from, span),
            Shaper::Schedule(steps) => {
                let starts = steps.iter().map(|step| Duration::from(step.from));
                let rates = steps.iter().map(|step| step.bytes_per_second as f64);
                weighted(starts.zip(rates), from, to)
            }
            _ => f64::INFINITY,
        };
        self.forward.policer.map_or(shaped, |policer| {
            shaped.min(bucket(policer.bytes_per_second, policer.burst, from, span))
        })
    }

    /// The mean round-trip time of a single full packet between two times.
    pub fn base_rtt(&self, from: Duration, to: Duration) -> Duration {
        let one_way = |link: &LinkConfig| {
            let held = link.aggregation.map_or(Duration::ZERO, |aggregation| {
                Duration::from(aggregation.interval) / 2
            });
            mean_delay(&link.delay, from, to) + held
        };
        let transmission = match self.forward.shaper {
            Shaper::ConstantRate { bytes_per_second } => {
                seconds(FULL_PACKET / bytes_per_second.max(1) as f64)
            }
            _ => Duration::ZERO,
        };
        one_way(&self.forward) + one_way(&self.reverse) + transmission
    }

    /// For how long everything is dropped between two times.
    fn dark(&self, from: Duration, to: Duration) -> Duration {
        let blackouts = self.forward.impairments.blackouts.iter();
        blackouts
            .map(|dark| {
                let end = Duration::from(dark.to).min(to);
                end.saturating_sub(Duration::from(dark.from).max(from))
            })
            .sum()
    }
}

/// A shaper of one rate.
pub(crate) fn rate(mbps: f64) -> Shaper {
    Shaper::ConstantRate {
        bytes_per_second: bytes_per_second(mbps),
    }
}

pub(crate) fn bytes_per_second(mbps: f64) -> u64 {
    ((mbps * 125_000.0).round() as u64).max(1)
}

/// What a token bucket passes, which is full at time zero.
fn bucket(bytes_per_second: u64, burst: u64, from: Duration, span: Duration) -> f64 {
    let full = if from.is_zero() { burst as f64 } else { 0.0 };
    bytes_per_second as f64 * span.as_secs_f64() + full
}

/// The mean of a delay between two times.
fn mean_delay(delay: &Delay, from: Duration, to: Duration) -> Duration {
    match delay {
        Delay::Fixed(delay) => (*delay).into(),
        Delay::Steps { steps, .. } => {
            let starts = steps.iter().map(|step| Duration::from(step.from));
            let delays = steps.iter().map(|step| step.delay.as_secs_f64());
            let span = to.saturating_sub(from).as_secs_f64();
            seconds(weighted(starts.zip(delays), from, to) / span.max(f64::MIN_POSITIVE))
        }
        Delay::Jittered { jitter, .. } => match *jitter {
            Jitter::Uniform { from, to } => Duration::from(from + to) / 2,
            Jitter::Normal { mean, .. } => mean.into(),
            Jitter::Wifi { from, mean } => Duration::from(from + mean),
            _ => Duration::ZERO,
        },
        _ => Duration::ZERO,
    }
}

/// The integral between two times of a value that holds from each start until the next one.
fn weighted(steps: impl Iterator<Item = (Duration, f64)>, from: Duration, to: Duration) -> f64 {
    let steps: Vec<_> = steps.chain([(Duration::MAX, 0.0)]).collect();
    let spans = steps.windows(2).map(|pair| {
        let span = pair[1].0.min(to).saturating_sub(pair[0].0.max(from));
        pair[0].1 * span.as_secs_f64()
    });
    spans.sum()
}

/// The rate of links that are never the bottleneck.
pub(crate) const FAST_MBPS: f64 = 20_000.0;

/// No drop-tail buffer is smaller: four full packets.
pub(crate) const MIN_BUFFER: u64 = 6_000;

/// The largest packet of Ethernet, in bytes (RFC 894).
pub(crate) const FULL_PACKET: f64 = 1500.0;

#[cfg(test)]
mod tests {
    use super::super::ms;
    use super::*;
    use kneepoint_emulator::link::{Interval, RateStep};

    #[test]
    fn capacities() {
        let path = Path::constant(8.0, 20.0, 1.0);
        assert_eq!(path.capacity(seconds(1.0), seconds(3.0)), 2e6);
        let mut dark = path.clone();
        dark.forward.impairments.blackouts = vec![Interval {
            from: ms(500).into(),
            to: ms(1500).into(),
        }];
        assert_eq!(dark.capacity(seconds(1.0), seconds(3.0)), 1.5e6);
        let policed = path.policer(4.0, 10_000);
        assert_eq!(policed.capacity(seconds(0.0), seconds(2.0)), 1_010_000.0);
        let step = |from: u64, mbps: u64| RateStep {
            from: ms(from).into(),
            bytes_per_second: mbps * 125_000,
        };
        let steps = Shaper::Schedule(vec![step(0, 8), step(1000, 0), step(1500, 16)]);
        let path = Path::new(steps, 20.0, MIN_BUFFER);
        assert_eq!(path.capacity(ms(0), ms(2000)), 2e6);
        assert_eq!(path.capacity(ms(500), ms(1250)), 0.5e6);
    }

    #[test]
    fn base_round_trip_times() {
        // A packet of 1500 bytes takes 12 ms at 1 Mb/s.
        let path = Path::constant(1.0, 20.0, 1.0);
        assert_eq!(path.base_rtt(ms(0), ms(100)), ms(32));
        let base = path.jitter(10.0, false).ack_batches(30.0);
        assert_eq!(base.base_rtt(ms(0), ms(100)), ms(57));
        let longer = Path::constant(1e6, 20.0, 1.0).rtt_steps(&[(0.0, 20.0), (1.0, 80.0)]);
        for (from, to, expected) in [(0, 4000, 0.065), (0, 1000, 0.02), (1000, 4000, 0.08)] {
            let base = longer.base_rtt(ms(from), ms(to)).as_secs_f64();
            assert!((base - expected).abs() < 1e-6, "{base}");
        }
    }
}

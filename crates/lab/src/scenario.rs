//! What is measured: a link, and the traffic over it.

use std::fmt;
use std::time::Duration;

use kneepoint::traces;
use kneepoint_emulator::host::HostConfig;
use kneepoint_emulator::link::{
    Delay, Jitter, LinkConfig, Loss, MAHIMAHI_OVERHEAD, Queue, Shaper, UDP_IPV4_OVERHEAD,
};
use kneepoint_emulator::network::{Duplex, Topology};
use kneepoint_emulator::time::Nanos;
use kneepoint_emulator::trace::Trace;
use serde::Serialize;

use crate::aqm::Aqm;
use crate::link_file::{LinkFile, queue_label};
use crate::stack::Windows;
use crate::sweep::digest_of;
use crate::units::{QueueSize, Rate};
use crate::workload::Workload;

/// The data link's capacity, or a file's whole network, under a name.
#[derive(Debug, Clone, Serialize)]
pub struct Link {
    name: String,
    shape: Shape,
}

#[derive(Debug, Clone, Serialize)]
enum Shape {
    Constant(Rate),
    Trace {
        #[serde(skip)]
        trace: Trace,
        /// Stands for the trace in a key: thousands of runs can be over one, and need a few characters of it each.
        digest: String,
    },
    File(Box<LinkFile>),
}

impl Link {
    /// A link of one rate, named after it.
    pub fn constant(rate: Rate) -> Self {
        Self {
            name: rate.to_string(),
            shape: Shape::Constant(rate),
        }
    }

    /// A link that follows a trace.
    pub fn trace(name: impl Into<String>, trace: Trace) -> Self {
        // Numbers can always be written.
        let digest = digest_of(&trace).unwrap_or_default();
        Self {
            name: name.into(),
            shape: Shape::Trace { trace, digest },
        }
    }

    /// A network that a file describes.
    pub fn file(name: impl Into<String>, file: LinkFile) -> Self {
        Self {
            name: name.into(),
            shape: Shape::File(Box::new(file)),
        }
    }

    /// What is used when no link is named: the bundled LTE trace of a fast car, two minutes of it.
    pub fn bundled() -> Self {
        let trace = traces::lte_driving_fast();
        Self::trace(trace.name().to_owned(), trace)
    }

    /// What the link is called in results.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The bytes the link can carry after `from` and up to `to`.
    pub fn capacity(&self, from: Duration, to: Duration) -> f64 {
        match &self.shape {
            Shape::Constant(rate) => {
                bytes_per_second(*rate) as f64 * to.saturating_sub(from).as_secs_f64()
            }
            Shape::Trace { trace, .. } => trace.capacity(from.into(), to.into()) as f64,
            Shape::File(file) => file.capacity(from, to),
        }
    }

    /// The same link under another name.
    #[must_use]
    pub fn renamed(self, name: String) -> Self {
        Self { name, ..self }
    }

    /// The file that describes it, if one does.
    pub fn described(&self) -> Option<&LinkFile> {
        match &self.shape {
            Shape::File(file) => Some(file),
            Shape::Constant(_) | Shape::Trace { .. } => None,
        }
    }

    fn shaper(&self) -> Shaper {
        match &self.shape {
            Shape::Constant(rate) => Shaper::ConstantRate {
                bytes_per_second: bytes_per_second(*rate),
            },
            Shape::Trace { trace, .. } => Shaper::Trace(trace.clone()),
            Shape::File(file) => file.forward().shaper.clone(),
        }
    }

    /// A datagram's bytes on the wire beyond its payload: as mahimahi counts them where a mahimahi trace is followed.
    fn overhead(&self) -> u32 {
        match &self.shape {
            Shape::Constant(_) => UDP_IPV4_OVERHEAD,
            Shape::Trace { .. } => MAHIMAHI_OVERHEAD,
            Shape::File(file) => file.forward().overhead,
        }
    }
}

fn bytes_per_second(rate: Rate) -> u64 {
    (rate.bits_per_second() / 8).max(1)
}

/// Uploads over one bottleneck: every flow sends what the workload asks for, from its start to the deadline, over a
/// connection of its own. Bulk data takes one QUIC stream.
///
/// Data crosses the [`Link`] under test; acknowledgements return over a link of [`ACK_LINK_RATE`] with an infinite queue unless there is
/// another [`WayBack`].
/// Each direction has half the round-trip time as its propagation delay. A link of a file comes with all that is between the
/// senders and the receiver: `rtt`, `queue` and `loss` only say what it is, see [`Scenario::over_file`].
#[derive(Debug, Clone, Serialize)]
pub struct Scenario {
    /// The data link.
    pub link: Link,
    /// The round-trip time of an empty path.
    pub rtt: Duration,
    /// How much the data link's queue holds; it drops arrivals beyond that.
    pub queue: QueueSize,
    /// What manages the data link's queue; drop-tail if absent.
    pub aqm: Option<Aqm>,
    /// Whether that marks ECN-capable packets instead of dropping them.
    pub ecn: bool,
    /// The most by which a packet of the data link is later than by propagation alone: drawn for each, in order.
    pub jitter: Duration,
    /// The way back of the acknowledgements, if it is a bottleneck.
    pub way_back: Option<WayBack>,
    /// How long the flows send, the handshake included.
    pub duration: Duration,
    /// The probability that the data link loses a packet before it reaches the queue.
    pub loss: f64,
    /// How many flows there are. One starts at time zero; several each start at a random time within
    /// [`START_SPREAD`], unless there is a gap between them.
    pub flows: u32,
    /// The source of all randomness.
    pub seed: u64,
    /// What time both ends take: all senders are sockets of one host, and the receiver is another.
    pub host: HostConfig,
    /// What each flow's application does.
    pub workload: Workload,
    /// From one flow's start to the next one's; zero if they all start within [`START_SPREAD`].
    pub start_gap: Duration,
    /// Flow control of every connection.
    pub windows: Windows,
}

impl Scenario {
    /// One bulk flow between ideal hosts: 40 ms, 3 MB of queue, no random loss, no flow control, and the seed 1.
    pub fn bulk(link: Link, duration: Duration) -> Self {
        Self {
            link,
            rtt: Duration::from_millis(40),
            queue: QueueSize::Bytes(3_000_000),
            aqm: None,
            ecn: false,
            jitter: Duration::ZERO,
            way_back: None,
            duration,
            loss: 0.0,
            flows: 1,
            seed: 1,
            host: HostConfig::ideal(),
            workload: Workload::Bulk,
            start_gap: Duration::ZERO,
            windows: Windows::UNLIMITED,
        }
    }

    /// The same over the network of a file, if the link is one: with its round-trip time and its random loss.
    #[must_use]
    pub fn over_file(mut self) -> Self {
        if let Some(file) = self.link.described() {
            self.rtt = file.base_rtt();
            self.loss = match file.forward().loss {
                Loss::Random(probability) => probability,
                _ => 0.0,
            };
        }
        self
    }

    /// The data link's queue in a few words, as the command line takes it if it does.
    pub fn queue_label(&self) -> String {
        match self.link.described() {
            Some(file) => queue_label(&file.forward().queue),
            None => queue_label(&self.managed_queue()),
        }
    }

    fn managed_queue(&self) -> Queue {
        let managed = self.aqm.map(|aqm| aqm.queue(self.queue, self.ecn));
        // RED without a limit would be none: the command refuses it.
        managed.and_then(Result::ok).unwrap_or(self.queue.into())
    }

    /// The network this scenario runs over: senders at the node `left`, the receiver at `right`, and between them the data link
    /// `forward`.
    pub fn topology(&self) -> Topology {
        match self.link.described() {
            Some(file) => file.topology().clone(),
            None => Topology::point_to_point(self.links()),
        }
    }

    /// The links this scenario runs over, unless a file describes them: senders on the left, the receiver on the right.
    fn links(&self) -> Duplex {
        let one_way = self.rtt / 2;
        let there = Nanos::from(self.rtt - one_way);
        let delay = match Nanos::from(self.jitter) {
            Nanos::ZERO => there.into(),
            most => Delay::Jittered {
                jitter: Jitter::Uniform {
                    from: there,
                    to: there + most,
                },
                reordering: false,
            },
        };
        let forward = LinkConfig {
            queue: self.managed_queue(),
            delay,
            loss: self.loss.into(),
            overhead: self.link.overhead(),
            log: true,
            ..LinkConfig::new(self.link.shaper())
        };
        let reverse = match &self.way_back {
            Some(back) => LinkConfig {
                queue: back.queue.into(),
                delay: one_way.into(),
                loss: back.loss.into(),
                overhead: back.link.overhead(),
                ..LinkConfig::new(back.link.shaper())
            },
            None => LinkConfig {
                delay: one_way.into(),
                overhead: self.link.overhead(),
                ..LinkConfig::constant(bytes_per_second(ACK_LINK_RATE))
            },
        };
        Duplex { forward, reverse }
    }
}

/// The way back of acknowledgements.
#[derive(Debug, Clone, Serialize)]
pub struct WayBack {
    /// Its capacity.
    pub link: Link,
    /// How much its queue holds; it drops arrivals beyond that.
    pub queue: QueueSize,
    /// The probability that it loses a packet before it reaches the queue.
    pub loss: f64,
}

impl fmt::Display for WayBack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} queue {}", self.link.name(), self.queue)?;
        if self.loss > 0.0 {
            write!(f, " loss {}", self.loss)?;
        }
        Ok(())
    }
}

/// The rate of the acknowledgements' way back: never a bottleneck.
pub const ACK_LINK_RATE: Rate = Rate::from_bits_per_second(1_000_000_000);

/// The time within which several flows start.
pub const START_SPREAD: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use kneepoint_emulator::link::Limit;

    use super::*;

    #[test]
    fn capacity_of_a_rate_and_of_a_trace() {
        let second = Duration::from_secs(1);
        let link = Link::constant("8Mbps".parse().unwrap());
        assert_eq!(link.name(), "8Mbps");
        assert_eq!(link.capacity(second, 3 * second), 2_000_000.0);
        let link = Link::trace("tens", Trace::from_millis(vec![10, 20], "tens").unwrap());
        assert_eq!(link.capacity(Duration::ZERO, second), 100.0 * 1504.0);
    }

    #[test]
    fn the_delays_add_up_to_the_round_trip_time() {
        let link = Link::constant("8Mbps".parse().unwrap());
        let scenario = Scenario {
            rtt: Duration::from_nanos(40_000_001),
            queue: QueueSize::Packets(100),
            loss: 0.1,
            ..Scenario::bulk(link, Duration::from_secs(1))
        };
        let links = scenario.links();
        assert_eq!(links.forward.delay, Delay::Fixed(Nanos(20_000_001)));
        assert_eq!(links.reverse.delay, Delay::Fixed(Nanos(20_000_000)));
        assert_eq!(links.forward.loss, Loss::Random(0.1));
        assert_eq!(links.reverse.loss, Loss::Random(0.0));
        assert_eq!(links.forward.queue, Queue::DropTail(Limit::packets(100)));
    }
}

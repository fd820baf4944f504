//! Paths, one connection over them, and marks that a test deals out itself.

use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kneepoint_emulator::link::{Limit, LinkConfig, Queue, RateStep, Shaper};
use kneepoint_emulator::network::{Duplex, Topology};
use kneepoint_lab::controllers::resolve;
use kneepoint_lab::metrics::stats;
use kneepoint_lab::probe::SharedFactory;
use kneepoint_lab::trial::{FlowPlan, Outcome, Trial};
use kneepoint_lab::workload::Phase;
use quinn::congestion::{Controller, ControllerFactory, ControllerMetrics};
use quinn_proto::RttEstimator;

/// What of a link's rate a stream gets: 1452 of 1480 bytes are datagram, and a little of that is header.
pub(crate) const PAYLOAD: f64 = 0.97;

pub(crate) fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

pub(crate) fn bytes_per_second(mbps: f64) -> u64 {
    (mbps * 125_000.0) as u64
}

pub(crate) fn constant(mbps: f64) -> Shaper {
    Shaper::ConstantRate {
        bytes_per_second: bytes_per_second(mbps),
    }
}

/// One rate until a time, and another from then on.
pub(crate) fn step(before: f64, at: f64, after: f64) -> Shaper {
    let step = |from, mbps| RateStep {
        from: seconds(from).into(),
        bytes_per_second: bytes_per_second(mbps),
    };
    Shaper::Schedule(vec![step(0.0, before), step(at, after)])
}

/// So many bandwidth-delay products, and ten packets at least.
pub(crate) fn bdp(mbps: f64, rtt: f64, times: f64) -> u64 {
    ((mbps * 125_000.0 * rtt * times) as u64).max(15_000)
}

/// The data's link.
pub(crate) fn forward(shaper: Shaper, rtt: f64, queue: u64) -> LinkConfig {
    LinkConfig {
        queue: Queue::DropTail(Limit::bytes(queue)),
        delay: seconds(rtt / 2.0).into(),
        ..LinkConfig::new(shaper)
    }
}

/// The way back, which limits nothing.
pub(crate) fn reverse(rtt: f64) -> LinkConfig {
    LinkConfig {
        delay: seconds(rtt / 2.0).into(),
        ..LinkConfig::new(constant(40_000.0))
    }
}

/// A greedy connection for so many seconds.
pub(crate) fn greedy(name: &str, links: Duplex, end: f64) -> Outcome {
    let controller = resolve(name, 1).expect("a known controller");
    with(controller, links, end, None)
}

/// The same of a given controller, or of another application.
pub(crate) fn with(
    controller: SharedFactory,
    links: Duplex,
    end: f64,
    application: Option<Vec<Phase>>,
) -> Outcome {
    let mut flow = FlowPlan::greedy(controller, Duration::ZERO, seconds(end));
    if let Some(application) = application {
        flow.application = application;
    }
    let trial = Trial {
        topology: Topology::point_to_point(links),
        flows: vec![flow],
        duration: seconds(end),
        interval: None,
        seed: 1,
    };
    trial.run().expect("it runs")
}

/// The goodput from one second to another in Mb/s.
pub(crate) fn goodput(outcome: &Outcome, from: f64, to: f64) -> f64 {
    outcome.flows[0].goodput_mbps(seconds(from), seconds(to))
}

/// The mean round-trip time in the same span, in milliseconds.
pub(crate) fn mean_rtt(outcome: &Outcome, from: f64, to: f64) -> f64 {
    let rtts = outcome.rtts(seconds(from), seconds(to));
    stats::mean(&rtts).expect("it is acknowledged") / 1e6
}

/// How long after `from` a second begins with a goodput of `mbps`, to a tenth of a second.
pub(crate) fn time_to(outcome: &Outcome, from: f64, mbps: f64) -> f64 {
    let end = outcome.duration.as_secs_f64();
    (0..)
        .map(|tenths| f64::from(tenths) / 10.0)
        .take_while(|after| from + after + 1.0 <= end)
        .find(|after| goodput(outcome, from + after, from + after + 1.0) >= mbps)
        .unwrap_or(f64::INFINITY)
}

/// A controller that is told of a mark at given times after its connection's beginning, and of another with the given
/// acknowledged packet: no queue marks a single packet of a test's choice.
pub(crate) fn marked(name: &str, times: Vec<Duration>, packet: Option<u64>) -> SharedFactory {
    Arc::new(MarkerFactory {
        inner: resolve(name, 1).expect("a known controller"),
        times: times.into(),
        packet,
    })
}

struct MarkerFactory {
    inner: SharedFactory,
    times: Arc<[Duration]>,
    packet: Option<u64>,
}

impl ControllerFactory for MarkerFactory {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        Box::new(Marker {
            inner: Arc::clone(&self.inner).build(now, mtu),
            times: Arc::clone(&self.times),
            packet: self.packet,
            began: now,
            told: 0,
            acked: 0,
            newest: now,
        })
    }
}

struct Marker {
    inner: Box<dyn Controller>,
    times: Arc<[Duration]>,
    packet: Option<u64>,
    began: Instant,
    /// Of the times, those that have come.
    told: usize,
    acked: u64,
    /// When the packet acknowledged last had left.
    newest: Instant,
}

impl Controller for Marker {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.inner.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.acked += 1;
        self.newest = sent;
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest: Option<u64>,
    ) {
        self.inner.on_end_acks(now, in_flight, app_limited, largest);
        let due = self.times[self.told..]
            .iter()
            .take_while(|after| now >= self.began + **after)
            .count();
        self.told += due;
        let packet = self.packet.take_if(|packet| self.acked >= *packet);
        if due > 0 || packet.is_some() {
            self.inner.on_congestion_event(now, self.newest, false, 0);
        }
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        self.inner
            .on_congestion_event(now, sent, is_persistent_congestion, lost_bytes);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        self.inner.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self {
            inner: self.inner.clone_box(),
            times: Arc::clone(&self.times),
            ..*self
        })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self.inner.into_any()
    }
}

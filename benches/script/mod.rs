//! A sender in a steady state, as quinn's congestion controllers see it.
//!
//! So many packets are in flight on a path of 40 ms; so many are acknowledged at a time, and as many sent in turn; and
//! once in a thousand packets one is lost, so that none of the controllers stays in slow start. One [`Script::step`] is all
//! the calls that quinn makes for an acknowledgement: `on_sent`, `on_ack` for each packet, `on_end_acks`, now and then
//! `on_congestion_event`, and a look at the window.
//!
//! A controller that looks for the link's rate before it cruises finds none there: no queue stands, whatever the window is. With
//! [`Script::following`] the sender has in flight what its window allows, without losses, on a path that holds so many packets.
//!
//! `on_ack` wants quinn's `RttEstimator`, which nobody else can construct. But it can be copied: [`capture`] takes one
//! from a real connection over an emulated path of those 40 ms.

mod capture;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(crate) use capture::capture;
use kneepoint::ControllerSpec;
use kneepoint::quinn::IntoFactory as _;
use quinn::congestion::{BbrConfig, Controller, ControllerFactory, CubicConfig, NewRenoConfig};
use quinn_proto::RttEstimator;

pub(crate) type SharedFactory = Arc<dyn ControllerFactory + Send + Sync>;

/// Every selection of ours by its name, after quinn's own controllers.
pub(crate) fn controllers() -> Vec<(String, SharedFactory)> {
    let quinns: [(&str, SharedFactory); 3] = [
        ("quinn-cubic", Arc::new(CubicConfig::default())),
        ("quinn-new-reno", Arc::new(NewRenoConfig::default())),
        ("quinn-bbr", Arc::new(BbrConfig::default())),
    ];
    let quinns = quinns.map(|(name, factory)| (name.to_owned(), factory));
    let ours =
        ControllerSpec::all().map(|ours| (ours.to_string(), ours.factory() as SharedFactory));
    quinns.into_iter().chain(ours).collect()
}

/// What the estimator held, and when.
#[derive(Clone, Copy)]
pub(crate) struct Start {
    pub(crate) now: Instant,
    pub(crate) rtt: RttEstimator,
}

/// A sender that keeps a fixed number of packets in flight.
pub(crate) struct Script {
    pub(crate) controller: Box<dyn Controller>,
    rtt: RttEstimator,
    now: Instant,
    /// Between acknowledgements.
    interval: Duration,
    /// Packets per acknowledgement.
    batch: u32,
    /// When each batch of packets in flight was sent.
    sent: VecDeque<Instant>,
    last_number: u64,
    until_loss: u32,
    /// Whether the window says how much is in flight.
    follows_window: bool,
}

impl Script {
    /// `packets` in flight, `batch` of them acknowledged at a time.
    pub(crate) fn new(factory: &SharedFactory, start: &Start, packets: u32, batch: u32) -> Self {
        let batches = packets.div_ceil(batch);
        let mut script = Self {
            controller: factory.clone().build(start.now, MTU),
            rtt: start.rtt,
            now: start.now,
            interval: RTT / batches,
            batch,
            sent: VecDeque::with_capacity(batches as usize + 1),
            last_number: 0,
            until_loss: PACKETS_PER_LOSS,
            follows_window: false,
        };
        for _ in 0..batches {
            script.now += script.interval;
            script.send();
        }
        script
    }

    /// As much in flight as the window allows, on a path that holds `packets`.
    #[allow(dead_code, reason = "only the example `steps` follows the window")]
    pub(crate) fn following(
        factory: &SharedFactory,
        start: &Start,
        packets: u32,
        batch: u32,
    ) -> Self {
        let mut script = Self::new(factory, start, batch, batch);
        script.interval = RTT / packets.div_ceil(batch);
        script.until_loss = u32::MAX;
        script.follows_window = true;
        script
    }

    /// One acknowledgement, and what it lets the sender send.
    pub(crate) fn step(&mut self) -> u64 {
        let sent = self.sent.pop_front().expect("there are batches in flight");
        self.now += self.interval;
        if self.follows_window {
            // A batch that finds no queue takes a round trip.
            self.now = self.now.max(sent + RTT);
        }
        let (now, size) = (self.now, u64::from(MTU));
        let lossy = self.until_loss <= self.batch;
        self.until_loss = match lossy {
            true => PACKETS_PER_LOSS,
            false if self.follows_window => self.until_loss,
            false => self.until_loss - self.batch,
        };
        let lost = u64::from(lossy) * size;
        for _ in u32::from(lossy)..self.batch {
            self.controller.on_ack(now, sent, size, false, &self.rtt);
        }
        let in_flight = u64::from(self.batch) * size * self.sent.len() as u64;
        let largest = Some(self.last_number);
        self.controller
            .on_end_acks(now, in_flight + lost, false, largest);
        if lossy {
            self.controller.on_congestion_event(now, sent, false, lost);
        }
        if !self.follows_window || self.fits() {
            self.send();
        }
        // A window that grows lets another batch go.
        if self.follows_window && self.fits() {
            self.send();
        }
        self.controller.window()
    }

    /// Whether another batch fits into the window, by quinn's rule. One always does.
    fn fits(&self) -> bool {
        let flight = (self.sent.len() as u64 + 1) * u64::from(self.batch) * u64::from(MTU);
        flight < self.controller.window() || self.sent.is_empty()
    }

    fn send(&mut self) {
        self.last_number += u64::from(self.batch);
        let bytes = u64::from(self.batch) * u64::from(MTU);
        self.controller.on_sent(self.now, bytes, self.last_number);
        self.sent.push_back(self.now);
    }
}

/// Of the path, without queues.
pub(crate) const RTT: Duration = Duration::from_millis(40);

/// Bytes: what quinn starts with.
const MTU: u16 = 1200;

/// A loss rate of a tenth of a percent.
const PACKETS_PER_LOSS: u32 = 1000;

//! What is attacked: a controller behind some interface.

use std::time::{Duration, Instant};

use kneepoint_controllers::transport::{Adapter as TransportAdapter, WindowRule};
use kneepoint_controllers::{Bytes, Control, ControllerSpec, Environment, Snapshot, Transport};

use crate::{Adapter, Lost, Neutral};

/// A controller on one path, behind the interface of some transport.
pub trait Subject: Adapter + Clone {
    /// A path that begins at `now`.
    fn connect(spec: &ControllerSpec, now: Duration, mtu: u16) -> Self;

    /// The MTU of the path has changed.
    fn on_mtu_update(&mut self, mtu: u16);

    /// All that can be seen of it.
    fn state(&self) -> State;

    /// What the interface has to keep beside what [`World`](super::World) asks of all.
    ///
    /// # Errors
    /// Says what does not hold.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

/// The visible state of a controller and its accounting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct State {
    /// The controller's state.
    pub snapshot: Snapshot,
    /// What it asks for.
    pub control: Control,
    /// The accounting's flight.
    pub in_flight: Bytes,
    /// The length of the packet history.
    pub history: usize,
}

/// A controller of the neutral trait. Its timers fire.
#[derive(Debug, Clone)]
pub struct NeutralPath {
    /// The controller and its accounting.
    pub neutral: Neutral,
    /// When the path began: the controller's time is zero then.
    began: Duration,
}

impl Adapter for NeutralPath {
    fn on_sent(&mut self, now: Duration, bytes: u64) {
        self.neutral.on_sent(now.saturating_sub(self.began), bytes);
    }

    fn on_packet_acked(&mut self, now: Duration, sent: Duration, bytes: u64) {
        // What left on another path is not this controller's (RFC 9000, section 9.4).
        if let Some(sent) = sent.checked_sub(self.began) {
            let now = now.saturating_sub(self.began);
            self.neutral.on_packet_acked(now, sent, bytes);
        }
    }

    fn on_end_acks(&mut self, now: Duration, in_flight: u64, app_limited: bool) {
        let now = now.saturating_sub(self.began);
        self.neutral.on_end_acks(now, in_flight, app_limited);
    }

    fn on_lost(&mut self, now: Duration, lost: &Lost) {
        if let Some(newest_sent) = lost.newest_sent.checked_sub(self.began) {
            let now = now.saturating_sub(self.began);
            self.neutral.on_lost(
                now,
                &Lost {
                    newest_sent,
                    ..*lost
                },
            );
        }
    }

    fn on_ecn_mark(&mut self, now: Duration, sent: Duration) {
        if let Some(sent) = sent.checked_sub(self.began) {
            self.neutral
                .on_ecn_mark(now.saturating_sub(self.began), sent);
        }
    }

    fn on_spurious_loss(&mut self, now: Duration) {
        self.neutral
            .on_spurious_loss(now.saturating_sub(self.began));
    }

    fn next_timer(&self) -> Option<Duration> {
        Some(self.neutral.next_timer()?.saturating_add(self.began))
    }

    fn on_timer(&mut self, now: Duration) {
        self.neutral.on_timer(now.saturating_sub(self.began));
    }

    fn window(&self) -> u64 {
        self.neutral.window()
    }

    fn may_send(&self, in_flight: u64, datagram: u64) -> bool {
        self.neutral.may_send(in_flight, datagram)
    }
}

impl Subject for NeutralPath {
    fn connect(spec: &ControllerSpec, now: Duration, mtu: u16) -> Self {
        Self {
            neutral: Neutral::new(spec.build(&environment(mtu, Transport::PACES))),
            began: now,
        }
    }

    fn on_mtu_update(&mut self, mtu: u16) {
        self.neutral.controller.on_mtu_update(Bytes(mtu.into()));
    }

    fn state(&self) -> State {
        let Neutral {
            controller,
            sampler,
            ..
        } = &self.neutral;
        State {
            snapshot: controller.snapshot(),
            control: controller.control(),
            in_flight: sampler.in_flight(),
            history: sampler.history_len(),
        }
    }
}

/// A controller behind what the adapters to transports share, on a transport that paces by the window.
#[derive(Debug, Clone)]
pub struct Adapted {
    adapter: TransportAdapter,
    origin: Instant,
}

impl Adapter for Adapted {
    fn on_sent(&mut self, now: Duration, bytes: u64) {
        self.adapter.packets_sent(self.origin + now, Bytes(bytes));
    }

    fn on_packet_acked(&mut self, now: Duration, sent: Duration, bytes: u64) {
        let (now, sent) = (self.origin + now, self.origin + sent);
        self.adapter.packet_acked(now, sent, Bytes(bytes));
    }

    fn on_end_acks(&mut self, now: Duration, in_flight: u64, app_limited: bool) {
        let now = self.origin + now;
        self.adapter.acks_ended(now, Bytes(in_flight), app_limited);
    }

    fn on_lost(&mut self, now: Duration, lost: &Lost) {
        let (now, sent) = (self.origin + now, self.origin + lost.newest_sent);
        self.adapter
            .packets_lost(now, sent, Bytes(lost.bytes), lost.persistent);
    }

    fn on_ecn_mark(&mut self, now: Duration, sent: Duration) {
        self.adapter
            .packet_marked(self.origin + now, self.origin + sent);
    }

    fn on_spurious_loss(&mut self, _now: Duration) {
        self.adapter.loss_was_spurious();
    }

    fn window(&self) -> u64 {
        self.adapter.reported_window().0
    }

    fn may_send(&self, in_flight: u64, datagram: u64) -> bool {
        let window = self.adapter.reported_window();
        WindowRule::UpTo.admits(window, Bytes(in_flight), Bytes(datagram))
    }
}

impl Subject for Adapted {
    fn connect(spec: &ControllerSpec, now: Duration, mtu: u16) -> Self {
        let controller = spec.build(&environment(mtu, Transport::WINDOW_ONLY));
        let origin = origin();
        Self {
            adapter: TransportAdapter::new(controller, origin + now, Bytes(mtu.into())),
            origin,
        }
    }

    fn on_mtu_update(&mut self, mtu: u16) {
        self.adapter.mtu_updated(Bytes(mtu.into()));
    }

    fn state(&self) -> State {
        State::of(&self.adapter)
    }
}

impl State {
    /// The state behind an adapter.
    pub fn of(adapter: &TransportAdapter) -> Self {
        Self {
            snapshot: adapter.snapshot(),
            control: *adapter.control(),
            in_flight: adapter.sampler().in_flight(),
            history: adapter.sampler().history_len(),
        }
    }
}

/// An instant to count from: there is no other way to make one. Nothing depends on which it is.
#[expect(
    clippy::disallowed_methods,
    reason = "an Instant has no constructor; tests only add to it"
)]
pub fn origin() -> Instant {
    Instant::now()
}

fn environment(mtu: u16, transport: Transport) -> Environment {
    Environment::new(Bytes(mtu.into()), 7, transport)
}

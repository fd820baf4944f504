//! The adapter in a closed loop: the testkit's sender, which window and pacer limit as in noq.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kneepoint_controllers::transport::WindowRule;
use kneepoint_controllers::{Algorithm, Bytes, ControllerSpec, Preset};
use kneepoint_testkit::events::origin;
use kneepoint_testkit::{Adapter, Lost, Pacing, Packets, Scenario, Sender};
use noq_proto::congestion::{Controller, ControllerFactory};

use crate::adapter::NoqController;
use crate::factory::Factory;

const MTU: u16 = 1200;

/// A controller, and when its connection began.
#[derive(Debug, Clone)]
pub(crate) struct Noq {
    pub(crate) controller: NoqController,
    begin: Instant,
}

impl Noq {
    /// A controller on a path that begins at `now`, some time after the connection.
    pub(crate) fn new(factory: Factory, now: Duration, mtu: u16) -> Self {
        let begin = origin();
        let controller = Arc::new(factory).build(begin + now, mtu);
        let controller = controller.into_any().downcast::<NoqController>();
        Self {
            controller: *controller.expect("the factory builds ours"),
            begin,
        }
    }
}

impl Adapter for Noq {
    fn on_sent(&mut self, now: Duration, bytes: u64) {
        let bytes = bytes.try_into().expect("a datagram");
        self.controller.on_packet_sent(self.begin + now, bytes, 0);
    }

    fn on_packet_acked(&mut self, now: Duration, sent: Duration, bytes: u64) {
        let (now, sent) = (self.begin + now, self.begin + sent);
        self.controller.packet_acked(now, sent, bytes);
    }

    fn on_end_acks(&mut self, now: Duration, in_flight: u64, app_limited: bool) {
        let now = self.begin + now;
        self.controller
            .on_end_acks(now, in_flight, app_limited, None);
    }

    fn on_lost(&mut self, now: Duration, lost: &Lost) {
        let (now, sent) = (self.begin + now, self.begin + lost.newest_sent);
        for _ in 0..lost.packets {
            self.controller.on_packet_lost(MTU, 0, now);
        }
        self.controller
            .on_congestion_event(now, sent, lost.persistent, false, lost.bytes, 0);
    }

    fn on_ecn_mark(&mut self, now: Duration, sent: Duration) {
        let (now, sent) = (self.begin + now, self.begin + sent);
        self.controller
            .on_congestion_event(now, sent, false, true, 0, 0);
    }

    fn on_spurious_loss(&mut self, _now: Duration) {
        self.controller.on_spurious_congestion_event();
    }

    fn window(&self) -> u64 {
        self.controller.window()
    }

    fn may_send(&self, in_flight: u64, datagram: u64) -> bool {
        let [window, in_flight, datagram] = [self.window(), in_flight, datagram].map(Bytes);
        WindowRule::UpTo.admits(window, in_flight, datagram)
    }

    fn pacing_rate(&self) -> Option<u64> {
        self.controller.metrics().pacing_rate
    }
}

/// A connection over 10 Mb/s and 40 ms, with ten bandwidth-delay products of buffer.
fn connect(factory: Factory) -> Sender<Noq> {
    let noq = Noq::new(factory, Duration::ZERO, MTU);
    Sender::new(noq, &Scenario::PLAIN).paced(Pacing::Bucket)
}

#[test]
fn every_controller_fills_the_pipe_with_a_bounded_queue() {
    for spec in ControllerSpec::all() {
        let mut path = connect(spec.clone().into());
        path.run_for(Duration::from_secs(5));
        path.largest_queue = 0;
        let used = path.utilization(Duration::from_secs(30));
        assert!(used > 0.9, "{spec}: {used}");
        // These know no other end of growth than a full queue.
        use Algorithm::{Compound, Cubic, NewReno};
        if [NewReno, Cubic, Compound].contains(&spec.algorithm()) {
            continue;
        }
        // Below two bandwidth-delay products, of ten that the buffer holds.
        assert!(
            path.largest_queue < 100_000,
            "{spec}: {}",
            path.largest_queue
        );
        assert_eq!(path.lost, 0, "{spec}");
    }
}

/// Trap: after an outage the estimate is that of the outage, and a sender that paces at it measures nothing else.
#[test]
fn every_controller_is_back_five_seconds_after_an_outage() {
    // The printed filter takes an outage for the link's rate: a third of the link is what it has.
    for spec in ControllerSpec::all().filter(|spec| spec.preset() != Preset::Published) {
        let mut path = connect(spec.clone().into());
        path.run_for(Duration::from_secs(10));
        path.set_fates(Packets::All, Packets::None);
        path.run_for(Duration::from_secs(2));
        path.set_fates(Packets::None, Packets::None);
        path.run_for(Duration::from_secs(5));
        let used = path.utilization(Duration::from_secs(10));
        assert!(used > 0.8, "{spec}: {used}");
    }
}

//! Packets that are acknowledged one after the other, counted together.

use std::time::Instant;

use super::clock::Clock;
use crate::flow::Flow;
use crate::units::Bytes;

/// Packets of one acknowledgement that left at one instant: hosts report them one by one. Only instants are compared for
/// each of them; they are converted, and the packets looked up, once for all.
#[derive(Debug, Clone, Copy)]
pub struct AckedRun {
    now: Instant,
    sent: Instant,
    bytes: Bytes,
    /// None: there is no run under way, and the rest has no meaning.
    packets: u64,
}

impl AckedRun {
    /// Nothing was acknowledged so far on a connection that begins at `origin`.
    pub const fn none(origin: Instant) -> Self {
        Self {
            now: origin,
            sent: origin,
            bytes: Bytes::ZERO,
            packets: 0,
        }
    }

    /// A packet that had left at `sent` was acknowledged. `flow` is told of those before it, if they are not of its run.
    #[inline]
    pub fn push(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: Bytes,
        clock: &mut Clock,
        flow: &mut Flow,
    ) {
        if self.packets == 0 {
            self.begin(now, sent, bytes);
        } else if self.sent == sent && self.now == now {
            self.bytes += bytes;
            self.packets = self.packets.saturating_add(1);
        } else {
            self.begin_another(now, sent, bytes, clock, flow);
        }
    }

    /// Whether there are packets that the flow does not know of.
    #[inline]
    pub const fn is_under_way(&self) -> bool {
        self.packets > 0
    }

    /// Tells `flow` of the run under way, if there is one: to be called before anything else happens to it.
    // Always inline: it runs once for each acknowledgement, and the registers that a call saves and restores are a tenth of it.
    #[inline(always)]
    pub fn end(&mut self, clock: &mut Clock, flow: &mut Flow) {
        if self.packets > 0 {
            let (now, sent) = (clock.now(self.now), clock.sent(self.sent));
            flow.on_packets_acked(now, sent, self.bytes, self.packets);
            self.packets = 0;
        }
    }

    #[inline]
    fn begin(&mut self, now: Instant, sent: Instant, bytes: Bytes) {
        (self.now, self.sent) = (now, sent);
        (self.bytes, self.packets) = (bytes, 1);
    }

    /// Apart, so that other packets do not pay for its registers.
    #[inline(never)]
    fn begin_another(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: Bytes,
        clock: &mut Clock,
        flow: &mut Flow,
    ) {
        self.end(clock, flow);
        self.begin(now, sent, bytes);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::units::Timestamp;

    /// The flow is told of each run once, whatever the order of the instants.
    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "an Instant has no constructor; the test only adds to it"
    )]
    fn every_packet_is_counted_once() {
        let origin = Instant::now();
        let (mut clock, mut flow) = (Clock::starting(origin), Flow::new(Timestamp::ZERO));
        let mut run = AckedRun::none(origin);
        let at = |millis: u64| origin + Duration::from_millis(millis);
        for sent in [1, 2] {
            flow.on_sent(clock.now(at(sent)), Bytes(6000));
        }
        run.end(&mut clock, &mut flow);
        assert_eq!(flow.delivered(), Bytes::ZERO);
        for sent in [1, 1, 2, 1] {
            run.push(at(40), at(sent), Bytes(1200), &mut clock, &mut flow);
        }
        assert_eq!(flow.delivered(), Bytes(3600), "the last run is not over");
        for _ in 0..2 {
            run.end(&mut clock, &mut flow);
            assert_eq!(flow.delivered(), Bytes(4800));
        }
        // The same instants again are another run.
        run.push(at(40), at(1), Bytes(1200), &mut clock, &mut flow);
        run.end(&mut clock, &mut flow);
        let ack = flow.on_ack_end(clock.now(at(40)), Bytes(6000), false);
        let ack = ack.expect("packets were acknowledged");
        assert_eq!((ack.acked, ack.acked_packets), (Bytes(6000), 5));
        assert_eq!(ack.rtt, Duration::from_millis(38));
    }
}

//! The acknowledgement whose packets are being counted.

use super::sent_packets::PacketState;
use crate::units::{Bytes, Timestamp};

/// What is known of an acknowledgement so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Batch {
    /// When it arrived.
    pub now: Timestamp,
    /// No packets: there is no acknowledgement under way.
    pub packets: u64,
    /// What the host received: more than one if it gathers them.
    pub acks: u64,
    /// Delivered and in flight before it.
    pub prior_delivered: Bytes,
    pub prior_in_flight: Bytes,
    pub newest_sent: Timestamp,
    pub oldest_sent: Timestamp,
    /// The run of packets under way: when they all left, and their bytes.
    pub run_sent: Timestamp,
    pub run: Bytes,
    /// The first of them left earlier.
    pub run_spans: bool,
    /// The packet that left latest in terms of what was delivered by then: the acknowledgement is measured by it. With the
    /// time at which it left: the sending interval ends with this very packet, not with the last one of its record.
    pub sample: Option<(Timestamp, PacketState)>,
    pub round_start: bool,
}

impl Batch {
    /// Begins another acknowledgement.
    #[inline]
    pub(super) fn begin(&mut self, now: Timestamp, delivered: Bytes, in_flight: Bytes) {
        self.now = now;
        self.packets = 0;
        self.acks = 1;
        self.prior_delivered = delivered;
        self.prior_in_flight = in_flight;
        self.newest_sent = Timestamp::ZERO;
        self.oldest_sent = Timestamp::MAX;
        self.sample = None;
        self.round_start = false;
    }

    /// Begins another run.
    #[inline]
    pub(super) fn begin_run(&mut self, sent: Timestamp, bytes: Bytes) {
        self.newest_sent = self.newest_sent.max(sent);
        self.oldest_sent = self.oldest_sent.min(sent);
        self.run_sent = sent;
        self.run = bytes;
        self.run_spans = false;
    }

    /// Takes the view of the run for the sample if it is the latest, and sees whether a round began.
    #[inline]
    pub(super) fn update_sample(&mut self, state: &PacketState, round_end: Bytes) {
        // A packet that left after the round began has made the whole trip.
        self.round_start |= state.delivered >= round_end;
        if self
            .sample
            .is_none_or(|(_, newest)| state.delivered >= newest.delivered)
        {
            self.sample = Some((self.run_sent, *state));
        }
    }
}

//! The acknowledgement whose packets are being reported.

use super::sent_packets::PacketState;
use crate::units::{Bytes, Timestamp};

/// The state of an incomplete acknowledgement.
#[derive(Debug, Clone, Default)]
pub(super) struct Batch {
    /// When it arrived.
    pub now: Timestamp,
    /// Zero if there is no acknowledgement.
    pub packets: u64,
    /// The number of acknowledgements received: more than one if they were coalesced.
    pub acks: u64,
    /// Delivered and in flight before it.
    pub prior_delivered: Bytes,
    pub prior_in_flight: Bytes,
    pub newest_sent: Timestamp,
    pub oldest_sent: Timestamp,
    /// The current run of packets: their send time, and their bytes.
    pub run_sent: Timestamp,
    pub run: Bytes,
    /// Whether the first of them was sent earlier.
    pub run_spans: bool,
    /// The packet with the newest delivery state: the sample is measured from it. With its own send time, at which the
    /// send interval ends.
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

    /// Uses the state of the run for the sample if it is the newest, and detects the start of a round.
    #[inline]
    pub(super) fn update_sample(&mut self, state: &PacketState, round_end: Bytes) {
        // A packet sent after the round began has been acknowledged.
        self.round_start |= state.delivered >= round_end;
        if self
            .sample
            .is_none_or(|(_, newest)| state.delivered >= newest.delivered)
        {
            self.sample = Some((self.run_sent, *state));
        }
    }
}

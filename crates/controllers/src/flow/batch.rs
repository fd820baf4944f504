//! The acknowledgement whose packets are being counted.

use super::record::Record;
use crate::units::{Bytes, Timestamp};

/// What is known of an acknowledgement so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Batch {
    /// When it arrived.
    pub now: Timestamp,
    /// No packets: there is no acknowledgement under way.
    pub packets: u64,
    /// Delivered and in flight before it.
    pub prior_delivered: Bytes,
    pub prior_in_flight: Bytes,
    pub newest_sent: Timestamp,
    pub oldest_sent: Timestamp,
    /// The run of packets under way: when they all left, and their bytes.
    pub run_sent: Timestamp,
    pub run: Bytes,
    /// The packet that left latest in terms of what was delivered by then: the acknowledgement is measured by it. With the
    /// time at which it left: the sending interval ends with this very packet, not with the last one of its record.
    pub sample: Option<(Timestamp, Sample)>,
    pub round_start: bool,
}

/// What was known when the sampled packet left.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    pub delivered: Bytes,
    pub delivered_at: Timestamp,
    pub interval_start: Timestamp,
    pub app_limited: bool,
    pub in_flight: Bytes,
    pub lost: Bytes,
}

impl Batch {
    /// Begins another acknowledgement.
    pub(super) fn begin(&mut self, now: Timestamp, delivered: Bytes, in_flight: Bytes) {
        self.now = now;
        self.packets = 0;
        self.prior_delivered = delivered;
        self.prior_in_flight = in_flight;
        self.newest_sent = Timestamp::ZERO;
        self.oldest_sent = Timestamp::MAX;
        self.sample = None;
        self.round_start = false;
    }

    /// Begins another run.
    pub(super) fn begin_run(&mut self, sent: Timestamp, bytes: Bytes) {
        self.newest_sent = self.newest_sent.max(sent);
        self.oldest_sent = self.oldest_sent.min(sent);
        self.run_sent = sent;
        self.run = bytes;
    }

    /// Takes the record of the run for the sample if it is the latest, and sees whether a round began.
    pub(super) fn consider(&mut self, record: &Record, round_end: Bytes) {
        // A packet that left after the round began has made the whole trip.
        self.round_start |= record.delivered >= round_end;
        if let Some((_, newest)) = &self.sample
            && record.delivered < newest.delivered
        {
            return;
        }
        let sample = Sample {
            delivered: record.delivered,
            delivered_at: record.delivered_at,
            interval_start: record.interval_start,
            app_limited: record.app_limited,
            in_flight: record.in_flight,
            lost: record.lost,
        };
        self.sample = Some((self.run_sent, sample));
    }
}

//! Mahimahi's delivery opportunities.

use crate::time::Nanos;
use crate::trace::{OPPORTUNITY_BYTES, Trace};

/// Sends up to [`OPPORTUNITY_BYTES`] at each of a trace's opportunities. A packet that does not fit what is left of an
/// opportunity carries over to the next; what is left when the queue is empty is wasted.
///
/// Serving a packet takes constant time, whatever its size, and skipping unused opportunities logarithmic time.
#[derive(Debug)]
pub(in crate::link) struct Opportunities {
    trace: Trace,
    /// The latest opportunity used, and its unused bytes.
    used: Nanos,
    left: u64,
    /// The one after it: its index and its time.
    next: u64,
    next_time: Nanos,
}

impl Opportunities {
    pub(super) fn new(trace: Trace) -> Self {
        let next_time = trace.opportunity(0);
        Self {
            trace,
            used: Nanos::ZERO,
            left: 0,
            next: 0,
            next_time,
        }
    }

    /// All opportunities up to now are over.
    pub(super) fn wake(&mut self, now: Nanos) {
        if self.used <= now {
            self.left = 0;
        }
        if self.next_time <= now {
            self.next = self.trace.count_until(now);
            self.next_time = self.trace.opportunity(self.next);
        }
    }

    pub(super) fn ready(&self) -> Nanos {
        if self.left > 0 {
            self.used
        } else {
            self.next_time
        }
    }

    pub(super) fn serve(&mut self, bytes: u64) -> Nanos {
        let mut bytes = bytes;
        if self.left > 0 {
            let sent = bytes.min(self.left);
            self.left -= sent;
            bytes -= sent;
            if bytes == 0 {
                return self.used;
            }
        }
        let needed = bytes.div_ceil(OPPORTUNITY_BYTES).max(1);
        let end = self.next.saturating_add(needed);
        self.used = self.trace.opportunity(end - 1);
        self.left = needed
            .saturating_mul(OPPORTUNITY_BYTES)
            .saturating_sub(bytes);
        self.next = end;
        self.next_time = self.trace.opportunity(end);
        self.used
    }

    pub(super) fn capacity(&self, from: Nanos, to: Nanos) -> u64 {
        self.trace.capacity(from, to)
    }

    pub(super) fn capacity_at_start(&self) -> u64 {
        self.trace
            .count_until(Nanos::ZERO)
            .saturating_mul(OPPORTUNITY_BYTES)
    }
}

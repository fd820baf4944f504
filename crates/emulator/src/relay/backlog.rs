//! How much of a log waits in memory to be written.

use super::sync::{AtomicUsize, Ordering};

/// What of a direction's log is not in the link any more and not written yet, in entries: packets, when packets were sent, and
/// the sink's events.
#[derive(Debug, Default)]
pub(super) struct Backlog {
    /// The most bytes that a log may take, what is in the link included.
    memory: u64,
    /// On the way from the sender to the recorder.
    passed_on: AtomicUsize,
    /// With the recorder, and in its sink.
    recorder: AtomicUsize,
}

impl Backlog {
    pub(super) fn new(memory: u64) -> Self {
        Self {
            memory,
            ..Self::default()
        }
    }

    /// Adds entries of the sender.
    pub(super) fn add(&self, entries: usize) {
        self.passed_on.fetch_add(entries, Ordering::Relaxed);
    }

    /// The recorder has `entries` now, of which so many were the sender's. Whoever sees that the sender has fewer sees the recorder's.
    pub(super) fn hand_over(&self, of_sender: usize, entries: usize) {
        self.recorder.store(entries, Ordering::Relaxed);
        self.passed_on.fetch_sub(of_sender, Ordering::Release);
    }

    /// Whether new packets are left out of the log, of which the link has so many. What is known of the others still fits.
    pub(super) fn is_full(&self, in_link: usize) -> bool {
        let in_link = (in_link as u64).saturating_mul(RECORD_MEMORY);
        in_link.saturating_add(self.entries()) > self.memory / 2
    }

    /// Whether there is no room for anything.
    pub(super) fn is_exhausted(&self) -> bool {
        self.entries() > self.memory
    }

    /// In bytes.
    fn entries(&self) -> u64 {
        let passed_on = self.passed_on.load(Ordering::Acquire);
        let entries = passed_on.saturating_add(self.recorder.load(Ordering::Relaxed));
        (entries as u64).saturating_mul(ENTRY_MEMORY)
    }
}

/// The memory of a packet in the link's own log, in bytes, rounded up: its record, and up to two flows.
pub(super) const RECORD_MEMORY: u64 = 512;

/// The memory of an entry, in bytes, rounded up.
const ENTRY_MEMORY: u64 = 256;

//! How much of a log waits in memory to be written.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Packets that have left the link's own log and are not written yet, as far as its threads have told.
#[derive(Debug, Default)]
pub(super) struct Backlog {
    /// On the way from the sender to the recorder.
    passed_on: AtomicUsize,
    /// With the recorder, and in its sink.
    recorder: AtomicUsize,
}

impl Backlog {
    /// Adds packets of the sender.
    pub(super) fn add(&self, packets: usize) {
        self.passed_on.fetch_add(packets, Ordering::Relaxed);
    }

    /// So many came to the recorder, or were given up.
    pub(super) fn remove(&self, packets: usize) {
        self.passed_on.fetch_sub(packets, Ordering::Relaxed);
    }

    /// The recorder has so many.
    pub(super) fn set_recorder(&self, packets: usize) {
        self.recorder.store(packets, Ordering::Relaxed);
    }

    pub(super) fn packets(&self) -> usize {
        let passed_on = self.passed_on.load(Ordering::Relaxed);
        passed_on.saturating_add(self.recorder.load(Ordering::Relaxed))
    }
}

/// The memory of a packet that waits to be written, in bytes, rounded up: its record, its flow, and its events.
pub(super) const LOG_MEMORY: u64 = 512;

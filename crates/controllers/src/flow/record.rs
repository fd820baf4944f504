//! What was known when a packet left, kept until it is acknowledged or forgotten.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::units::{Bytes, Timestamp};

/// Packets that left between two acknowledgements, and so share one view of the path.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record {
    /// When the first and the last of them left.
    pub first_sent: Timestamp,
    pub last_sent: Timestamp,
    /// Sent and not yet acknowledged.
    pub outstanding: Bytes,
    /// Delivered in all when they left, and when that had last changed.
    pub delivered: Bytes,
    pub delivered_at: Timestamp,
    /// The start of the sending interval that the record's rate sample covers.
    pub interval_start: Timestamp,
    /// Whether the application limited the sender then.
    pub app_limited: bool,
    /// In flight after the last of them.
    pub in_flight: Bytes,
    /// Declared lost in all when they left.
    pub lost: Bytes,
}

/// The records of everything in flight, oldest first.
///
/// Hosts clone a controller to look at it. The history is therefore shared between clones and copied only when one
/// of them changes it, which for a look that is over by then costs nothing.
#[derive(Debug, Clone, Default)]
pub(super) struct Records {
    shared: Arc<VecDeque<Record>>,
    /// Where the last packet was found: the next one is there or right behind.
    recent: usize,
}

impl Records {
    /// Adds packets sent at `record.last_sent`: to the newest record if nothing was learned since it began.
    pub(super) fn push(&mut self, record: Record) {
        let records = Arc::make_mut(&mut self.shared);
        if let Some(newest) = records.back_mut()
            && newest.delivered == record.delivered
            && newest.interval_start == record.interval_start
            && newest.app_limited == record.app_limited
            && newest.lost == record.lost
        {
            newest.outstanding += record.outstanding;
            newest.in_flight = record.in_flight;
            newest.last_sent = newest.last_sent.max(record.last_sent);
            return;
        }
        records.push_back(record);
    }

    /// Takes `bytes` that left at `sent` off their record and returns the record, if it is still there.
    ///
    /// Two records can hold one time, where an acknowledgement came between two batches of one instant: the older
    /// one gives first. If both give, the newer one is returned.
    pub(super) fn take(&mut self, sent: Timestamp, bytes: Bytes) -> Option<Record> {
        let records = Arc::make_mut(&mut self.shared);
        let mut index = locate(records, sent, self.recent);
        let mut rest = bytes;
        let mut found = None;
        while let Some(record) = records.get_mut(index)
            && record.first_sent <= sent
            && rest > Bytes::ZERO
        {
            if record.outstanding > Bytes::ZERO {
                let taken = rest.min(record.outstanding);
                record.outstanding -= taken;
                rest -= taken;
                found = Some(*record);
                self.recent = index;
            }
            index += 1;
        }
        found
    }

    /// The record of a packet that left at `sent`, if it is still there.
    pub(super) fn get(&self, sent: Timestamp) -> Option<&Record> {
        let record = self.shared.get(locate(&self.shared, sent, self.recent))?;
        (record.first_sent <= sent).then_some(record)
    }

    /// Forgets records at the old end that are settled, or whose last packet left before `horizon`.
    pub(super) fn prune(&mut self, horizon: Timestamp) {
        let settled =
            |record: &Record| record.outstanding == Bytes::ZERO || record.last_sent < horizon;
        if self.shared.front().is_some_and(settled) {
            let records = Arc::make_mut(&mut self.shared);
            while records.front().is_some_and(settled) {
                records.pop_front();
                self.recent = self.recent.saturating_sub(1);
            }
        }
    }

    /// Forgets everything: nothing is in flight.
    pub(super) fn clear(&mut self) {
        if !self.shared.is_empty() {
            Arc::make_mut(&mut self.shared).clear();
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.shared.len()
    }

    #[cfg(test)]
    pub(super) fn shares_storage_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

/// The first record whose last packet left at `sent` or later, which is often the one at `hint` or the next.
fn locate(records: &VecDeque<Record>, sent: Timestamp, hint: usize) -> usize {
    let before = |index: usize| {
        records
            .get(index)
            .is_some_and(|record| record.last_sent < sent)
    };
    let follows =
        |index: usize| index < records.len() && !before(index) && (index == 0 || before(index - 1));
    if follows(hint) {
        hint
    } else if follows(hint + 1) {
        hint + 1
    } else {
        records.partition_point(|record| record.last_sent < sent)
    }
}

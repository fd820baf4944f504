//! Reads a connection's estimate without asking the connection.

use std::sync::{Arc, Mutex, PoisonError, TryLockError, Weak};

use super::estimate::BandwidthEstimate;

/// Reads the bandwidth estimate of one connection, on one path, while the connection goes on.
///
/// [`get`](Self::get) neither copies the controller nor takes the connection's lock: an encoder may call it for each frame. Clones
/// read the same estimate. While there is a watch, the connection writes its estimate after acknowledgements, at most once in a
/// millisecond, and after each loss.
#[derive(Debug, Clone)]
pub struct BandwidthWatch(Weak<Shared>);

impl BandwidthWatch {
    /// The estimate as of one of the acknowledgements of the last millisecond before the last acknowledgement.
    ///
    /// `None` before the first estimate, for controllers without a model of the path, and once the path that the handle was taken on has ended, or
    /// the last handle of the connection was dropped. A connection that is closed, and still held, keeps its last estimate: quinn's and
    /// noq's `close_reason` tell.
    pub fn get(&self) -> Option<BandwidthEstimate> {
        let shared = self.0.upgrade()?;
        *shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the watches of a connection read. Clones of the adapter share it: a connection goes on with a clone when its peer's port
/// changes.
pub(super) type Shared = Mutex<Option<BandwidthEstimate>>;

/// A watch that has this estimate to begin with, unless there is a newer one: a clone of the adapter may have stood still.
pub(super) fn watch(shared: &Arc<Shared>, estimate: Option<BandwidthEstimate>) -> BandwidthWatch {
    let mut published = shared.lock().unwrap_or_else(PoisonError::into_inner);
    let at = |estimate: &Option<BandwidthEstimate>| estimate.map(|estimate| estimate.at);
    if at(&published) <= at(&estimate) {
        *published = estimate;
    }
    drop(published);
    BandwidthWatch(Arc::downgrade(shared))
}

#[inline]
pub(super) fn is_watched(shared: &Arc<Shared>) -> bool {
    Arc::weak_count(shared) > 0
}

/// Writes the estimate. Returns whether it did: the connection does not wait for a reader, and tries again at the next
/// acknowledgement.
pub(super) fn publish(shared: &Shared, estimate: Option<BandwidthEstimate>) -> bool {
    match shared.try_lock() {
        Ok(mut shared) => *shared = estimate,
        Err(TryLockError::Poisoned(poisoned)) => *poisoned.into_inner() = estimate,
        Err(TryLockError::WouldBlock) => return false,
    }
    true
}

/// An estimate is written at most so often, in nanoseconds. Frames are at least some milliseconds apart, and a snapshot for each
/// acknowledgement would cost as much as a tenth of the controller.
pub(super) const PERIOD: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::units::Bandwidth;

    #[expect(
        clippy::disallowed_methods,
        reason = "an Instant has no constructor; the test only copies it"
    )]
    fn estimate(rate: u64) -> Option<BandwidthEstimate> {
        Some(BandwidthEstimate {
            rate: Bandwidth::from_bytes_per_second(rate),
            lower_bound: true,
            at: Instant::now(),
            min_rtt: None,
        })
    }

    #[test]
    fn a_connection_knows_whether_it_is_watched_and_nothing_is_left_of_it() {
        let shared = Arc::default();
        assert!(!is_watched(&shared));
        let first = estimate(1);
        let one = watch(&shared, first);
        let other = one.clone();
        assert!(is_watched(&shared));
        assert_eq!((one.get(), other.get()), (first, first));
        let next = estimate(2);
        assert!(publish(&shared, next));
        assert_eq!((one.get(), other.get()), (next, next));
        drop(one);
        assert!(is_watched(&shared));
        drop(shared);
        assert_eq!(other.get(), None);
    }

    /// Fault: a watch that was taken of an old clone of the connection set all watches back.
    #[test]
    fn an_old_estimate_does_not_take_the_place_of_a_newer_one() {
        let shared = Arc::default();
        let after = |earlier: Option<BandwidthEstimate>| {
            let mut later = earlier?;
            later.at += std::time::Duration::from_millis(1);
            Some(later)
        };
        let old = estimate(1);
        let new = after(old);
        let first = watch(&shared, new);
        for older in [old, None] {
            let second = watch(&shared, older);
            assert_eq!((first.get(), second.get()), (new, new));
        }
        let newest = after(new);
        assert_eq!(watch(&shared, newest).get(), newest);
        assert_eq!(first.get(), newest);
    }

    /// Trap: a reader that is interrupted would hold the connection up.
    #[test]
    fn the_connection_does_not_wait_for_a_reader() {
        let shared = Arc::default();
        let (first, second) = (estimate(1), estimate(2));
        let watch = watch(&shared, first);
        let reading = shared.lock().expect("nobody panicked");
        assert!(!publish(&shared, second));
        drop(reading);
        assert_eq!(watch.get(), first);
        assert!(publish(&shared, second));
        assert_eq!(watch.get(), second);
    }

    #[test]
    fn a_reader_that_panicked_harms_nobody() {
        let shared = Arc::default();
        let watch = watch(&shared, None);
        let held = Arc::clone(&shared);
        let poisoning = std::thread::spawn(move || {
            let _held = held.lock().expect("nobody panicked");
            panic!("on purpose");
        });
        assert!(poisoning.join().is_err());
        let next = estimate(3);
        assert!(publish(&shared, next));
        assert_eq!(watch.get(), next);
    }
}

//! Who owns the packet history.

use core::mem;
use std::sync::{Arc, Mutex, PoisonError};

use super::sent_packets::SentPackets;

/// A packet history that clones share until they change it, so that a snapshot of a connection does not copy it.
///
/// Cloning hands the history over to an [`Arc`], the next change takes it back. While nobody clones, a change costs no atomic
/// operation: with exclusive access the mutex is not locked.
#[derive(Debug, Default)]
pub(super) struct History(Mutex<Holder>);

#[derive(Debug, Default)]
struct Holder {
    /// Empty while the history is shared.
    own: SentPackets,
    shared: Option<Arc<SentPackets>>,
}

impl History {
    pub(super) fn get_mut(&mut self) -> &mut SentPackets {
        let holder = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        if holder.shared.is_some() {
            holder.take_back();
        }
        &mut holder.own
    }

    pub(super) fn len(&self) -> usize {
        let holder = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let shared = holder.shared.as_deref();
        shared.unwrap_or(&holder.own).len()
    }
}

impl Holder {
    #[cold]
    fn take_back(&mut self) {
        if let Some(shared) = self.shared.take() {
            self.own = Arc::unwrap_or_clone(shared);
        }
    }
}

impl Clone for History {
    fn clone(&self) -> Self {
        let mut holder = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Holder { own, shared } = &mut *holder;
        let shared = shared.get_or_insert_with(|| Arc::new(mem::take(own)));
        Self(Mutex::new(Holder {
            own: SentPackets::default(),
            shared: Some(Arc::clone(shared)),
        }))
    }
}

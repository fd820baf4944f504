//! A value that clones share until one of them changes it.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Clones in constant time. Its owner changes it without atomic operations while it is not shared.
///
/// Transports clone a controller to inspect its state. `Arc::make_mut` would work too, but takes a locked instruction
/// for each packet. Here the owner only compares; the lock is for the cloner, which has a shared reference.
pub(super) struct Shared<T>(Mutex<Held<T>>);

struct Held<T> {
    /// Undefined while the value is shared.
    own: T,
    /// The value as of the last clone. The clone may no longer exist.
    shared: Option<Arc<T>>,
}

impl<T: Clone + Default> Shared<T> {
    pub(super) fn new(value: T) -> Self {
        Self(Mutex::new(Held {
            own: value,
            shared: None,
        }))
    }

    /// A mutable reference; copies the value if a clone shares it.
    #[inline]
    pub(super) fn get_mut(&mut self) -> &mut T {
        let held = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        if held.shared.is_some() {
            held.unshare();
        }
        &mut held.own
    }

    /// Reads the value.
    pub(super) fn look<R>(&self, look: impl FnOnce(&T) -> R) -> R {
        let held = self.lock();
        look(held.shared.as_deref().unwrap_or(&held.own))
    }

    fn lock(&self) -> MutexGuard<'_, Held<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Clone + Default> Held<T> {
    #[cold]
    fn unshare(&mut self) {
        if let Some(shared) = self.shared.take() {
            self.own = Arc::unwrap_or_clone(shared);
        }
    }
}

impl<T: Clone + Default> Clone for Shared<T> {
    fn clone(&self) -> Self {
        let mut held = self.lock();
        let shared = match held.shared.take() {
            Some(shared) => shared,
            None => Arc::new(std::mem::take(&mut held.own)),
        };
        held.shared = Some(Arc::clone(&shared));
        Self(Mutex::new(Held {
            own: T::default(),
            shared: Some(shared),
        }))
    }
}

impl<T: Clone + Default + fmt::Debug> fmt::Debug for Shared<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.look(|value| value.fmt(formatter))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Its clones are counted.
    #[derive(Debug, Default)]
    struct Counted {
        value: u32,
        clones: Arc<Mutex<u32>>,
    }

    impl Clone for Counted {
        fn clone(&self) -> Self {
            *self.clones.lock().expect("no panics") += 1;
            Self {
                value: self.value,
                clones: Arc::clone(&self.clones),
            }
        }
    }

    #[test]
    fn only_a_change_of_a_shared_value_copies() {
        let clones = Arc::default();
        let mut first = Shared::new(Counted {
            value: 1,
            clones: Arc::clone(&clones),
        });
        let copied = || *clones.lock().expect("no panics");

        // Looked at, and thrown away.
        drop(first.clone());
        first.get_mut().value = 2;
        assert_eq!(copied(), 0);

        let mut second = first.clone();
        let mut third = second.clone();
        assert_eq!(copied(), 0);
        first.get_mut().value = 3;
        second.get_mut().value = 4;
        assert_eq!(copied(), 2);
        // The last one has it for itself.
        third.get_mut().value += 10;
        assert_eq!(copied(), 2);
        assert_eq!(
            [&mut first, &mut second, &mut third].map(|each| each.get_mut().value),
            [3, 4, 12]
        );
    }
}

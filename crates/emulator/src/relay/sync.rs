//! What the relay's threads wait with: the standard library's, or loom's, which runs a program with every order of its threads' steps.

#[cfg(all(test, kneepoint_loom))]
pub(super) use loom::sync::{
    Condvar, Mutex, MutexGuard,
    atomic::{AtomicUsize, Ordering},
};
#[cfg(not(all(test, kneepoint_loom)))]
pub(super) use std::sync::{
    Condvar, Mutex, MutexGuard,
    atomic::{AtomicUsize, Ordering},
};

//! The BBRv3 core and its controllers over quinn, where its own bounds, its hosts or the path once held it down.

mod batches;
mod changes;
mod histories;
mod marks;
mod openings;
#[path = "../paths/mod.rs"]
mod paths;
mod recovery;

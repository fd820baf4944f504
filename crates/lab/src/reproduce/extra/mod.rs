//! What no paper asked.

mod traces;

pub(super) use traces::TRACES;

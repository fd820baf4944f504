//! Iteration over a trace's opportunities.

use super::Trace;
use crate::time::Nanos;

/// The times of a trace's opportunities, in order; ends when [`Nanos`] ends. Skipping with `nth` costs no more than a step.
#[derive(Debug, Clone)]
pub struct Opportunities<'a> {
    trace: &'a Trace,
    next: u64,
}

impl<'a> Opportunities<'a> {
    pub(super) fn new(trace: &'a Trace, next: u64) -> Self {
        Self { trace, next }
    }
}

impl Iterator for Opportunities<'_> {
    type Item = Nanos;

    fn next(&mut self) -> Option<Nanos> {
        let time = self.trace.opportunity(self.next);
        self.next = self.next.saturating_add(1);
        (time < Nanos::MAX).then_some(time)
    }

    fn nth(&mut self, skipped: usize) -> Option<Nanos> {
        self.next = self.next.saturating_add(skipped as u64);
        self.next()
    }
}

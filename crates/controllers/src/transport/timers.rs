//! Timers on hosts that have none for controllers.

use crate::controller::Controller;
use crate::units::Timestamp;

/// Fires the controller's timers that were due by `now`; returns when it wants the next one.
///
/// A host that wakes its controller for events only does this at each of them.
#[cold]
pub fn fire_timers(controller: &mut dyn Controller, now: Timestamp) -> Option<Timestamp> {
    for _ in 0..MAX_TIMERS_AT_ONCE {
        match controller.next_timer() {
            Some(due) if due <= now => controller.on_timer(due),
            next => return next,
        }
    }
    controller.next_timer()
}

/// Timers fired at one event after a long silence: enough for any filter to notice, and a bound on the work.
pub const MAX_TIMERS_AT_ONCE: usize = 16;

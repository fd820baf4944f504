//! Timers for transports that have none for controllers.

use crate::controller::Controller;
use crate::units::Timestamp;

/// Fires the controller's timers that were due by `now`. Returns the time of the next one.
///
/// A transport that calls its controller only for events calls this at each of them.
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

/// The maximum number of timers fired at one event after a long idle time: enough for every filter, and a bound on the
/// work.
pub const MAX_TIMERS_AT_ONCE: usize = 16;

//! Searching for the window: doubling it each round.

use core::fmt::Debug;

use super::avoidance::View;
use super::window::Window;
use crate::event::AckEvent;
use crate::snapshot::Mode;
use crate::units::Bytes;

/// A way to search. It is told of acknowledgements only while the search lasts.
pub(crate) trait SlowStart: Copy + Debug + Send + Sync + 'static {
    /// Grows the window; returns whether the search is over before the window has reached the threshold.
    fn on_ack(&mut self, ack: &AckEvent, view: &View<'_>, window: &mut Window) -> bool;

    /// What it is doing.
    fn mode(&self) -> Mode {
        Mode::SlowStart
    }
}

/// Doubling until the first loss, or until the threshold (RFC 9002, section 7.3.1).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Doubling;

impl SlowStart for Doubling {
    fn on_ack(&mut self, ack: &AckEvent, view: &View<'_>, window: &mut Window) -> bool {
        if view.window_limited {
            double(window, ack.acked, view.threshold);
        }
        false
    }
}

/// Grows by what was acknowledged, but not past the threshold.
pub(crate) fn double(window: &mut Window, acked: Bytes, threshold: Option<Bytes>) {
    let room = threshold.map(|threshold| threshold - window.bytes());
    window.grow(room.map_or(acked, |room| acked.min(room)));
}

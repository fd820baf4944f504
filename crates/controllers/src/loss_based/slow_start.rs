//! Slow start.

use core::fmt::Debug;

use super::avoidance::View;
use super::window::Window;
use crate::event::AckEvent;
use crate::snapshot::Mode;
use crate::units::Bytes;

/// An algorithm of slow start. It sees acknowledgements only in slow start.
pub(crate) trait SlowStart: Copy + Debug + Send + Sync + 'static {
    /// Grows the window. Returns whether slow start ends before the threshold.
    fn on_ack(&mut self, ack: &AckEvent, view: &View<'_>, window: &mut Window) -> bool;

    /// Its mode.
    fn mode(&self) -> Mode {
        Mode::SlowStart
    }
}

/// Doubles the window each round until the first loss or the threshold (RFC 9002, section 7.3.1).
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

/// Grows the window by the acknowledged bytes, up to the threshold.
pub(crate) fn double(window: &mut Window, acked: Bytes, threshold: Option<Bytes>) {
    let room = threshold.map(|threshold| threshold - window.bytes());
    window.grow(room.map_or(acked, |room| acked.min(room)));
}

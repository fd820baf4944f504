//! What compensates a transport that paces by its window.

use crate::controller::Control;
use crate::units::Bytes;

/// The window to tell a transport that paces at 1.25 windows per smoothed RTT, with so much in flight.
///
/// Such a pace follows the window, and a window that grows is filled a round trip late. So it is told more while something is missing
/// in flight, but no more than [`Control::refill_window`]. It is back at the window when the flight is.
#[inline]
pub fn refilled_window(control: &Control, in_flight: Bytes, mtu: Bytes) -> Bytes {
    let missing = control.window - mtu - in_flight;
    (control.window + missing.packets(URGENCY))
        .min(control.refill_window)
        .max(control.window)
}

/// So many times what is missing in flight is added to the window.
const URGENCY: u64 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_is_asked_for_where_much_is_missing() {
        let control = Control {
            refill_window: Bytes(100_000),
            ..Control::window(Bytes(61_200), Bytes(1200))
        };
        let told = |in_flight| refilled_window(&control, Bytes(in_flight), Bytes(1200));
        assert_eq!(told(90_000), Bytes(61_200));
        assert_eq!(told(60_000), Bytes(61_200));
        assert_eq!(told(50_000), Bytes(81_200));
        assert_eq!(told(0), Bytes(100_000));
        let calm = Control::window(Bytes(61_200), Bytes(1200));
        assert_eq!(
            refilled_window(&calm, Bytes::ZERO, Bytes(1200)),
            calm.window
        );
    }
}

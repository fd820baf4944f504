//! A queue that marks instead of dropping.

use crate::paths::heeds_a_marker;

/// Trap: a sender that keeps a longer queue than the marker allows has nearly every packet marked, and a marker that nobody
/// heeds controls nothing.
#[test]
fn a_marker_of_five_milliseconds_keeps_the_queue_short() {
    for name in ["bbr3", "bbr3-s", "bbr2", "bbr2-sampled"] {
        for mbps in [10.0, 50.0] {
            heeds_a_marker(name, mbps, 15.0);
        }
    }
}

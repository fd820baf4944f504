//! Once a connection is warm, an acknowledgement costs no allocation, whichever the controller and the window. A look at its
//! state costs no copy of what is known of the packets in flight.

#[path = "../benches/script/mod.rs"]
mod script;

use allocation_counter::measure;
use kneepoint::quinn::{snapshot, watch_bandwidth};
use script::Script;

#[test]
fn no_controller_allocates_per_acknowledgement() {
    let start = script::capture();
    for (name, factory) in script::controllers() {
        if name.starts_with("quinn") {
            continue;
        }
        for packets in [10, 100, 1000, 10_000] {
            let mut script = Script::new(&factory, &start, packets, 2);
            for _ in 0..WARM_UP.max(10 * packets) {
                script.step();
            }
            // Nor does it if somebody reads the estimate.
            let watch = watch_bandwidth(script.controller.clone_box());
            let allocations = measure(|| {
                for _ in 0..MEASURED.max(packets) {
                    script.step();
                }
            });
            assert_eq!(
                allocations.count_total, 0,
                "{name} with {packets} packets in flight: {allocations:?}"
            );
            let watch = watch.expect("one of ours");
            let read = measure(|| {
                watch.get();
            });
            assert_eq!(read.count_total, 0, "{name}: {read:?}");
        }
    }
}

#[test]
fn a_snapshot_does_not_copy_the_history_of_packets() {
    let start = script::capture();
    for (name, factory) in script::controllers() {
        if name.starts_with("quinn") {
            continue;
        }
        let [small, large] = [10, 10_000].map(|packets| {
            let mut script = Script::new(&factory, &start, packets, 2);
            for _ in 0..WARM_UP.max(10 * packets) {
                script.step();
            }
            let looked = measure(|| {
                assert!(snapshot(script.controller.clone_box()).is_some());
            });
            // The connection goes on with its own history.
            let then = measure(|| {
                script.step();
            });
            assert_eq!(then.count_total, 0, "{name}: {then:?}");
            looked.bytes_total
        });
        // But for a filter's few entries.
        assert!(
            large.abs_diff(small) <= 64,
            "{name}: {small} and {large} bytes"
        );
        assert!(large < 8192, "{name}: {large} bytes");
    }
}

/// Acknowledgements until a connection is warm: with losses, gain cycles and ProbeRTT.
const WARM_UP: u32 = 20_000;

/// Acknowledgements that are looked at.
const MEASURED: u32 = 20_000;

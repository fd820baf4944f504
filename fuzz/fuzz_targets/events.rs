//! Events that happen to every controller with every preset, through the neutral trait and through the adapter.

#![no_main]

mod words;

use kneepoint_testkit::events::{Adapted, NeutralPath, survive};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let words = words::words(data);
    for survive in [survive::<NeutralPath>, survive::<Adapted>] {
        survive(&words).unwrap_or_else(|what| panic!("{what}"));
    }
});

//! BBRv1's kin and EBCC after random histories of losses and marks.

#[path = "paths/mod.rs"]
mod paths;

use std::ops::Range;

use crate::paths::histories::faults;

/// After the histories of these seeds everything is well again.
fn all_end(name: &str, seeds: Range<u64>, fastest: usize) {
    let faults = faults(&[name], seeds, fastest);
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Up to 10 Mb/s.
#[test]
fn every_history_is_over_after_ten_seconds() {
    for name in [
        "bbr",
        "bbr:tuned",
        "bbr-s",
        "bbr-x",
        "bbr-fair",
        "bbr-sampled",
        "ebcc",
    ] {
        all_end(name, 0..8, 2);
    }
}

/// Up to 50 Mb/s, 300 histories for each controller.
macro_rules! all_histories {
    ($($test:ident: $name:literal,)*) => {$(
        #[test]
        #[ignore = "takes minutes"]
        fn $test() {
            all_end($name, 0..300, 4);
        }
    )*};
}

all_histories! {
    every_history_of_bbr: "bbr",
    every_history_of_bbr_tuned: "bbr:tuned",
    every_history_of_bbr_s: "bbr-s",
    every_history_of_bbr_x: "bbr-x",
    every_history_of_bbr_fair: "bbr-fair",
    every_history_of_bbr_sampled: "bbr-sampled",
    every_history_of_ebcc: "ebcc",
}

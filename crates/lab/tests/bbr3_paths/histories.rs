//! Random histories of losses and marks, after which the path is clean.

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
    for name in ["bbr2", "bbr2-sampled", "bbr3", "bbr3-s"] {
        all_end(name, 0..12, 2);
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
    every_history_of_bbr2: "bbr2",
    every_history_of_bbr2_paper: "bbr2:paper",
    every_history_of_bbr2_sampled: "bbr2-sampled",
    every_history_of_bbr3: "bbr3",
    every_history_of_bbr3_paper: "bbr3:paper",
    every_history_of_bbr3_s: "bbr3-s",
}

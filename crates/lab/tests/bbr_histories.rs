//! BBRv1's kin and EBCC after random histories of losses and marks.

#[path = "paths/mod.rs"]
mod paths;

use crate::paths::histories::{all_end, all_histories};

/// Up to 10 Mb/s.
#[test]
fn every_history_is_over_after_ten_seconds() {
    for name in [
        "bbr",
        "bbr:tuned",
        "knee",
        "bbr-x",
        "bbr-fair",
        "bbr-sampled",
        "ebcc",
    ] {
        all_end(name, 0..8, 2);
    }
}

all_histories! {
    every_history_of_bbr: "bbr",
    every_history_of_bbr_tuned: "bbr:tuned",
    every_history_of_knee: "knee",
    every_history_of_bbr_x: "bbr-x",
    every_history_of_bbr_fair: "bbr-fair",
    every_history_of_bbr_sampled: "bbr-sampled",
    every_history_of_ebcc: "ebcc",
}

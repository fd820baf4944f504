//! Random histories of losses and marks, after which the path is clean.

use crate::paths::histories::{all_end, all_histories};

/// Up to 10 Mb/s.
#[test]
fn every_history_is_over_after_ten_seconds() {
    for name in ["bbr2", "bbr2-sampled", "bbr3", "bbr3-s"] {
        all_end(name, 0..12, 2);
    }
}

/// Trap: an estimate of 85 % of what is delivered calls a flight of 1.06 pipes a quarter more than the pipe. Each probe of several
/// seconds then raised the bound that losses had left by no more than that.
#[test]
fn a_probe_goes_beyond_what_is_delivered() {
    for seed in [31, 49] {
        all_end("bbr2-sampled", seed..seed + 1, 4);
    }
}

all_histories! {
    every_history_of_bbr2: "bbr2",
    every_history_of_bbr2_paper: "bbr2:paper",
    every_history_of_bbr2_sampled: "bbr2-sampled",
    every_history_of_bbr3: "bbr3",
    every_history_of_bbr3_paper: "bbr3:paper",
    every_history_of_bbr3_s: "bbr3-s",
}

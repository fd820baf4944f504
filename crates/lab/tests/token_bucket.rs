//! A burst of tokens fools a maximum, and not a percentile.

use std::time::Duration;

use kneepoint_lab::controllers::resolve;
use kneepoint_lab::token_bucket::{Belief, Bucket};

fn belief(controller: &str, rtt_millis: u64) -> Belief {
    let bucket = Bucket {
        burst: 1_000_000,
        rtt: Duration::from_millis(rtt_millis),
    };
    let controller = resolve(controller, 1).expect("a controller of ours");
    let series = bucket.watch(&controller).expect("the path is valid");
    Belief::of(&series).expect("there was data in flight")
}

/// BBR-Sampled, section 7: at 25 Mb/s with a burst of 1 MB.
#[test]
fn bbr_is_fooled_and_bbr_sampled_is_not() {
    let off = |estimate: f64| (estimate - 25.0).abs() / 25.0;
    for rtt in [100, 10] {
        let (fooled, sober) = (belief("bbr", rtt), belief("bbr-sampled", rtt));
        assert!(
            fooled.mean > 75.0 && fooled.median > 75.0,
            "{rtt}: {fooled:?}"
        );
        assert!(off(sober.median) < 0.15, "{rtt}: {sober:?}");
        // At 10 ms bursts come and go within the history: 28.9 of 25 Mb/s.
        assert!(off(sober.mean) < 0.16, "{rtt}: {sober:?}");
    }
}

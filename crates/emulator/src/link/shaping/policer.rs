//! A token bucket that drops.

use super::bucket::Bucket;
use crate::link::config;
use crate::time::Nanos;

/// Lets packets pass as long as there are tokens for all of their bytes.
#[derive(Debug)]
pub(in crate::link) struct Policer {
    bucket: Bucket,
}

impl Policer {
    pub(in crate::link) fn new(policer: config::Policer) -> Self {
        Self {
            bucket: Bucket::new(policer.bytes_per_second, policer.burst),
        }
    }

    #[inline(never)]
    pub(in crate::link) fn admits(&mut self, now: Nanos, bytes: u64) -> bool {
        self.bucket.take_now(now, bytes)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn packets_without_tokens_are_dropped_and_take_none() {
        let mut policer = Policer::new(config::Policer {
            bytes_per_second: 1_000,
            burst: 100,
        });
        for (millis, bytes, admitted) in [
            (0, 60, true),
            (0, 60, false),
            (0, 40, true),
            (9, 10, false),
            (10, 10, true),
            (500, 101, false),
            (500, 100, true),
        ] {
            let now = Nanos::from_millis(millis);
            assert_eq!(
                policer.admits(now, bytes),
                admitted,
                "{bytes} at {millis} ms"
            );
        }
    }

    proptest! {
        #[test]
        fn no_window_has_more_than_the_burst_and_the_rate(
            rate in 1..1_000_000_u64,
            burst in 1..5_000_u64,
            arrivals in proptest::collection::vec((0..20_000_000_u64, 0..2_000_u64), 1..80),
        ) {
            let mut policer = Policer::new(config::Policer { bytes_per_second: rate, burst });
            let mut now = Nanos::ZERO;
            let mut admitted = Vec::new();
            for (gap, bytes) in arrivals {
                now = now + Nanos(gap);
                if policer.admits(now, bytes) {
                    admitted.push((now, bytes));
                }
            }
            for (first, (from, _)) in admitted.iter().enumerate() {
                let mut bytes = 0;
                for (to, size) in &admitted[first..] {
                    bytes += u128::from(*size) * 1_000_000_000;
                    let allowed = u128::from((*to - *from).0) * u128::from(rate);
                    prop_assert!(bytes <= allowed + u128::from(burst) * 1_000_000_000);
                }
            }
        }
    }
}

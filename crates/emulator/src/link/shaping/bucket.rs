//! Tokens.

use crate::time::Nanos;

/// A bucket of tokens that fills at a constant rate. Exact: tokens are counted in byte-nanoseconds per second, of which
/// every nanosecond brings as many as the rate has bytes.
#[derive(Debug)]
pub(super) struct Bucket {
    bytes_per_second: u64,
    /// Its capacity.
    size: u128,
    /// Its tokens at that time.
    tokens: u128,
    at: Nanos,
}

impl Bucket {
    /// A bucket that is full at time 0. The rate must be positive.
    pub(super) fn new(bytes_per_second: u64, burst: u64) -> Self {
        let size = tokens(burst);
        Self {
            bytes_per_second: bytes_per_second.max(1),
            size,
            tokens: size,
            at: Nanos::ZERO,
        }
    }

    /// Takes tokens for `bytes` if there are enough.
    pub(super) fn take_now(&mut self, now: Nanos, bytes: u64) -> bool {
        self.fill(now);
        let left = self.tokens.checked_sub(tokens(bytes));
        self.tokens = left.unwrap_or(self.tokens);
        left.is_some()
    }

    /// Takes tokens for `bytes` as they come, from `start` on. Returns the time of the last one.
    pub(super) fn take(&mut self, start: Nanos, bytes: u64) -> Nanos {
        self.fill(start);
        let needed = tokens(bytes);
        if let Some(left) = self.tokens.checked_sub(needed) {
            self.tokens = left;
            return start;
        }
        // The bucket runs dry, so that it cannot overflow meanwhile. What the last nanosecond brings beyond the need
        // stays, or the rounding would accumulate.
        let missing = needed - self.tokens;
        let rate = u128::from(self.bytes_per_second);
        let wait = missing.div_ceil(rate);
        self.tokens = wait * rate - missing;
        self.at = start + Nanos(u64::try_from(wait).unwrap_or(u64::MAX));
        self.at
    }

    fn fill(&mut self, now: Nanos) {
        if now > self.at {
            let gained = u128::from((now - self.at).0) * u128::from(self.bytes_per_second);
            self.tokens = self.tokens.saturating_add(gained).min(self.size);
            self.at = now;
        }
    }
}

fn tokens(bytes: u64) -> u128 {
    u128::from(bytes) * NANOS_PER_SECOND
}

/// Nanoseconds per second.
pub(super) const NANOS_PER_SECOND: u128 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn tokens_accrue_up_to_the_burst() {
        let mut bucket = Bucket::new(1_000, 500);
        assert!(bucket.take_now(Nanos::ZERO, 500));
        assert!(!bucket.take_now(Nanos::ZERO, 1));
        assert!(!bucket.take_now(Nanos(999_999), 1));
        assert!(bucket.take_now(Nanos::from_millis(1), 1));
        assert!(!bucket.take_now(Nanos::from_millis(60_000), 501));
        assert!(bucket.take_now(Nanos::from_millis(60_000), 500));
    }

    #[test]
    fn a_refused_take_costs_nothing() {
        let mut bucket = Bucket::new(1_000, 500);
        assert!(!bucket.take_now(Nanos::ZERO, 501));
        assert!(bucket.take_now(Nanos::ZERO, 500));
    }

    #[test]
    fn extremes_saturate() {
        let mut bucket = Bucket::new(u64::MAX, u64::MAX);
        assert_eq!(bucket.take(Nanos::MAX, u64::MAX), Nanos::MAX);
        let mut bucket = Bucket::new(1, 1);
        assert_eq!(bucket.take(Nanos(u64::MAX - 1), u64::MAX), Nanos::MAX);
    }

    proptest! {
        /// In debt from the start, the n-th byte's time is exactly the rate's, rounded up.
        #[test]
        fn rounding_does_not_accumulate(rate in 1..10_000_000_000_u64, sizes in proptest::collection::vec(0..3_000_u64, 1..60)) {
            let mut bucket = Bucket::new(rate, 1);
            let (mut now, mut total) = (Nanos::ZERO, 0_u64);
            for size in sizes {
                now = bucket.take(now, size);
                total += size;
                let exact = (u128::from(total.saturating_sub(1)) * NANOS_PER_SECOND).div_ceil(u128::from(rate));
                prop_assert_eq!(u128::from(now.0), exact);
            }
        }
    }
}

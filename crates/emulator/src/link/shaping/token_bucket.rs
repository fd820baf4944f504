//! A token bucket, and the line behind it.

use super::ConstantRate;
use super::bucket::{Bucket, NANOS_PER_SECOND};
use crate::link::ConfigError;
use crate::time::Nanos;

/// Sends what has tokens, at the line's rate. The packet being sent may wait for tokens; all others wait in the queue.
#[derive(Debug)]
pub(in crate::link) struct TokenBucket {
    bucket: Bucket,
    line: Option<ConstantRate>,
    ready: Nanos,
    bytes_per_second: u64,
    burst: u64,
}

impl TokenBucket {
    pub(super) fn new(
        bytes_per_second: u64,
        burst: u64,
        peak: Option<u64>,
    ) -> Result<Self, ConfigError> {
        Ok(Self {
            bucket: Bucket::new(bytes_per_second, burst),
            line: peak.map(ConstantRate::new).transpose()?,
            ready: Nanos::ZERO,
            bytes_per_second,
            burst,
        })
    }

    pub(super) fn wake(&mut self, now: Nanos) {
        self.ready = self.ready.max(now);
    }

    pub(super) fn ready(&self) -> Nanos {
        self.ready
    }

    /// The line is at least as fast as the tokens, so that the bucket is never full while the line is busy, and the
    /// later of both ends is the packet's.
    pub(super) fn serve(&mut self, bytes: u64) -> Nanos {
        let start = self.ready;
        let tokens = self.bucket.take(start, bytes);
        let line = self.line.as_mut().map_or(start, |line| {
            line.wake(start);
            line.serve(bytes)
        });
        self.ready = tokens.max(line);
        self.ready
    }

    /// If it always had something to send, it would send the burst at the beginning.
    pub(super) fn capacity(&self, from: Nanos, to: Nanos) -> u64 {
        let until = |time: Nanos| {
            let accrued = u128::from(time.0) * u128::from(self.bytes_per_second) / NANOS_PER_SECOND;
            let bytes = accrued.saturating_add(u128::from(self.burst));
            let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
            let line = self.line.as_ref();
            line.map_or(bytes, |line| bytes.min(line.capacity(Nanos::ZERO, time)))
        };
        until(to).saturating_sub(until(from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Nanos {
        Nanos::from_millis(millis)
    }

    /// Serves packets that wait in the queue together, from the given time on.
    fn serve(server: &mut TokenBucket, now: Nanos, sizes: &[u64]) -> Vec<u64> {
        server.wake(now);
        let sizes = sizes.iter();
        sizes
            .map(|size| server.serve(*size).0 / 1_000_000)
            .collect()
    }

    #[test]
    fn a_burst_leaves_at_once_and_the_rest_at_the_rate() {
        // 1 byte takes 1 ms.
        let check = |burst, peak, sizes: &[u64], departures: &[u64], what| {
            let mut server = TokenBucket::new(1_000, burst, peak).unwrap();
            assert_eq!(serve(&mut server, Nanos::ZERO, sizes), departures, "{what}");
        };
        let what = "no line: the burst takes no time";
        check(300, None, &[100, 200, 100, 50], &[0, 0, 100, 150], what);
        let what = "a packet takes what is left of the burst";
        check(150, None, &[100, 100, 100], &[0, 50, 150], what);
        let what = "a packet larger than the bucket passes";
        check(10, None, &[100, 10], &[90, 100], what);
        let what = "the burst takes the line's time, in which tokens accrue";
        check(150, Some(2_000), &[100; 5], &[50, 100, 150, 250, 350], what);
        let what = "a line as slow as the tokens hides them";
        check(1_000, Some(1_000), &[100, 100], &[100, 200], what);
    }

    #[test]
    fn idle_time_refills_the_bucket_but_no_more() {
        let mut server = TokenBucket::new(1_000, 300, None).unwrap();
        assert_eq!(serve(&mut server, ms(0), &[300, 10]), [0, 10]);
        assert_eq!(serve(&mut server, ms(110), &[100, 10]), [110, 120]);
        assert_eq!(
            serve(&mut server, ms(100_000), &[300, 1]),
            [100_000, 100_001]
        );
    }

    #[test]
    fn the_capacity_has_the_burst_first() {
        let server = TokenBucket::new(1_000, 100, Some(2_000)).unwrap();
        assert_eq!(server.capacity(ms(0), ms(50)), 100);
        assert_eq!(server.capacity(ms(0), ms(100)), 200);
        assert_eq!(server.capacity(ms(0), ms(200)), 300);
        assert_eq!(server.capacity(ms(100), ms(200)), 100);
        let server = TokenBucket::new(u64::MAX, u64::MAX, None).unwrap();
        assert_eq!(
            server.capacity(Nanos::ZERO, Nanos::MAX),
            0,
            "all of it at time 0"
        );
    }
}

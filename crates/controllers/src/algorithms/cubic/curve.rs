//! W_cubic(t): the window as a cubic function of the time since congestion avoidance began.

use crate::units::{Bytes, Gain, Timestamp};

/// W_cubic(t) = C (t - K)^3 + W_max (RFC 9438, section 4.2, equations 1 and 2), in bytes.
///
/// The cube root is computed once per epoch. The curve is a function of time, so floating-point errors do not
/// accumulate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Curve {
    /// C in bytes per cubic second.
    scale: f64,
    /// K in seconds.
    k: f64,
    /// W_max in bytes.
    w_max: f64,
}

impl Curve {
    /// The curve from `start` at time zero to W_max; a W_max below `start` is raised to it.
    pub(super) fn new(c: Gain, w_max: Bytes, start: Bytes, mtu: Bytes) -> Self {
        let scale = c.as_f64() * mtu.0 as f64;
        let rise = (w_max - start).0 as f64;
        Self {
            scale,
            k: (rise / scale.max(f64::MIN_POSITIVE)).cbrt(),
            w_max: w_max.max(start).0 as f64,
        }
    }

    /// The window after `elapsed` seconds of the epoch. Saturates.
    pub(super) fn at(&self, elapsed: f64) -> Bytes {
        let distance = elapsed - self.k;
        Bytes((self.scale * (distance * distance * distance) + self.w_max) as u64)
    }
}

/// The seconds from `from` to `to`; zero if `to` is earlier.
pub(super) fn seconds(from: Timestamp, to: Timestamp) -> f64 {
    to.as_nanos().saturating_sub(from.as_nanos()) as f64 * 1e-9
}

#[cfg(test)]
mod tests {
    use super::*;

    const C: Gain = Gain::new(2, 5);
    const MTU: Bytes = Bytes(1000);

    fn assert_near(bytes: Bytes, expected: u64) {
        assert!(bytes.0.abs_diff(expected) <= 1, "{bytes} != {expected}");
    }

    /// RFC 9438 by hand: from 70 packets back to 100, K = cbrt(30 / 0.4) = 4.217163 s.
    #[test]
    fn values_computed_by_hand() {
        let curve = Curve::new(C, Bytes(100_000), Bytes(70_000), MTU);
        assert!((curve.k - 4.217_163).abs() < 1e-6, "{}", curve.k);
        assert_near(curve.at(0.0), 70_000);
        // 0.4 x (2 - 4.217163)^3 + 100 = 0.4 x -10.899277 + 100.
        assert_near(curve.at(2.0), 95_640);
        assert_near(curve.at(4.217_163_327), 100_000);
        // 0.4 x (6 - 4.217163)^3 + 100 = 0.4 x 5.666795 + 100.
        assert_near(curve.at(6.0), 102_267);
    }

    #[test]
    fn a_curve_that_starts_at_w_max_is_convex_from_the_start() {
        for w_max in [Bytes(50_000), Bytes(70_000)] {
            let curve = Curve::new(C, w_max, Bytes(70_000), MTU);
            assert_eq!(curve.k, 0.0);
            assert_near(curve.at(0.0), 70_000);
            assert_near(curve.at(5.0), 120_000);
        }
    }

    /// Trap: no overflow after days.
    #[test]
    fn years_saturate() {
        let curve = Curve::new(C, Bytes(100_000), Bytes(70_000), MTU);
        // 0.4 x 10^18 packets after a million seconds: eleven and a half days.
        let days = curve.at(1_000_000.0).0;
        assert!(
            (399_000_000_000_000_000..=400_000_000_000_000_000_000u128).contains(&u128::from(days))
        );
        assert_eq!(curve.at(1e12), Bytes(u64::MAX));
        assert_eq!(
            Curve::new(C, Bytes(9), Bytes(1), Bytes::ZERO).at(-1e9),
            Bytes::ZERO
        );
        let late = Timestamp::from_nanos(u64::MAX);
        assert!(seconds(Timestamp::ZERO, late) > 1e10);
        assert_eq!(seconds(late, Timestamp::ZERO), 0.0);
    }
}

//! Units as types: points in time, byte counts, rates and gains. All arithmetic saturates.

use core::fmt;
use core::iter::Sum;
use core::ops::{Add, AddAssign, Mul, Sub, SubAssign};
use core::time::Duration;

/// A point in time: nanoseconds since an origin that the host chooses, the same for one connection's life.
///
/// Controllers get the time from their host and never read a clock, so that they run alike in real and in
/// virtual time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Timestamp(u64);

impl Timestamp {
    /// The origin itself.
    pub const ZERO: Self = Self(0);

    /// The end of time: nothing is later.
    pub const MAX: Self = Self(u64::MAX);

    /// The point this many nanoseconds after the origin.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// The point this long after the origin; saturates after 584 years.
    pub fn from_origin(elapsed: Duration) -> Self {
        Self(saturating_nanos(elapsed))
    }

    /// Nanoseconds since the origin.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The time from `earlier` to `self`, or zero if `earlier` is in fact later.
    pub fn saturating_since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.nanos_since(earlier))
    }

    /// The same in nanoseconds: a `Duration` keeps whole seconds apart, and they have to be divided off.
    pub const fn nanos_since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl Add<Duration> for Timestamp {
    type Output = Self;
    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(saturating_nanos(span)))
    }
}

impl Sub<Duration> for Timestamp {
    type Output = Self;
    fn sub(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(saturating_nanos(span)))
    }
}

/// A number of bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Bytes(pub u64);

impl Bytes {
    /// No bytes.
    pub const ZERO: Self = Self(0);
}

impl Mul<u64> for Bytes {
    type Output = Self;
    fn mul(self, count: u64) -> Self {
        Self(self.0.saturating_mul(count))
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Bytes {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl SubAssign for Bytes {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
        items.fold(Self::ZERO, Add::add)
    }
}

impl Bytes {
    /// `self` x `part` / `whole`; nothing of a `whole` of nothing.
    pub fn share(self, part: Self, whole: Self) -> Self {
        if whole == Self::ZERO {
            return Self::ZERO;
        }
        Self(multiply_divide(self.0, part.0, whole.0))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} B", self.0)
    }
}

/// A rate in bytes per second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Bandwidth(u64);

impl Bandwidth {
    /// Nothing at all.
    pub const ZERO: Self = Self(0);

    /// So many bytes per second.
    pub const fn from_bytes_per_second(rate: u64) -> Self {
        Self(rate)
    }

    /// The rate nearest to a float of bytes per second: negative and NaN become zero, too large saturates.
    pub fn from_f64(rate: f64) -> Self {
        Self(rate as u64)
    }

    /// So many bytes in so much time; `None` if no time passed.
    pub fn from_delivery(amount: Bytes, interval: Duration) -> Option<Self> {
        Self::from_delivery_in_nanos(amount, saturating_nanos(interval))
    }

    /// The same with the interval in nanoseconds.
    pub(crate) fn from_delivery_in_nanos(amount: Bytes, nanos: u64) -> Option<Self> {
        (nanos > 0).then(|| Self(multiply_divide(amount.0, NANOS_PER_SECOND, nanos)))
    }

    /// Bytes per second.
    pub const fn bytes_per_second(self) -> u64 {
        self.0
    }

    /// Bytes per second as a float, for the filters.
    pub fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// The sum of both.
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// By how much it exceeds the other.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Megabits per second, for printing.
    pub fn megabits_per_second(self) -> f64 {
        self.0 as f64 * 8e-6
    }

    /// What flows at this rate in `span`: with a round-trip time, the bandwidth-delay product.
    pub fn bytes_in(self, span: Duration) -> Bytes {
        self.bytes_in_nanos(saturating_nanos(span))
    }

    /// The same with the span in nanoseconds.
    pub(crate) fn bytes_in_nanos(self, nanos: u64) -> Bytes {
        // The divisor is a constant here: the compiler divides by multiplying.
        Bytes(match self.0.checked_mul(nanos) {
            Some(product) => product / NANOS_PER_SECOND,
            None => multiply_divide_wide(self.0, nanos, NANOS_PER_SECOND),
        })
    }
}

impl fmt::Display for Bandwidth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} Mb/s", self.megabits_per_second())
    }
}

/// A dimensionless factor, so that comparing one with a number of bytes cannot compile. A product is rounded to the
/// nearest whole unit.
///
/// ```compile_fail,E0308
/// # use kneepoint_controllers::{Bytes, Gain};
/// let full = Bytes(3000) >= Gain::new(5, 4);
/// ```
///
/// Scaled bytes can be compared with bytes:
///
/// ```
/// # use kneepoint_controllers::{Bytes, Gain};
/// assert!(Bytes(3000) >= Gain::new(5, 4) * Bytes(2400));
/// ```
#[derive(Clone, Copy)]
pub struct Gain {
    numerator: u32,
    denominator: u32,
    /// The ratio in units of 2^-40: gains are applied several times per acknowledgement, and a division takes as long
    /// as ten multiplications.
    fixed: u64,
}

impl PartialEq for Gain {
    fn eq(&self, other: &Self) -> bool {
        u64::from(self.numerator) * u64::from(other.denominator)
            == u64::from(other.numerator) * u64::from(self.denominator)
    }
}

impl Eq for Gain {}

impl fmt::Debug for Gain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.numerator, self.denominator)
    }
}

impl Gain {
    /// One.
    pub const UNIT: Self = Self::new(1, 1);

    /// `numerator / denominator`. A zero denominator counts as one.
    pub const fn new(numerator: u32, denominator: u32) -> Self {
        let denominator = if denominator == 0 { 1 } else { denominator };
        let fixed =
            (((numerator as u128) << GAIN_BITS) + denominator as u128 / 2) / denominator as u128;
        Self {
            numerator,
            denominator,
            fixed: if fixed > u64::MAX as u128 {
                u64::MAX
            } else {
                fixed as u64
            },
        }
    }

    /// So many hundredths.
    pub const fn percent(percent: u32) -> Self {
        Self::new(percent, 100)
    }

    /// The factor as a float.
    pub fn as_f64(self) -> f64 {
        f64::from(self.numerator) / f64::from(self.denominator)
    }

    /// Whether the factor is above one.
    pub const fn grows(self) -> bool {
        self.numerator > self.denominator
    }

    /// Whether the factor is below one.
    pub const fn shrinks(self) -> bool {
        self.numerator < self.denominator
    }

    /// 1 / (1 - `self`), for a factor below one.
    pub(crate) const fn inverse_of_rest(self) -> Self {
        Self::new(
            self.denominator,
            self.denominator.saturating_sub(self.numerator),
        )
    }

    /// The product with a plain number, such as one of nanoseconds.
    pub(crate) fn scale(self, value: u64) -> u64 {
        let product = u128::from(value) * u128::from(self.fixed);
        let rounded = (product + (1 << (GAIN_BITS - 1))) >> GAIN_BITS;
        u64::try_from(rounded).unwrap_or(u64::MAX)
    }
}

impl Mul<Bytes> for Gain {
    type Output = Bytes;
    fn mul(self, bytes: Bytes) -> Bytes {
        Bytes(self.scale(bytes.0))
    }
}

impl Mul<Bandwidth> for Gain {
    type Output = Bandwidth;
    fn mul(self, rate: Bandwidth) -> Bandwidth {
        Bandwidth(self.scale(rate.0))
    }
}

impl Mul<Duration> for Gain {
    type Output = Duration;
    fn mul(self, span: Duration) -> Duration {
        Duration::from_nanos(self.scale(saturating_nanos(span)))
    }
}

/// The span in nanoseconds.
pub(crate) fn saturating_nanos(span: Duration) -> u64 {
    let (seconds, nanos) = (span.as_secs(), u64::from(span.subsec_nanos()));
    // A product that cannot overflow takes one instruction, a saturating one four.
    if seconds < u64::MAX / NANOS_PER_SECOND {
        seconds * NANOS_PER_SECOND + nanos
    } else {
        saturating_sum(seconds, nanos)
    }
}

/// Seconds and nanoseconds in nanoseconds. Spans of centuries are rare, and out of the way of the others.
#[cold]
fn saturating_sum(seconds: u64, nanos: u64) -> u64 {
    seconds
        .saturating_mul(NANOS_PER_SECOND)
        .saturating_add(nanos)
}

/// `value` x `factor` / `divisor`, rounded down and saturating; a zero divisor counts as one.
fn multiply_divide(value: u64, factor: u64, divisor: u64) -> u64 {
    let divisor = divisor.max(1);
    match value.checked_mul(factor) {
        Some(product) => product / divisor,
        None => multiply_divide_wide(value, factor, divisor),
    }
}

#[cold]
fn multiply_divide_wide(value: u64, factor: u64, divisor: u64) -> u64 {
    let quotient = u128::from(value) * u128::from(factor) / u128::from(divisor);
    u64::try_from(quotient).unwrap_or(u64::MAX)
}

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// Binary places of a gain.
const GAIN_BITS: u32 = 40;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Trap: a clock that steps back must not wrap.
    #[test]
    fn time_never_runs_backwards() {
        let (early, late) = (Timestamp::from_nanos(5), Timestamp::from_nanos(9));
        assert_eq!(late.saturating_since(early), Duration::from_nanos(4));
        assert_eq!(early.saturating_since(late), Duration::ZERO);
        assert_eq!(
            Timestamp::from_nanos(u64::MAX) + Duration::MAX,
            Timestamp::from_nanos(u64::MAX)
        );
    }

    /// Trap: arithmetic that wraps or panics.
    #[test]
    fn rates_and_products_saturate() {
        assert_eq!(Bytes(1) - Bytes(2), Bytes::ZERO);
        assert_eq!(Bytes(u64::MAX) + Bytes(1), Bytes(u64::MAX));
        assert_eq!(Bytes(u64::MAX) * 2, Bytes(u64::MAX));
        assert_eq!(
            Timestamp::from_nanos(1) - Duration::from_secs(1),
            Timestamp::ZERO
        );
        let second = Duration::from_secs(1);
        assert_eq!(Bandwidth::from_delivery(Bytes(7), Duration::ZERO), None);
        assert_eq!(
            Bandwidth::from_delivery(Bytes(u64::MAX), Duration::from_nanos(1)),
            Some(Bandwidth::from_bytes_per_second(u64::MAX))
        );
        let rate = Bandwidth::from_bytes_per_second(1_250_000);
        assert_eq!(rate.bytes_in(Duration::from_millis(40)), Bytes(50_000));
        assert_eq!(
            Bandwidth::from_bytes_per_second(u64::MAX).bytes_in(second * 9),
            Bytes(u64::MAX)
        );
        assert_eq!(Bandwidth::from_f64(f64::NAN), Bandwidth::ZERO);
        assert_eq!(Bandwidth::from_f64(-1.0), Bandwidth::ZERO);
    }

    proptest! {
        #[test]
        fn quotients_are_exact_whatever_their_width(
            value in any::<u64>(),
            factor in any::<u64>(),
            divisor in any::<u64>(),
            shifts in (0..64u32, 0..64u32, 0..64u32),
        ) {
            let (value, factor, divisor) =
                (value >> shifts.0, factor >> shifts.1, divisor >> shifts.2);
            let exact = u128::from(value) * u128::from(factor) / u128::from(divisor.max(1));
            let expected = u64::try_from(exact).unwrap_or(u64::MAX);
            prop_assert_eq!(multiply_divide(value, factor, divisor), expected);
        }
    }

    #[test]
    fn shares_are_proportional() {
        assert_eq!(Bytes(10).share(Bytes(3), Bytes(4)), Bytes(7));
        assert_eq!(Bytes(10).share(Bytes(3), Bytes::ZERO), Bytes::ZERO);
        assert_eq!(Bytes(u64::MAX).share(Bytes(9), Bytes(1)), Bytes(u64::MAX));
    }

    #[test]
    fn gains_scale_every_unit() {
        let gain = Gain::new(5, 4);
        assert!(gain.grows() && !gain.shrinks());
        assert_eq!(gain * Bytes(1000), Bytes(1250));
        assert_eq!(
            gain * Bandwidth::from_bytes_per_second(8),
            Bandwidth::from_bytes_per_second(10)
        );
        assert_eq!(gain * Duration::from_millis(4), Duration::from_millis(5));
        assert_eq!(Gain::new(3, 0) * Bytes(2), Bytes(6));
        assert_eq!(Gain::percent(2).inverse_of_rest() * Bytes(98), Bytes(100));
        assert_eq!(Gain::new(u32::MAX, 1) * Bytes(u64::MAX), Bytes(u64::MAX));
    }
}

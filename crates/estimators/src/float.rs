//! Floats in few instructions.

/// A time in ns, or a size, as a float; saturates at 2^63: that is 292 years. Processors convert signed integers in one instruction,
/// unsigned ones in many.
#[inline]
pub(crate) fn as_f64(number: u64) -> f64 {
    number.min(i64::MAX as u64) as i64 as f64
}

/// The smaller of two numbers; `b` if `a` is NaN, as with `f64::min`. That looks for NaN in `b` too, which takes four more instructions.
#[inline]
pub(crate) fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// The larger of two numbers, likewise.
#[inline]
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_is_its_bound() {
        for number in [-1.0, 0.0, 1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(smaller(number, 0.5), number.min(0.5));
            assert_eq!(larger(number, 0.5), number.max(0.5));
        }
    }
}

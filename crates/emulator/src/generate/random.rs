//! Random numbers that are the same on every platform.
//!
//! `rand_distr` is not used: another crate in the build can switch its arithmetic to the platform's library.

use core::f64::consts::PI;

use rand::Rng;
use rand_pcg::Pcg64;

/// Uniform in `(0, 1]`.
pub(crate) fn uniform(generator: &mut Pcg64) -> f64 {
    ((generator.next_u64() >> (64 - MANTISSA_BITS)) + 1) as f64 / (1_u64 << MANTISSA_BITS) as f64
}

/// Normal with mean 0 and standard deviation 1 (Box and Muller, 1958).
pub(crate) fn normal(generator: &mut Pcg64) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(uniform(generator)));
    radius * libm::cos(2.0 * PI * uniform(generator))
}

/// Exponential with the given mean.
pub(crate) fn exponential(generator: &mut Pcg64, mean: f64) -> f64 {
    -mean * libm::log(uniform(generator))
}

/// Log-normal with the given mean and standard deviation of the logarithm.
pub(super) fn log_normal(generator: &mut Pcg64, mean: f64, sd: f64) -> f64 {
    mean * libm::exp(sd * normal(generator) - sd * sd / 2.0)
}

/// Geometric on 1, 2, ... with the given mean, which must be greater than 1.
pub(super) fn geometric(generator: &mut Pcg64, mean: f64) -> u64 {
    // A conversion from floating point saturates.
    1 + libm::floor(libm::log(uniform(generator)) / libm::log(1.0 - 1.0 / mean)) as u64
}

/// The bits of a double's mantissa, including the implicit one.
const MANTISSA_BITS: u32 = 53;

//! The jitter of Wi-Fi: draft-huitema-ccwg-c4-test, "Handling of High Jitter Environments".

use rand_pcg::Pcg64;

use crate::generate::random::{exponential, uniform};
use crate::time::Nanos;

/// What a packet waits for: collisions that are avoided, and for some packets a number of retransmissions.
pub(super) fn jitter(generator: &mut Pcg64, mean: Nanos) -> Nanos {
    let (collisions, smoothing) = (poisson(generator, COLLISIONS), uniform(generator));
    let short = if collisions > 0.0 {
        SLOT * (collisions - smoothing)
    } else {
        0.0
    };
    let resent = (mean.0 as f64 - SLOT) / (BACKOFF * RETRIES);
    let long = if uniform(generator) < resent {
        BACKOFF * poisson(generator, RETRIES)
    } else {
        0.0
    };
    // A conversion from floating point saturates.
    Nanos((short + long) as u64)
}

/// A number with a Poisson distribution: of events with exponential gaps of mean 1, those in so long a time.
fn poisson(generator: &mut Pcg64, mean: f64) -> f64 {
    let mut time = exponential(generator, 1.0);
    let mut number = 0.0;
    while time < mean {
        time += exponential(generator, 1.0);
        number += 1.0;
    }
    number
}

/// In nanoseconds.
const SLOT: f64 = 1e6;
const BACKOFF: f64 = 7.5e6;

/// The means of the numbers of slots, and of backoffs.
const COLLISIONS: f64 = 1.0;
const RETRIES: f64 = 12.0;

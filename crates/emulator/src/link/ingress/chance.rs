//! An event with a probability per packet.

use rand::SeedableRng;
use rand::distr::{Bernoulli, Distribution};
use rand_pcg::Pcg64;

/// Selects each packet with the same probability, independently.
#[derive(Debug)]
pub(in crate::link) struct Chance {
    distribution: Bernoulli,
    generator: Pcg64,
}

impl Chance {
    /// `None` if the probability is not in `[0, 1]`.
    pub(super) fn new(probability: f64, seed: u64) -> Option<Self> {
        Some(Self {
            distribution: Bernoulli::new(probability).ok()?,
            generator: Pcg64::seed_from_u64(seed),
        })
    }

    /// Whether it selects the next packet. Each packet takes one draw at any probability, so that the packets selected
    /// at one probability are also selected at every higher one.
    #[inline]
    pub(super) fn strikes(&mut self) -> bool {
        self.distribution.sample(&mut self.generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_strikes_as_often_as_it_should() {
        for probability in [0.0, 0.01, 0.5, 1.0] {
            let mut chance = Chance::new(probability, 1).unwrap();
            let strikes = (0..20_000).filter(|_| chance.strikes()).count();
            let share = strikes as f64 / 20_000.0;
            assert!((share - probability).abs() < 0.01, "{probability}: {share}");
        }
        for probability in [-0.1, 1.1, f64::NAN] {
            assert!(Chance::new(probability, 1).is_none());
        }
    }
}

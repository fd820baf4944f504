//! Random loss.

use rand::SeedableRng;
use rand::distr::{Bernoulli, Distribution};
use rand_pcg::Pcg64;

use super::ConfigError;

/// Loses each packet with the same probability, independently of the others.
#[derive(Debug)]
pub(super) struct Loss {
    distribution: Bernoulli,
    generator: Pcg64,
}

impl Loss {
    pub(super) fn new(probability: f64, seed: u64) -> Result<Self, ConfigError> {
        let distribution =
            Bernoulli::new(probability).map_err(|_| ConfigError::Loss(probability))?;
        Ok(Self {
            distribution,
            generator: Pcg64::seed_from_u64(seed),
        })
    }

    /// Whether the next packet is lost. Every packet takes one draw, whatever the probability, so that the packets
    /// lost at some probability are also lost at every higher one.
    pub(super) fn strikes(&mut self) -> bool {
        self.distribution.sample(&mut self.generator)
    }
}

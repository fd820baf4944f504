//! Loss in bursts.

use rand::SeedableRng;
use rand_pcg::Pcg64;

use crate::generate::random;

/// A chain of a good and a bad state (Gilbert, 1960; Elliott, 1963). For each packet it takes a step and then loses the
/// packet with the probability of the state it has come to.
#[derive(Debug)]
pub(in crate::link) struct GilbertElliott {
    /// From good to bad, from bad to good.
    turn: [f64; 2],
    /// In the good state, in the bad state.
    loss: [f64; 2],
    bad: bool,
    generator: Pcg64,
}

impl GilbertElliott {
    pub(super) fn new([p, r, good, bad]: [f64; 4], seed: u64) -> Self {
        Self {
            turn: [p, r],
            loss: [good, bad],
            bad: false,
            generator: Pcg64::seed_from_u64(seed),
        }
    }

    pub(super) fn strikes(&mut self) -> bool {
        let [worse, better] = self.turn;
        // A draw is never 0, and 1 with a probability of 2^-53.
        let turn = random::uniform(&mut self.generator);
        self.bad ^= turn <= if self.bad { better } else { worse };
        let [good, bad] = self.loss;
        random::uniform(&mut self.generator) <= if self.bad { bad } else { good }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn losses(parameters: [f64; 4]) -> Vec<bool> {
        let mut chain = GilbertElliott::new(parameters, 1);
        (0..100_000).map(|_| chain.strikes()).collect()
    }

    fn share(losses: &[bool]) -> f64 {
        losses.iter().filter(|lost| **lost).count() as f64 / losses.len() as f64
    }

    #[test]
    fn the_share_and_the_length_of_bursts_are_those_of_the_chain() {
        for ([p, r, good, bad], tolerance) in [
            ([0.01, 0.25, 0.0, 1.0], 0.004),
            ([0.01, 0.25, 0.001, 0.5], 0.003),
            ([0.3, 0.3, 0.1, 0.7], 0.01),
        ] {
            let losses = losses([p, r, good, bad]);
            let in_bad = p / (p + r);
            let expected = in_bad * bad + (1.0 - in_bad) * good;
            assert!(
                (share(&losses) - expected).abs() < tolerance,
                "{}",
                share(&losses)
            );
        }
        let losses = losses([0.01, 0.25, 0.0, 1.0]);
        let bursts = losses.windows(2).filter(|pair| **pair == [false, true]);
        let length = share(&losses) * losses.len() as f64 / bursts.count() as f64;
        assert!((length - 4.0).abs() < 0.3, "{length}");
    }

    #[test]
    fn certainties_are_certain() {
        assert_eq!(share(&losses([0.0, 0.0, 0.0, 1.0])), 0.0);
        assert_eq!(share(&losses([1.0, 0.0, 0.0, 1.0])), 1.0);
        assert_eq!(share(&losses([0.5, 0.5, 1.0, 1.0])), 1.0);
        assert_eq!(
            losses([1.0, 1.0, 0.0, 1.0])[..4],
            [true, false, true, false]
        );
    }
}

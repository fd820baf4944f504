//! Corruption.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::chance::Chance;

/// Inverts a byte of some payloads.
#[derive(Debug)]
pub(super) struct Corruption {
    chance: Chance,
    places: Pcg64,
}

impl Corruption {
    pub(super) fn new(chance: Chance, seed: u64) -> Self {
        Self {
            chance,
            places: Pcg64::seed_from_u64(seed),
        }
    }

    /// Returns whether the payload was corrupted. An empty one cannot be.
    pub(super) fn apply(&mut self, payload: &mut [u8]) -> bool {
        let strikes = self.chance.strikes();
        // Drawn for every packet, so that a packet struck at two probabilities has the same byte inverted.
        let place = (u128::from(self.places.next_u64()) * payload.len() as u128) >> u64::BITS;
        match payload.get_mut(place as usize) {
            Some(byte) if strikes => {
                *byte = !*byte;
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn corruption(probability: f64) -> Corruption {
        Corruption::new(Chance::new(probability, 1).unwrap(), 2)
    }

    #[test]
    fn any_byte_may_be_struck() {
        let mut struck = [0_u32; 8];
        let mut corruption = corruption(1.0);
        for _ in 0..8_000 {
            let mut payload = [0; 8];
            assert!(corruption.apply(&mut payload));
            for (count, byte) in struck.iter_mut().zip(payload) {
                *count += u32::from(byte == 0xff);
            }
        }
        assert!(
            struck.iter().all(|count| (850..1150).contains(count)),
            "{struck:?}"
        );
    }

    proptest! {
        #[test]
        fn one_byte_changes_or_none(mut payload: Vec<u8>, certain: bool) {
            let before = payload.clone();
            let corrupted = corruption(f64::from(u8::from(certain))).apply(&mut payload);
            prop_assert_eq!(corrupted, certain && !before.is_empty());
            let changed = before.iter().zip(&payload).filter(|(old, new)| old != new).count();
            prop_assert_eq!(changed, usize::from(corrupted));
        }
    }
}

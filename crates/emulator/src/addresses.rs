//! Maps by address, which are read several times per packet.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::net::SocketAddr;

/// A map whose order depends only on its content. The test chooses its addresses, so there are no hostile collisions.
pub(crate) type AddressMap<V> = HashMap<SocketAddr, V, BuildHasherDefault<AddressHasher>>;

/// A product for every part of an address.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct AddressHasher(u64);

impl AddressHasher {
    #[inline]
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(FACTOR);
    }
}

impl Hasher for AddressHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(size_of::<u64>()) {
            let mut word = [0; size_of::<u64>()];
            word[..chunk.len()].copy_from_slice(chunk);
            self.add(u64::from_le_bytes(word));
        }
    }

    #[inline]
    fn write_u16(&mut self, port: u16) {
        self.add(port.into());
    }

    /// Lengths and variants, which tell the families of addresses apart.
    #[inline]
    fn write_usize(&mut self, number: usize) {
        self.0 = self.0.wrapping_add(number as u64);
    }

    #[inline]
    fn write_isize(&mut self, number: isize) {
        self.0 = self.0.wrapping_add(number as u64);
    }

    #[inline]
    fn finish(&self) -> u64 {
        // The map takes the place from the low bits, and products leave these to the low bits of the parts.
        self.0.rotate_left(26)
    }
}

/// Odd, with about as many ones as zeros: 2^64 divided by the golden ratio.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

//! A window with fractions of a byte.

use crate::units::Bytes;

/// A window in units of 2^-16 bytes; saturates at 256 TiB.
///
/// In congestion avoidance on long fat paths the window grows by less than a byte per acknowledgement, which would
/// round down to zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Window(u64);

impl Window {
    /// Exactly so many bytes.
    pub(crate) fn new(bytes: Bytes) -> Self {
        Self(bytes.0.saturating_mul(UNITS_PER_BYTE))
    }

    /// Whole bytes.
    pub(crate) fn bytes(self) -> Bytes {
        Bytes(self.0 / UNITS_PER_BYTE)
    }

    /// Grows by so many bytes.
    pub(crate) fn grow(&mut self, bytes: Bytes) {
        self.0 = self.0.saturating_add(Self::new(bytes).0);
    }

    /// Grows by `amount` for each `whole` acknowledged: by one MTU for each window in Reno's additive increase.
    pub(crate) fn grow_by_share(&mut self, amount: Bytes, acked: Bytes, whole: Bytes) {
        let growth = Bytes(Self::new(amount).0).share(acked, whole);
        self.0 = self.0.saturating_add(growth.0);
    }
}

/// Sixteen binary places.
const UNITS_PER_BYTE: u64 = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    /// Trap: growth by less than a byte at a time must not be rounded away.
    #[test]
    fn fractions_add_up() {
        let size = Bytes(100_000_000);
        let mut window = Window::new(size);
        // One MTU per window, acknowledged in packets: 0.0144 bytes each.
        for _ in 0..size.0 / 1200 {
            window.grow_by_share(Bytes(1200), Bytes(1200), size);
        }
        let growth = window.bytes() - size;
        assert!((1190..=1200).contains(&growth.0), "{growth}");
    }

    /// Trap: saturating arithmetic.
    #[test]
    fn nothing_overflows() {
        let mut window = Window::new(Bytes(u64::MAX));
        window.grow(Bytes(u64::MAX));
        window.grow_by_share(Bytes(u64::MAX), Bytes(u64::MAX), Bytes(1));
        assert_eq!(window.bytes(), Bytes(u64::MAX >> 16));
        window.grow_by_share(Bytes(1), Bytes(1), Bytes::ZERO);
    }
}

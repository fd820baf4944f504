//! The parameters of a capacity interval.

use super::Method;
use crate::atkf::{ConfigError, in_range};

/// When a [`CapacityInterval`](super::CapacityInterval) may close, and how it measures.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[non_exhaustive]
pub struct IntervalConfig {
    /// How the rate is measured. Default [`Method::DeliveryRate`].
    pub method: Method,
    /// `T_k`: the least length, in minimal round-trip times. 0..=1000. Default 1.
    pub min_rtts: f64,
    /// The least number of packets. At least 1. Default 8.
    pub min_packets: u32,
    /// The least number of acknowledgements. At least 1. Default 4.
    pub min_batches: u32,
}

impl IntervalConfig {
    /// Checks that every parameter is in its range.
    ///
    /// # Errors
    ///
    /// Names the first one that is not.
    pub fn validate(&self) -> Result<(), ConfigError> {
        in_range("min_rtts", self.min_rtts, 0.0..=MAX_RTTS)?;
        in_range(
            "min_packets",
            f64::from(self.min_packets),
            1.0..=f64::from(u32::MAX),
        )?;
        in_range(
            "min_batches",
            f64::from(self.min_batches),
            1.0..=f64::from(u32::MAX),
        )
    }
}

impl Default for IntervalConfig {
    fn default() -> Self {
        Self {
            method: Method::default(),
            min_rtts: MIN_RTTS,
            min_packets: MIN_PACKETS,
            min_batches: MIN_BATCHES,
        }
    }
}

/// Minimal round-trip times: the sender reacts no faster than that.
const MIN_RTTS: f64 = 1.0;
/// Packets: with fewer the error of a slope exceeds the slopes that matter.
const MIN_PACKETS: u32 = 8;
/// Acknowledgements: as few as leave a regression degrees of freedom for its error.
const MIN_BATCHES: u32 = 4;
/// Minimal round-trip times.
const MAX_RTTS: f64 = 1e3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_is_checked() {
        let good = IntervalConfig::default();
        good.validate().unwrap();
        for bad in [
            IntervalConfig {
                min_rtts: f64::NAN,
                ..good
            },
            IntervalConfig {
                min_packets: 0,
                ..good
            },
            IntervalConfig {
                min_batches: 0,
                ..good
            },
        ] {
            assert!(bad.validate().is_err(), "{bad:?}");
        }
    }
}

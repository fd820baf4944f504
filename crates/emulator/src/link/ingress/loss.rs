//! Loss.

use super::chance::Chance;
use super::gilbert_elliott::GilbertElliott;
use super::intervals::Intervals;
use crate::link::{ConfigError, config};
use crate::time::Nanos;

/// Decides which packets are lost.
#[derive(Debug)]
pub(in crate::link) enum Loss {
    Random(Chance),
    GilbertElliott(GilbertElliott),
    /// The places of lost packets, and those of them that have passed.
    Packets {
        places: Vec<u64>,
        passed: usize,
        packets: u64,
    },
    Intervals(Intervals),
    Burst {
        every: u64,
        length: u64,
        /// Packets since the last burst.
        packets: u64,
    },
}

impl Loss {
    pub(in crate::link) fn new(loss: config::Loss, seed: u64) -> Result<Self, ConfigError> {
        Ok(match loss {
            config::Loss::Random(probability) => {
                let chance = Chance::new(probability, seed);
                Self::Random(chance.ok_or(ConfigError::Loss(probability))?)
            }
            config::Loss::GilbertElliott { p, r, good, bad } => {
                Self::GilbertElliott(GilbertElliott::new([p, r, good, bad], seed))
            }
            config::Loss::Packets(places) => Self::Packets {
                places,
                passed: 0,
                packets: 0,
            },
            config::Loss::Intervals(intervals) => Self::Intervals(Intervals::new(intervals)),
            config::Loss::Burst { every, length } => Self::Burst {
                every,
                length,
                packets: 0,
            },
        })
    }

    /// Whether the next packet is lost.
    #[inline]
    pub(in crate::link) fn strikes(&mut self, now: Nanos) -> bool {
        match self {
            Self::Random(chance) => chance.strikes(),
            _ => self.follows(now),
        }
    }

    /// What is not random for each packet alone, out of line.
    #[inline(never)]
    fn follows(&mut self, now: Nanos) -> bool {
        match self {
            Self::Random(chance) => chance.strikes(),
            Self::GilbertElliott(chain) => chain.strikes(),
            Self::Packets {
                places,
                passed,
                packets,
            } => {
                let strikes = places.get(*passed) == Some(packets);
                *passed += usize::from(strikes);
                *packets += 1;
                strikes
            }
            Self::Intervals(intervals) => intervals.contain(now),
            Self::Burst {
                every,
                length,
                packets,
            } => {
                *packets += 1;
                let strikes = *packets > *every - *length;
                if packets == every {
                    *packets = 0;
                }
                strikes
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::link::Interval;

    /// The places of the packets lost of so many, one every nanosecond.
    fn lost(loss: config::Loss, packets: u64) -> Vec<u64> {
        let mut loss = Loss::new(loss, 1).unwrap();
        (0..packets)
            .filter(|place| loss.strikes(Nanos(*place)))
            .collect()
    }

    #[test]
    fn scripts_are_followed() {
        let interval = |from, to| Interval {
            from: Nanos(from),
            to: Nanos(to),
        };
        for (loss, expected) in [
            (config::Loss::Packets(vec![0, 1, 5, 99]), &[0, 1, 5][..]),
            (config::Loss::Packets(vec![]), &[]),
            (
                config::Loss::Intervals(vec![interval(0, 2), interval(9, 11)]),
                &[0, 1, 9, 10],
            ),
            (
                config::Loss::Burst {
                    every: 5,
                    length: 2,
                },
                &[3, 4, 8, 9, 13, 14, 18, 19],
            ),
            (
                config::Loss::Burst {
                    every: 7,
                    length: 1,
                },
                &[6, 13],
            ),
        ] {
            assert_eq!(lost(loss.clone(), 20), expected, "{loss:?}");
        }
        let all = config::Loss::Burst {
            every: 3,
            length: 3,
        };
        assert_eq!(lost(all, 20).len(), 20);
    }

    proptest! {
        #[test]
        fn bursts_take_their_share(every in 1..50_u64, length in 1..50_u64, cycles in 0..10_u64) {
            prop_assume!(length <= every);
            let lost = lost(config::Loss::Burst { every, length }, every * cycles);
            prop_assert_eq!(lost.len() as u64, length * cycles);
        }
    }
}

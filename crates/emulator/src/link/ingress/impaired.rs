//! Impairments other than loss.

use rand::Rng;
use rand_pcg::Pcg64;

use super::chance::Chance;
use super::corruption::Corruption;
use super::intervals::Intervals;
use super::reordering::Reordering;
use crate::link::queueing::Queued;
use crate::link::{ConfigError, DropCause, Impairments};
use crate::packet::Packet;
use crate::time::Nanos;

/// The stages of a link that has any impairments.
#[derive(Debug)]
pub(super) struct Impaired {
    mtu: u64,
    blackouts: Intervals,
    duplication: Option<Chance>,
    corruption: Option<Corruption>,
    reordering: Option<Reordering>,
}

impl Impaired {
    pub(super) fn new(config: Impairments, seeds: &mut Pcg64) -> Result<Self, ConfigError> {
        let mut chance = |what, value| match Chance::new(value, seeds.next_u64()) {
            Some(chance) => Ok((value > 0.0).then_some(chance)),
            None => Err(ConfigError::Probability { what, value }),
        };
        let duplication = chance("duplication probability", config.duplication)?;
        let corruption = chance("corruption probability", config.corruption)?;
        let (probability, delay) = config.reordering.map_or((0.0, Nanos::ZERO), |reordering| {
            (reordering.probability, reordering.delay)
        });
        let reordering = chance("reordering probability", probability)?;
        let place_seed = seeds.next_u64();
        Ok(Self {
            mtu: config.mtu.unwrap_or(u64::MAX),
            blackouts: Intervals::new(config.blackouts),
            duplication,
            corruption: corruption.map(|chance| Corruption::new(chance, place_seed)),
            reordering: reordering.map(|chance| Reordering::new(chance, delay)),
        })
    }

    pub(super) fn admit(&mut self, now: Nanos, size: u64) -> Result<(), DropCause> {
        if size > self.mtu {
            Err(DropCause::TooLarge)
        } else if self.blackouts.contain(now) {
            Err(DropCause::Blackout)
        } else {
            Ok(())
        }
    }

    pub(super) fn duplicate(&mut self, packet: &Packet) -> Option<Packet> {
        let strikes = self.duplication.as_mut().is_some_and(Chance::strikes);
        strikes.then(|| packet.clone())
    }

    pub(super) fn corrupt(&mut self, packet: &mut Packet) -> bool {
        let corruption = self.corruption.as_mut();
        corruption.is_some_and(|corruption| corruption.apply(&mut packet.payload))
    }

    /// Keeps the packet, or gives it back.
    pub(super) fn hold(&mut self, now: Nanos, queued: Queued) -> Option<Queued> {
        match &mut self.reordering {
            Some(reordering) => reordering.hold(now, queued),
            None => Some(queued),
        }
    }

    pub(super) fn next_release(&self) -> Option<Nanos> {
        self.reordering.as_ref()?.next_release()
    }

    /// Gives back the next packet that is due by `now`.
    pub(super) fn release(&mut self, now: Nanos) -> Option<(Nanos, Queued)> {
        self.reordering.as_mut()?.release(now)
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::link::Interval;

    #[test]
    fn the_mtu_and_blackouts_drop() {
        let config = Impairments {
            mtu: Some(1500),
            blackouts: vec![Interval {
                from: Nanos(10),
                to: Nanos(20),
            }],
            ..Impairments::default()
        };
        let mut impaired = Impaired::new(config, &mut Pcg64::seed_from_u64(1)).unwrap();
        for (now, size, expected) in [
            (0, 1500, Ok(())),
            (0, 1501, Err(DropCause::TooLarge)),
            (10, 1500, Err(DropCause::Blackout)),
            (19, 1501, Err(DropCause::TooLarge)),
            (20, 1500, Ok(())),
        ] {
            assert_eq!(impaired.admit(Nanos(now), size), expected);
        }
    }
}

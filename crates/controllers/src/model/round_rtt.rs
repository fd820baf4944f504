//! The minimum RTT of a round, once there are enough samples.

use crate::event::AckEvent;

/// The minimum RTT of a round in nanoseconds: a queue delays all packets of a round, a delayed acknowledgement only its own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RoundRtt {
    min: u64,
    samples: u32,
}

impl Default for RoundRtt {
    fn default() -> Self {
        Self {
            min: u64::MAX,
            samples: 0,
        }
    }
}

impl RoundRtt {
    /// Handles an acknowledgement that is not application-limited. Returns the minimum of the current round if it has
    /// enough samples, otherwise of the round that ends here.
    pub(crate) fn on_ack(&mut self, ack: &AckEvent) -> Option<u64> {
        let ended = if ack.round_start {
            core::mem::take(self)
        } else {
            Self::default()
        };
        self.min = self.min.min(ack.rtt_nanos());
        self.samples = self.samples.saturating_add(1);
        if self.samples >= ENOUGH {
            Some(self.min)
        } else {
            (ended.samples > 0).then_some(ended.min)
        }
    }
}

/// Enough samples to use a round before its end (RFC 9406, section 4.3: N_RTT_SAMPLE).
const ENOUGH: u32 = 8;

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;
    use crate::driver;
    use crate::units::Bytes;

    fn ack(millis: u64, round_start: bool) -> AckEvent {
        let rtt = Duration::from_millis(millis);
        AckEvent {
            round_start,
            ..driver::ack(driver::at(1000), rtt, Bytes(2400), 1)
        }
    }

    /// Trap: a single acknowledgement that the receiver delayed is taken for a queue.
    #[test]
    fn one_late_acknowledgement_makes_no_queue() {
        let mut round = RoundRtt::default();
        assert_eq!(round.on_ack(&ack(90, true)), None);
        for _ in 0..6 {
            assert_eq!(round.on_ack(&ack(41, false)), None);
        }
        let min = Some(41_000_000);
        assert_eq!(round.on_ack(&ack(90, false)), min);
    }

    #[test]
    fn a_short_round_counts_at_its_end() {
        let mut round = RoundRtt::default();
        for millis in [80, 95] {
            assert_eq!(round.on_ack(&ack(millis, false)), None);
        }
        let min = Some(80_000_000);
        assert_eq!(round.on_ack(&ack(120, true)), min);
        assert_eq!(round.on_ack(&ack(121, false)), None);
    }
}

//! The window beside flows that fill the queue.

use crate::algorithms::cubic::{Cubic, CubicConfig};
use crate::controller::Controller as _;
use crate::loss_based::controller::LossBased;
use crate::registry::Registered as _;
use crate::units::{Bytes, Timestamp};

/// CUBIC, while others fill the queue.
///
/// A flow that keeps its queue short gives way to one that sends until packets are lost. Where two drains in a row found others' queue, and each time
/// packets had been lost of late, the window is at least CUBIC's, from what it is then, until a drain finds no queue or no losses. Flows of `knee` drain
/// together, so that their drains find none, and lose little.
#[derive(Debug, Clone, Default)]
pub(super) struct Competition {
    /// Drains in a row that found others' queue, and losses.
    drains: u32,
    pub(super) cubic: Option<LossBased<Cubic>>,
}

impl Competition {
    /// The window is at least this one, but in drains.
    pub(super) fn window(&self) -> Bytes {
        self.cubic
            .as_ref()
            .map_or(Bytes::ZERO, |cubic| cubic.control().window)
    }

    /// Whether CUBIC has half of this window. If the path loses the packets, and no queue, CUBIC soon has less.
    pub(super) fn keeps_up(&self, window: Bytes) -> bool {
        self.cubic.is_some() && self.window() * 2 >= window
    }

    /// A drain has ended; `window` is what the window is without it. Others have `filled` the queue if the drain found their queue, and packets were lost or
    /// marked of late.
    pub(super) fn on_drained(&mut self, filled: bool, window: Bytes, mtu: Bytes, now: Timestamp) {
        if !filled {
            *self = Self::default();
            return;
        }
        self.drains = self.drains.saturating_add(1);
        if self.drains >= DRAINS && self.cubic.is_none() {
            let cubic = Cubic::new(CubicConfig::default());
            let cubic = LossBased::avoiding(CubicConfig::NAME, cubic, mtu, now, window);
            self.cubic = Some(cubic);
        }
    }
}

/// One drain may find what another flow's start has left.
const DRAINS: u32 = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::{MTU, at, congestion};
    use crate::event::CongestionSignal;

    fn drain(competition: &mut Competition, filled: bool) -> Bytes {
        competition.on_drained(filled, MTU * 100, MTU, at(1_000));
        competition.window()
    }

    #[test]
    fn it_begins_with_two_drains_and_ends_with_one() {
        let mut competition = Competition::default();
        for _ in 0..2 {
            assert_eq!(drain(&mut competition, true), Bytes::ZERO);
            assert_eq!(drain(&mut competition, false), Bytes::ZERO);
            assert_eq!(drain(&mut competition, true), Bytes::ZERO);
            for _ in 0..3 {
                assert_eq!(drain(&mut competition, true), MTU * 100);
            }
            assert_eq!(drain(&mut competition, false), Bytes::ZERO);
        }
    }

    #[test]
    fn where_the_path_loses_the_packets_cubic_does_not_keep_up() {
        let mut competition = Competition::default();
        assert!(!competition.keeps_up(Bytes::ZERO), "it has not begun");
        drain(&mut competition, true);
        drain(&mut competition, true);
        let mut lose = |now, sent| {
            let cubic = competition.cubic.as_mut().expect("it has begun");
            cubic.on_congestion(&congestion(now, sent, CongestionSignal::Loss));
            (competition.window(), competition.keeps_up(MTU * 100))
        };
        // It left before CUBIC began.
        assert_eq!(lose(1_010, 990), (MTU * 100, true));
        assert_eq!(lose(1_100, 1_050), (MTU * 70, true));
        assert_eq!(lose(1_200, 1_150), (MTU * 49, false));
    }
}

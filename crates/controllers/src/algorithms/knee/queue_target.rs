//! How much to keep queued, so that the link stays busy.

use super::KneeConfig;

/// The queue target: a share of the link's usual rate that is in flight on top of what the path holds.
///
/// It grows by the time for which the link was idle, and decays exponentially: an additive increase and a multiplicative decrease. On a
/// steady link next to nothing is left of it. On a link that speeds up and slows down within a round trip it is as large as its idle time asks for.
#[derive(Debug, Clone, Copy)]
pub(super) struct QueueTarget {
    share: f64,
    /// The last round that lost or marked packets, and the largest weight of its signals.
    cut: Option<(u64, f64)>,
}

impl QueueTarget {
    pub(super) fn new(config: &KneeConfig) -> Self {
        Self {
            share: config.initial_target,
            cut: None,
        }
    }

    /// As a share of the usual rate.
    pub(super) fn share(&self) -> f64 {
        self.share
    }

    /// Of `elapsed` horizons the link was idle for `idle`.
    pub(super) fn on_ack(&mut self, config: &KneeConfig, idle: f64, elapsed: f64) {
        let growth = config.target_growth * idle;
        let decay = self.share * elapsed / config.target_decay;
        self.share = (self.share + growth - decay).clamp(0.0, MAX_SHARE);
    }

    /// The queue was lost from or marked: a signal of this weight, from 0 to 1. Of a round's signals the largest counts.
    pub(super) fn on_congestion(&mut self, config: &KneeConfig, round: u64, weight: f64) {
        let before = match self.cut {
            Some((last, before)) if last == round => before,
            _ => 0.0,
        };
        let left = |weight: f64| 1.0 - (1.0 - config.target_left) * weight;
        if weight > before && left(before) > 0.0 {
            self.share *= left(weight) / left(before);
        }
        self.cut = Some((round, before.max(weight)));
    }

    /// Whether one of the last so many rounds lost or marked packets.
    pub(super) fn was_cut_since(&self, round: u64, rounds: u64) -> bool {
        self.cut
            .is_some_and(|(last, _)| round < last.saturating_add(rounds))
    }
}

/// The rate is taken for at most twice what is delivered, and so is what is sent: more of a target would be paid for in losses
/// once a bound on the window goes.
const MAX_SHARE: f64 = 1.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_time_raises_it_and_time_lowers_it() {
        let config = KneeConfig::default();
        let mut target = QueueTarget::new(&config);
        for _ in 0..10_000 {
            target.on_ack(&config, 0.0, 0.1);
        }
        assert!(target.share() < 1e-6);
        for _ in 0..10_000 {
            target.on_ack(&config, 0.001, 0.1);
        }
        // The equilibrium: growth x idle share = share / decay.
        let expected = config.target_growth * config.target_decay * 0.01;
        assert!((target.share() - expected).abs() < 0.01 * expected);
        let before = target.share();
        target.on_congestion(&config, 1, 0.01);
        assert!(target.share() > 0.98 * before);
        // Fault: the first loss of a round decided, however many came after it.
        target.on_congestion(&config, 1, 1.0);
        assert!((target.share() - 0.7 * before).abs() < 1e-9);
        target.on_congestion(&config, 1, 1.0);
        assert!((target.share() - 0.7 * before).abs() < 1e-9, "once a round");
        target.on_congestion(&config, 2, 1.0);
        assert!((target.share() - 0.49 * before).abs() < 1e-9);
        assert!(target.was_cut_since(201, 200) && !target.was_cut_since(202, 200));
    }

    #[test]
    fn it_is_bounded() {
        let config = KneeConfig::default();
        let mut target = QueueTarget::new(&config);
        target.on_ack(&config, 1e300, 1.0);
        assert!(target.share() <= MAX_SHARE);
        target.on_ack(&config, 0.0, 1e300);
        assert!(target.share() >= 0.0);
    }
}

//! `bbr-fair`: BBRv1 that leaves each recovery with its fair share.

use super::bbr::BbrConfig;
use crate::bbr::{Bbr, BbrCoreConfig, EcnRule, HeavyLossRule, ProbeRttWindow, RecoveryRule};
use crate::composed::composed;
use crate::config::WindowPolicy;
use crate::filter::MaxFilterConfig;
use crate::units::Gain;

composed! {
    /// `bbr-fair`: BBRv1 with strict packet conservation in recovery, after which window and bandwidth are what was still
    /// in flight: a full queue drops from each flow in proportion to its share, so that the larger flows lose more of
    /// theirs.
    BbrFairConfig = Bbr(BbrCoreConfig, MaxFilterConfig),
    name: "bbr-fair",
    description: "BBRv1 with strict packet conservation in recovery, and its result as the new estimate",
    source: "Pacing at the fair share of the bottleneck bandwidth without explicit network feedback (article)",
    presets: [Tuned => tuned, Paper => paper, OwnQueue => with_own_queue],
    default: tuned,
}

impl BbrFairConfig {
    /// The article's: BBR with that recovery, ProbeRTT at half a BDP, and a pacing margin of 10 to 15 %.
    ///
    /// The margin needs a host that paces. A window of rate x smoothed RTT in its place shrinks by the margin each round
    /// trip, until nothing is left of it on links whose round trips are seldom at their minimum.
    pub const fn paper() -> Self {
        let BbrConfig { mut core, filter } = BbrConfig::paper();
        core.recovery = RecoveryRule::FairShare;
        core.probe_rtt_window = ProbeRttWindow::Bdp(Gain::new(1, 2));
        core.pacing_margin = PACING_MARGIN;
        Self { core, filter }
    }

    /// The same, held near the knee on hosts without pacing.
    ///
    /// The fair share is taken of a queue only: random loss of 5 % is no sign of others, and would lead the estimate down to a
    /// fraction of the path.
    ///
    /// The window leaves half a pipe more in flight: where round trips are often longer than the minimum without a queue
    /// (a WiGig link hands packets over in lumps), one that follows an estimate meant to be low measures itself, and
    /// shrinks for ever.
    pub const fn tuned() -> Self {
        let mut config = Self::paper();
        config.core.check_longer_path = true;
        config.core.recovery = RecoveryRule::FairShareOfQueue;
        config.core.ecn = EcnRule::Bound;
        config.core.heavy_losses = HeavyLossRule::Bound;
        config.core.window_policy = WindowPolicy::Bdp {
            gain: Gain::new(3, 2),
        };
        config
    }

    /// `bbr-fair:own-queue`, for links of a steady rate: as many packets of every flow in the queue. It is the preset that reproduces
    /// the article's fairness between round-trip times.
    ///
    /// The article relies on losses to make the shares equal, and a queue of four BDP has none after Startup: from then on
    /// the flow with the longest round-trip time takes what the gain on its BDP lets it. A queue of so many packets of
    /// its own, whatever its BDP, makes the shares equal without losses, and Startup ends when there is one. It is not for links
    /// whose round trips vary without a queue: on WiGig with blockages it takes them for one, and its window shrinks.
    pub const fn with_own_queue() -> Self {
        let mut config = Self::paper();
        config.core.target_queue = Some(TARGET_QUEUE);
        config
    }
}

/// Packets of each flow in the queue: 20 ms of a flow's own rate at 24 Mb/s. Fewer are too slow on long paths: a flow comes
/// nearer to its share by no more than this in a round. More would be a queue longer than half of short paths.
const TARGET_QUEUE: u16 = 40;

/// The article has 10 to 15 % below the estimate: the middle.
const PACING_MARGIN: Gain = Gain::new(7, 8);

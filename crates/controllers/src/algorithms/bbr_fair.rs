//! `bbr-fair`: BBRv1 with fair shares after each recovery.

use super::bbr::BbrConfig;
use crate::bbr::{Bbr, BbrCoreConfig, EcnRule, HeavyLossRule, ProbeRttWindow, RecoveryRule};
use crate::composed::composed;
use crate::config::WindowPolicy;
use crate::filter::MaxFilterConfig;
use crate::units::Gain;

composed! {
    /// `bbr-fair`: BBRv1 with strict packet conservation in recovery. The flight at its end sets window and bandwidth.
    /// A full queue drops packets in proportion to the flows' shares, so larger flows lose more.
    BbrFairConfig = Bbr(BbrCoreConfig, MaxFilterConfig),
    name: "bbr-fair",
    description: "BBRv1 with strict packet conservation in recovery, and its result as the new estimate",
    source: "Pacing at the fair share of the bottleneck bandwidth without explicit network feedback (article)",
    presets: [Tuned, Paper],
    more: OwnQueue => with_own_queue,
}

impl BbrFairConfig {
    /// The article's controller: BBR with this recovery, ProbeRTT at half a BDP, and a pacing margin of 10 to 15 %.
    ///
    /// The margin needs a transport that paces. Without one, a window of rate x smoothed RTT shrinks by the margin each
    /// round, without limit on links whose RTT is seldom at its minimum.
    pub const fn paper() -> Self {
        let BbrConfig { mut core, filter } = BbrConfig::paper();
        core.recovery = RecoveryRule::FairShare;
        core.probe_rtt_window = ProbeRttWindow::Bdp(Gain::new(1, 2));
        core.pacing_margin = PACING_MARGIN;
        Self { core, filter }
    }

    /// The article's controller with a window near the knee on transports without pacing.
    ///
    /// The fair share applies only to losses of a queue: random loss of 5 % is no sign of other flows and would reduce
    /// the estimate to a fraction of the path.
    ///
    /// The window is half a BDP larger. On a link where the RTT often exceeds its minimum without a queue (WiGig
    /// delivers packets in batches), a window from a low-biased estimate measures itself and shrinks without limit.
    pub const fn tuned() -> Self {
        let mut config = Self::paper();
        config.core.recovery = RecoveryRule::FairShareOfQueue;
        config.core.ecn = EcnRule::Bound;
        config.core.heavy_losses = HeavyLossRule::Bound;
        config.core.window_policy = WindowPolicy::Bdp {
            gain: Gain::new(3, 2),
        };
        config
    }

    /// `bbr-fair:own-queue`, for links of a steady rate: every flow keeps the same target queue. This preset reproduces
    /// the article's fairness between RTTs.
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

/// The target queue in packets: 20 ms of a flow's rate at 24 Mb/s. With fewer, flows on long paths converge slowly,
/// because a flow moves towards its share by at most this many packets a round. With more, the queue would be longer
/// than half of short paths.
const TARGET_QUEUE: u16 = 40;

/// The middle of the article's 10 to 15 % below the estimate.
const PACING_MARGIN: Gain = Gain::new(7, 8);

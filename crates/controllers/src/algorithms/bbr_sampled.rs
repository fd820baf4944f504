//! `bbr-sampled`: BBRv1 on a percentile of its delivery rates.

use super::bbr::BbrConfig;
use crate::bbr::{Bbr, BbrCoreConfig, EcnRule, HeavyLossRule, RecoveryRule};
use crate::composed::composed;
use crate::config::WindowPolicy;
use crate::filter::PercentileFilterConfig;
use crate::units::Gain;

composed! {
    /// `bbr-sampled`: BBRv1 with the 85th percentile of the last 100 delivery rates as bandwidth, so that the bursts of
    /// a token bucket do not raise it.
    BbrSampledConfig = Bbr(BbrCoreConfig, PercentileFilterConfig),
    name: "bbr-sampled",
    description: "BBRv1 on the 85th percentile of the last 100 delivery rates instead of their maximum",
    source: "BBR-Sampled, section 7.1 of the DASH-over-BBR study",
    presets: [Tuned, Paper],
}

impl BbrSampledConfig {
    /// The paper's controller: BBR with another filter.
    pub const fn paper() -> Self {
        Self {
            core: BbrConfig::paper().core,
            filter: PercentileFilterConfig::bbr(),
        }
    }

    /// The paper's controller with a window near the knee on transports without pacing, and without packet
    /// conservation: with 5 % of random loss, conservation reduces the percentile to a quarter of the path within
    /// seconds, because the probing phase is no larger part of the samples than the percentile leaves out.
    ///
    /// The window is half a BDP larger. On a link where the RTT often exceeds its minimum without a queue (WiGig
    /// delivers packets in batches), a window from a low-biased estimate measures itself and shrinks without limit.
    pub const fn tuned() -> Self {
        let mut core = BbrConfig::paper().core;
        core.recovery = RecoveryRule::Ignore;
        core.ecn = EcnRule::Bound;
        core.heavy_losses = HeavyLossRule::Bound;
        core.window_policy = WindowPolicy::Bdp {
            gain: Gain::new(5, 4),
        };
        Self {
            core,
            ..Self::paper()
        }
    }
}

//! `bbr-sampled`: BBRv1 on a percentile of its delivery rates.

use super::bbr::BbrConfig;
use crate::bbr::{Bbr, BbrCoreConfig, EcnRule, HeavyLossRule, RecoveryRule};
use crate::composed::composed;
use crate::config::WindowPolicy;
use crate::filter::PercentileFilterConfig;
use crate::units::Gain;

composed! {
    /// `bbr-sampled`: BBRv1 that takes the 85th percentile of the last 100 delivery rates for the bandwidth, so that the
    /// bursts that a token bucket lets through do not carry it away.
    BbrSampledConfig = Bbr(BbrCoreConfig, PercentileFilterConfig),
    name: "bbr-sampled",
    description: "BBRv1 on the 85th percentile of the last 100 delivery rates instead of their maximum",
    source: "BBR-Sampled, section 7.1 of the DASH-over-BBR study",
    presets: [Tuned => tuned, Paper => paper],
    default: tuned,
}

impl BbrSampledConfig {
    /// The paper's: BBR with another filter and nothing else.
    pub const fn paper() -> Self {
        Self {
            core: BbrConfig::paper().core,
            filter: PercentileFilterConfig::bbr(),
        }
    }

    /// The same, held near the knee on hosts without pacing, and without packet conservation: at 5 % of random loss it
    /// leads the percentile down to a quarter of the path within seconds, since the probing phase makes up no more of the
    /// samples than the percentile leaves out.
    ///
    /// The window leaves half a pipe more in flight: where round trips are often longer than the minimum without a queue
    /// (a WiGig link hands packets over in lumps), one that follows an estimate meant to be low measures itself, and
    /// shrinks for ever.
    pub const fn tuned() -> Self {
        let mut core = BbrConfig::paper().core;
        core.check_longer_path = true;
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

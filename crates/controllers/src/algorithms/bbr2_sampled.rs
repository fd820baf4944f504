//! `bbr2-sampled`: BBRv2 on a percentile of its delivery rates.

use super::bbr2::Bbr2Config;
use crate::bbr3::{Bbr3, Bbr3CoreConfig};
use crate::composed::composed;
use crate::config::WindowPolicy;
use crate::filter::PercentileFilterConfig;
use crate::units::Gain;

composed! {
    /// `bbr2-sampled`: BBRv2's parameters; the bandwidth is 85 % of the 85th percentile of the last 100 delivery rates.
    Bbr2SampledConfig = Bbr3(Bbr3CoreConfig, PercentileFilterConfig),
    name: "bbr2-sampled",
    description: "BBRv2 on 85 % of the 85th percentile of the last 100 delivery rates",
    source: "BBR2-Sampled, section 7.2 of the DASH-over-BBR study",
    presets: [Tuned, Paper],
}

impl Bbr2SampledConfig {
    /// The paper's controller: BBRv2 with another filter.
    pub const fn paper() -> Self {
        Self {
            core: Bbr2Config::paper().core,
            filter: PercentileFilterConfig::bbr2(),
        }
    }

    /// The paper's controller with a window near the knee on transports without pacing.
    ///
    /// A sender at 85 % of a rate that shows only the sender slows down geometrically. The window therefore leaves more
    /// than 1 / 0.85 BDP in flight, so that the samples show the path.
    pub const fn tuned() -> Self {
        let mut core = Bbr2Config::tuned().core;
        core.window_policy = WindowPolicy::Bdp {
            gain: Gain::new(3, 2),
        };
        Self {
            core,
            ..Self::paper()
        }
    }
}

//! `bbr2-sampled`: BBRv2 on a percentile of its delivery rates.

use super::bbr2::Bbr2Config;
use crate::bbr3::{Bbr3, Bbr3CoreConfig};
use crate::composed::composed;
use crate::config::WindowPolicy;
use crate::filter::PercentileFilterConfig;
use crate::units::Gain;

composed! {
    /// `bbr2-sampled`: BBRv2's parameters, with 85 % of the 85th percentile of the last 100 delivery rates for the
    /// bandwidth.
    Bbr2SampledConfig = Bbr3(Bbr3CoreConfig, PercentileFilterConfig),
    name: "bbr2-sampled",
    description: "BBRv2 on 85 % of the 85th percentile of the last 100 delivery rates",
    source: "BBR2-Sampled, section 7.2 of the DASH-over-BBR study",
    presets: [Tuned => tuned, Paper => paper],
    default: tuned,
}

impl Bbr2SampledConfig {
    /// The paper's: BBRv2 with another filter and nothing else.
    pub const fn paper() -> Self {
        Self {
            core: Bbr2Config::paper().core,
            filter: PercentileFilterConfig::bbr2(),
        }
    }

    /// The same, held near the knee on hosts without pacing.
    ///
    /// A sender that runs at 85 % of what it measures, while it measures only itself, slows down geometrically: the window
    /// has to leave more than 1 / 0.85 of a pipe in flight, so that the samples show the path.
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

//! `bbr`: BBRv1 as published.

use crate::bbr::{Bbr, BbrCoreConfig, EcnRule, HeavyLossRule};
use crate::composed::composed;
use crate::config::WindowPolicy;
use crate::filter::MaxFilterConfig;

composed! {
    /// `bbr`: BBRv1 with a maximum filter, after N. Cardwell et al., "BBR: Congestion-Based Congestion Control", ACM
    /// Queue 14(5), 2016.
    BbrConfig = Bbr(BbrCoreConfig, MaxFilterConfig),
    name: "bbr",
    description: "BBRv1: maximum filter over ten rounds, eight-phase gain cycle",
    source: "N. Cardwell et al., BBR: Congestion-Based Congestion Control, ACM Queue 14(5), 2016",
    // The papers compare with the paper's BBR.
    presets: [Paper => paper, Tuned => tuned],
    default: tuned,
}

impl BbrConfig {
    /// The paper's BBR: on a host without pacing the window is the congestion window of 2 BDP.
    pub const fn paper() -> Self {
        Self {
            core: BbrCoreConfig::paper(),
            filter: MaxFilterConfig { epochs: ROUNDS },
        }
    }

    /// The same model, held near the knee on hosts without pacing.
    pub const fn tuned() -> Self {
        let mut config = Self::paper();
        config.core.check_longer_path = true;
        config.core.ecn = EcnRule::Bound;
        config.core.heavy_losses = HeavyLossRule::Bound;
        config.core.window_policy = WindowPolicy::RttCapped;
        config
    }
}

/// The current round and ten before it (BBR paper, section "Characterizing the bottleneck": six to ten RTTs).
const ROUNDS: u16 = 11;

//! `bbr-x`: BBRv1 whose maximum is corrected by the queue it makes.

use super::bbr::BbrConfig;
use crate::bbr::{Bbr, BbrCoreConfig, EcnRule, HeavyLossRule};
use crate::composed::composed;
use crate::config::WindowPolicy;
use crate::filter::CorrectedMaxFilterConfig;
use crate::units::Gain;

composed! {
    /// `bbr-x`: BBRx as BBR-S compares with it, a maximum filter corrected by a term in the distance of the RTT from its
    /// minimum. The source gives no formula: see [`CorrectedMaxFilterConfig`](crate::CorrectedMaxFilterConfig) for the one chosen.
    BbrXConfig = Bbr(BbrCoreConfig, CorrectedMaxFilterConfig),
    name: "bbr-x",
    description: "BBRv1 whose maximum is lowered by the queue's share of the RTT",
    source: "BBRx as described by F. Chiariotti et al., BBR-S, IEEE Access 9, 2021, section II",
    presets: [Tuned => tuned, Paper => paper],
    default: tuned,
}

impl BbrXConfig {
    /// BBR with the correction and nothing else.
    pub const fn paper() -> Self {
        let BbrConfig { core, filter: max } = BbrConfig::paper();
        Self {
            core,
            filter: CorrectedMaxFilterConfig {
                max,
                gain: CORRECTION_GAIN,
            },
        }
    }

    /// The same, held near the knee on hosts without pacing.
    ///
    /// The window leaves half a pipe more in flight: where round trips are often longer than the minimum without a queue
    /// (a WiGig link hands packets over in lumps), one that follows an estimate meant to be low measures itself, and
    /// shrinks for ever.
    pub const fn tuned() -> Self {
        let mut config = Self::paper();
        config.core.check_longer_path = true;
        config.core.ecn = EcnRule::Bound;
        config.core.heavy_losses = HeavyLossRule::Bound;
        config.core.window_policy = WindowPolicy::Bdp {
            gain: Gain::new(3, 2),
        };
        config
    }
}

/// Half of the queue per round trip: the RTT it is measured by is a round trip old, and more would make the queue
/// oscillate.
const CORRECTION_GAIN: f64 = 0.5;

//! `bbr-x`: BBRv1 with a maximum filter that is corrected for the queue.

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
    presets: [Tuned, Paper],
}

impl BbrXConfig {
    /// BBR with the corrected filter.
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

    /// BBR with the corrected filter and a window near the knee on transports without pacing.
    ///
    /// The window is half a BDP larger. On a link where the RTT often exceeds its minimum without a queue (WiGig
    /// delivers packets in batches), a window from a low-biased estimate measures itself and shrinks without limit.
    pub const fn tuned() -> Self {
        let mut config = Self::paper();
        config.core.ecn = EcnRule::Bound;
        config.core.heavy_losses = HeavyLossRule::Bound;
        config.core.window_policy = WindowPolicy::Bdp {
            gain: Gain::new(3, 2),
        };
        config
    }
}

/// Half of the queue per round trip: the RTT sample is one round old, and a larger gain makes the queue oscillate.
const CORRECTION_GAIN: f64 = 0.5;

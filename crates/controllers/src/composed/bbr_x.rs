//! `bbr-x`: BBRv1 whose maximum is corrected by the queue it makes.

use super::{BbrConfig, composed};
use crate::bbr::{Bbr, BbrCoreConfig};
use crate::filter::CorrectedMaxFilterConfig;

composed! {
    /// `bbr-x`: BBRx as BBR-S compares with it, a maximum filter corrected by a term in the distance of the RTT from its
    /// minimum. The source gives no formula: see [`CorrectedMaxFilter`](crate::CorrectedMaxFilter) for the one chosen.
    BbrXConfig = Bbr(BbrCoreConfig, CorrectedMaxFilterConfig),
    name: "bbr-x",
    description: "BBRv1 whose maximum is lowered by the queue's share of the RTT",
    source: "BBRx as described by F. Chiariotti et al., BBR-S, IEEE Access 9, 2021, section II",
    presets: [Tuned, Paper],
}

impl BbrXConfig {
    /// BBR with the correction and nothing else.
    pub const fn paper() -> Self {
        Self::on(BbrConfig::paper())
    }

    /// The same, held near the knee on hosts without pacing.
    pub const fn tuned() -> Self {
        Self::on(BbrConfig::tuned())
    }

    const fn on(bbr: BbrConfig) -> Self {
        Self {
            core: bbr.core,
            filter: CorrectedMaxFilterConfig {
                max: bbr.filter,
                gain: CORRECTION_GAIN,
            },
        }
    }
}

/// Half of the queue per round trip: the RTT it is measured by is a round trip old, and more would make the queue
/// oscillate.
const CORRECTION_GAIN: f64 = 0.5;

//! `bbr3`: BBRv3 as drafted.

use crate::bbr3::{Bbr3, Bbr3CoreConfig};
use crate::composed::composed;
use crate::filter::MaxFilterConfig;

composed! {
    /// `bbr3`: BBRv3 with a maximum filter, after draft-ietf-ccwg-bbr.
    Bbr3Config = Bbr3(Bbr3CoreConfig, MaxFilterConfig),
    name: "bbr3",
    description: "BBRv3: maximum filter over two probing cycles, bounds from losses",
    source: "draft-ietf-ccwg-bbr",
    presets: [Tuned => tuned, Paper => paper],
    default: tuned,
}

impl Bbr3Config {
    /// The draft's BBRv3: on a host without pacing the window is the congestion window of 2 BDP.
    pub const fn paper() -> Self {
        Self {
            core: Bbr3CoreConfig::draft(),
            filter: MaxFilterConfig { epochs: CYCLES },
        }
    }

    /// What we recommend, where it differs: [`Bbr3CoreConfig::tuned`].
    pub const fn tuned() -> Self {
        let mut config = Self::paper();
        config.core = config.core.tuned();
        config
    }
}

/// ProbeBW cycles that the maximum covers, the current one included (draft-ietf-ccwg-bbr, section "Estimating
/// BBR.max_bw").
const CYCLES: u16 = 2;

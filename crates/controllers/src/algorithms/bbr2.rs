//! `bbr2`: BBRv2's parameters on the BBRv3 core.

use crate::bbr3::{Bbr3, Bbr3CoreConfig};
use crate::composed::composed;
use crate::filter::MaxFilterConfig;

composed! {
    /// `bbr2`: BBRv2's parameters on the BBRv3 core, after Google's alpha release for Linux (`tcp_bbr2.c`);
    /// [`Bbr3CoreConfig::v2`] says what remains of BBRv3.
    Bbr2Config = Bbr3(Bbr3CoreConfig, MaxFilterConfig),
    name: "bbr2",
    description: "BBRv2's gains, timers and thresholds on the BBRv3 core",
    source: "Google's BBRv2 alpha for Linux; draft-cardwell-iccrg-bbr-congestion-control-02",
    presets: [Tuned => tuned, Paper => paper],
    default: tuned,
}

impl Bbr2Config {
    /// The alpha release's BBRv2: on a host without pacing the window is the congestion window of 2 BDP.
    pub const fn paper() -> Self {
        Self {
            core: Bbr3CoreConfig::v2(),
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

/// ProbeBW cycles that the maximum covers: the current one and the one before it.
const CYCLES: u16 = 2;

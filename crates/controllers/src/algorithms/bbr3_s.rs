//! `bbr3-s`: BBRv3 on SKIP.

use crate::bbr::Probing;
use crate::bbr3::{Bbr3, Bbr3CoreConfig};
use crate::composed::composed;
use crate::config::WindowPolicy;
use crate::filter::SkipFilterConfig;
use crate::units::Gain;

composed! {
    /// `bbr3-s`: BBRv3 on SKIP, the adaptive Tobit Kalman filter of BBR-S.
    Bbr3SConfig = Bbr3(Bbr3CoreConfig, SkipFilterConfig),
    name: "bbr3-s",
    description: "BBRv3 on SKIP: an adaptive Tobit Kalman filter instead of the maximum",
    source: "draft-ietf-ccwg-bbr with the filter of F. Chiariotti et al., BBR-S, IEEE Access 9, 2021",
    presets: [Tuned, Paper],
}

impl Bbr3SConfig {
    /// The draft's state machine on the paper's filter.
    ///
    /// The filter is the paper's mode machine, but uses neither Allik's Tobit update nor the published noise adaptation: see
    /// [`SkipFilterConfig::paper`].
    pub fn paper() -> Self {
        Self {
            core: Bbr3CoreConfig {
                window_policy: WindowPolicy::Rate,
                ..Bbr3CoreConfig::draft()
            },
            filter: SkipFilterConfig::paper(),
        }
    }

    /// The recommended values: a flight of 1.25 BDP, so that the samples show the path, and probes only while they do
    /// not.
    pub fn tuned() -> Self {
        Self {
            core: Bbr3CoreConfig {
                probing: Probing::WhileUnbounded,
                startup_exit_rtt: Some(Gain::new(2, 1)),
                window_policy: WindowPolicy::Bdp {
                    gain: Gain::new(5, 4),
                },
                ..Bbr3CoreConfig::draft().tuned()
            },
            filter: SkipFilterConfig::tuned(),
        }
    }
}

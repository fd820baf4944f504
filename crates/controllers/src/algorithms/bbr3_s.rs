//! `bbr3-s`: BBRv3 on SKIP.

use kneepoint_estimators::LowerBounds;

use crate::bbr3::{Bbr3, Bbr3CoreConfig, Probing};
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
    presets: [Tuned => tuned, Paper => paper],
    default: tuned,
}

impl Bbr3SConfig {
    /// The draft's state machine on the paper's filter, its errata corrected ([`SkipFilterConfig::paper`]) but for one: every
    /// lower bound updates the belief ([`LowerBounds::AsPublished`]).
    ///
    /// The draft's core probes once in seconds, not once in eight round trips. What random losses take from the estimate comes
    /// back by lower bounds in between: with one packet of 97 lost, 90 % of a link of 10 Mb/s and 40 ms is used, and 49 %
    /// with bounded ones.
    pub fn paper() -> Self {
        let mut filter = SkipFilterConfig::paper();
        filter.skip.filter.lower_bounds = LowerBounds::AsPublished;
        Self {
            core: Bbr3CoreConfig {
                window_policy: WindowPolicy::Rate,
                ..Bbr3CoreConfig::draft()
            },
            filter,
        }
    }

    /// What we recommend: a quarter more than a pipe in flight, so that the samples show the path, and probes only as long
    /// as they do not.
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

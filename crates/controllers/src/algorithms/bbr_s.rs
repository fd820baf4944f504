//! `bbr-s`: BBRv1 on SKIP.

use crate::bbr::{Bbr, BbrCoreConfig, ProbeRttWindow};
use crate::composed::composed;
use crate::config::WindowPolicy;
use crate::filter::SkipFilterConfig;
use crate::units::Gain;

composed! {
    /// `bbr-s`: BBRv1 on SKIP, an adaptive Tobit Kalman filter, after F. Chiariotti et al., "BBR-S: A Low-Latency BBR
    /// Modification for Fast-Varying Connections", IEEE Access 9, 2021.
    BbrSConfig = Bbr(BbrCoreConfig, SkipFilterConfig),
    name: "bbr-s",
    description: "BBRv1 on SKIP: an adaptive Tobit Kalman filter instead of the maximum",
    source: "F. Chiariotti et al., BBR-S: A Low-Latency BBR Modification for Fast-Varying Connections, IEEE Access 9, 2021",
    presets: [Paper => paper, Published => published],
    default: paper,
}

impl BbrSConfig {
    /// The paper's BBR-S, with the filter's errata corrected ([`SkipFilterConfig::paper`]).
    ///
    /// The filter is in charge of what is sent: by the pace on a transport that paces, elsewhere by a window of the rate
    /// times the smoothed RTT. As in the paper, it responds neither to ECN marks nor to heavy losses, and two
    /// bandwidth-delay products may be in flight.
    pub fn paper() -> Self {
        Self {
            core: BbrCoreConfig {
                probe_rtt_window: ProbeRttWindow::Bdp(Gain::new(1, 2)),
                startup_exit_rtt: Some(Gain::new(6, 1)),
                window_policy: WindowPolicy::Rate,
                ..BbrCoreConfig::paper()
            },
            filter: SkipFilterConfig::paper(),
        }
    }

    /// The same with the filter as printed ([`SkipFilterConfig::published`]), to show what its errata do. Not for use.
    pub fn published() -> Self {
        Self {
            filter: SkipFilterConfig::published(),
            ..Self::paper()
        }
    }
}

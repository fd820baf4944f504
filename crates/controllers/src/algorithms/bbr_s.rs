//! `bbr-s`: BBRv1 on SKIP.

use core::time::Duration;

use crate::bbr::{Bbr, BbrCoreConfig, EcnRule, HeavyLossRule, ProbeRttWindow, Probing};
use crate::composed::composed;
use crate::config::{QueueTarget, WindowPolicy};
use crate::filter::SkipFilterConfig;
use crate::units::Gain;

composed! {
    /// `bbr-s`: BBRv1 on SKIP, an adaptive Tobit Kalman filter, after F. Chiariotti et al., "BBR-S: A Low-Latency BBR
    /// Modification for Fast-Varying Connections", IEEE Access 9, 2021.
    BbrSConfig = Bbr(BbrCoreConfig, SkipFilterConfig),
    name: "bbr-s",
    description: "BBRv1 on SKIP: an adaptive Tobit Kalman filter instead of the maximum",
    source: "F. Chiariotti et al., BBR-S: A Low-Latency BBR Modification for Fast-Varying Connections, IEEE Access 9, 2021",
    presets: [Tuned, Paper],
}

impl BbrSConfig {
    /// The paper's BBR-S as closely as a host without pacing allows.
    ///
    /// The filter is the paper's mode machine, but uses neither Allik's Tobit update nor the published noise adaptation: see
    /// [`SkipFilterConfig::paper`].
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

    /// What we recommend.
    pub fn tuned() -> Self {
        let paper = Self::paper();
        Self {
            core: BbrCoreConfig {
                min_rtt_window: Duration::from_secs(30),
                probe_standing_queue: true,
                startup_exit_rtt: Some(Gain::new(2, 1)),
                // The window policy limits the flight: after a fall of the rate the estimate rises too slowly for a
                // smaller gain.
                window_gain: Gain::new(10, 1),
                probing: Probing::WhileUnbounded,
                ecn: EcnRule::Bound,
                heavy_losses: HeavyLossRule::Bound,
                window_policy: WindowPolicy::BusyRate(QueueTarget {
                    idle: Gain::new(38, 1000),
                    min: Gain::percent(4),
                    max: Gain::UNIT,
                }),
                ..paper.core
            },
            filter: SkipFilterConfig::tuned(),
        }
    }
}

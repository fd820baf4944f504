//! All experiments.

use super::reproduction::Experiment;
use super::{bbr, bbr_s, bbr_sampled, ebcc, extra, fair_share};

/// The papers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Paper {
    /// "BBR-S: A Low-Latency BBR Modification for Fast-Varying Connections".
    BbrS,
    /// N. Cardwell et al., "BBR: Congestion-Based Congestion Control", ACM Queue 14(5), 2016.
    Bbr,
    /// eBCC: enhanced BBR congestion control for QUIC.
    Ebcc,
    /// BBR-Sampled and BBR2-Sampled, with the DASH study.
    BbrSampled,
    /// "Pacing at the fair-share of the bottleneck bandwidth without explicit network-level feedback".
    FairShare,
    /// Beyond the papers.
    Extra,
}

impl Paper {
    /// All, in the order of the report.
    pub const ALL: [Self; 6] = [
        Self::BbrS,
        Self::Bbr,
        Self::Ebcc,
        Self::BbrSampled,
        Self::FairShare,
        Self::Extra,
    ];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BbrS => "bbr-s",
            Self::Bbr => "bbr",
            Self::Ebcc => "ebcc",
            Self::BbrSampled => "bbr-sampled",
            Self::FairShare => "fair-share",
            Self::Extra => "beyond",
        }
    }

    /// The heading in the report.
    pub const fn title(self) -> &'static str {
        match self {
            Self::BbrS => "BBR-S: SKIP and the adaptive Tobit Kalman filter",
            Self::Bbr => "BBR: congestion-based congestion control",
            Self::Ebcc => "eBCC",
            Self::BbrSampled => "BBR-Sampled and BBR2-Sampled, and adaptive video",
            Self::FairShare => "Fair share without network feedback",
            Self::Extra => "Beyond the papers",
        }
    }
}

/// The experiments of a paper, in the order of the report.
pub fn experiments(paper: Paper) -> Vec<&'static dyn Experiment> {
    match paper {
        Paper::BbrS => vec![
            &bbr_s::PACE,
            &bbr_s::LTE_DRIVING,
            &bbr_s::WIGIG,
            &bbr_s::MANY_FLOWS,
            &bbr_s::BESIDE_CUBIC,
        ],
        Paper::Bbr => vec![
            &bbr::RATE_STEPS,
            &bbr::STARTUP,
            &bbr::FAIR_SHARE,
            &bbr::RANDOM_LOSS,
            &bbr::DEEP_BUFFER,
            &bbr::TOKEN_BUCKET,
        ],
        Paper::Extra => vec![&extra::TRACES],
        Paper::Ebcc => vec![
            &ebcc::SINGLE_FLOW,
            &ebcc::BANDWIDTHS,
            &ebcc::DELAYS,
            &ebcc::FLOWS,
        ],
        Paper::BbrSampled => vec![
            &bbr_sampled::QUALITY,
            &bbr_sampled::BURSTS,
            &bbr_sampled::RULES,
        ],
        Paper::FairShare => vec![&fair_share::ROUND_TRIPS],
    }
}

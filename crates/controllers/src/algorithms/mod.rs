//! The controllers: one file each, or a folder, one `mod` line and one line of the table below.

mod bbr;
mod bbr2;
mod bbr2_sampled;
mod bbr3;
mod bbr3_s;
mod bbr_fair;
mod bbr_s;
mod bbr_sampled;
mod bbr_x;
mod compound;
mod cubic;
mod ebcc;
mod knee;
mod new_reno;
mod vegas;

use crate::registry::algorithms;

algorithms! {
    NewReno(new_reno::NewRenoConfig, "RFC 9002's New Reno."),
    Cubic(cubic::CubicConfig, "CUBIC with HyStart++."),
    Vegas(vegas::VegasConfig, "Vegas."),
    #[default]
    Knee(knee::KneeConfig, "The knee of the delay/throughput curve."),
    Compound(compound::CompoundConfig, "Compound TCP."),
    Ebcc(ebcc::EbccConfig, "eBCC."),
    Bbr(bbr::BbrConfig, "BBRv1 with a maximum filter."),
    BbrX(bbr_x::BbrXConfig, "BBRv1 whose maximum is corrected by the queue."),
    BbrS(bbr_s::BbrSConfig, "BBRv1 on SKIP, an adaptive Tobit Kalman filter."),
    BbrSampled(bbr_sampled::BbrSampledConfig, "BBRv1 on a percentile of its samples."),
    BbrFair(bbr_fair::BbrFairConfig, "BBRv1 with a fair share after each recovery."),
    Bbr2(bbr2::Bbr2Config, "BBRv2's parameters on the BBRv3 core."),
    Bbr2Sampled(bbr2_sampled::Bbr2SampledConfig, "BBRv2 on a percentile of its samples."),
    Bbr3(bbr3::Bbr3Config, "BBRv3 with a maximum filter."),
    Bbr3S(bbr3_s::Bbr3SConfig, "BBRv3 on SKIP."),
}

pub use self::ebcc::EbccCongestion;

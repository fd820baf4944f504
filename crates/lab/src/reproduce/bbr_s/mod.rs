//! "BBR-S: A Low-Latency BBR Modification for Fast-Varying Connections".

mod beside_cubic;
mod lte_driving;
mod many_flows;
mod pace;
mod wigig;

pub(super) use beside_cubic::BesideCubic;
pub(super) use lte_driving::LteDriving;
pub(super) use many_flows::ManyFlows;
pub(super) use pace::Pace;
pub(super) use wigig::Wigig;

//! "BBR-S: A Low-Latency BBR Modification for Fast-Varying Connections".

mod beside_cubic;
mod lte_driving;
mod many_flows;
mod pace;
mod wigig;

pub(super) use beside_cubic::BESIDE_CUBIC;
pub(super) use lte_driving::LTE_DRIVING;
pub(super) use many_flows::MANY_FLOWS;
pub(super) use pace::PACE;
pub(super) use wigig::WIGIG;

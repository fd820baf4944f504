//! "BBR-S: A Low-Latency BBR Modification for Fast-Varying Connections".

mod lte_driving;

pub(super) use lte_driving::LteDriving;

//! The controllers, one file each, or a folder.

pub(crate) mod bbr;
pub(crate) mod bbr2;
pub(crate) mod bbr2_sampled;
pub(crate) mod bbr3;
pub(crate) mod bbr3_s;
pub(crate) mod bbr_fair;
pub(crate) mod bbr_s;
pub(crate) mod bbr_sampled;
pub(crate) mod bbr_x;
pub(crate) mod compound;
pub(crate) mod cubic;
pub(crate) mod ebcc;
pub(crate) mod new_reno;
pub(crate) mod vegas;

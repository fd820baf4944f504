//! The parts of the path model that several controllers share.

mod delay_spread;
mod evidence;
mod full_pipe;
mod held_back;
mod horizon;
mod longer_path;
mod min_rtt;
mod round_rtt;

pub(crate) use delay_spread::DelaySpread;
pub(crate) use evidence::Evidence;
pub(crate) use full_pipe::FullPipe;
pub(crate) use held_back::HeldBack;
pub(crate) use horizon::{HOST_DELAY, horizon};
pub(crate) use longer_path::{LongerPath, PathCheck};
pub(crate) use min_rtt::MinRtt;
pub(crate) use round_rtt::RoundRtt;

use crate::units::Bytes;

/// RFC 9002, section 7.2: ten packets, but at most 14,720 bytes or two packets.
pub(crate) fn initial_window(mtu: Bytes) -> Bytes {
    (mtu * 10).min((mtu * 2).max(Bytes(14_720)))
}

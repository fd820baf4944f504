//! BBR-Sampled and BBR2-Sampled, and the study of adaptive video behind a token bucket that led to them.

mod bursts;
mod quality;
mod rules;
mod video;

pub(super) use bursts::BURSTS;
pub(super) use quality::QUALITY;
pub(super) use rules::RULES;

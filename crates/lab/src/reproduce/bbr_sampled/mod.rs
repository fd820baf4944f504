//! BBR-Sampled and BBR2-Sampled, and the study of adaptive video behind a token bucket that led to them.

mod bursts;
mod film;
mod quality;
mod rules;

pub(super) use bursts::BURSTS;
pub(super) use quality::QUALITY;
pub(super) use rules::RULES;

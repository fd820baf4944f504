//! N. Cardwell, Y. Cheng, C. S. Gunn, S. H. Yeganeh, V. Jacobson, "BBR: Congestion-Based Congestion Control", ACM Queue
//! 14(5), 2016.

mod deep_buffer;
mod fair_share;
mod policer;
mod random_loss;
mod rate_steps;
mod startup;

pub(super) use self::deep_buffer::DEEP_BUFFER;
pub(super) use self::fair_share::FAIR_SHARE;
pub(super) use self::policer::TOKEN_BUCKET;
pub(super) use self::random_loss::RANDOM_LOSS;
pub(super) use self::rate_steps::RATE_STEPS;
pub(super) use self::startup::STARTUP;

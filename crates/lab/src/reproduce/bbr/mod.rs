//! N. Cardwell, Y. Cheng, C. S. Gunn, S. H. Yeganeh, V. Jacobson, "BBR: Congestion-Based Congestion Control", ACM Queue
//! 14(5), 2016.

mod deep_buffer;
mod fair_share;
mod policer;
mod random_loss;
mod rate_steps;
mod startup;

pub(super) use self::deep_buffer::DeepBuffer;
pub(super) use self::fair_share::FairShare;
pub(super) use self::policer::TokenBucket;
pub(super) use self::random_loss::RandomLoss;
pub(super) use self::rate_steps::RateSteps;
pub(super) use self::startup::Startup;

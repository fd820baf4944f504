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

use super::summary::Seeds;

/// One figure of the runs that are meant, over their seeds.
fn figures<C, R>(
    results: &[(C, R)],
    meant: impl Fn(&C) -> bool,
    figure: impl Fn(&R) -> f64,
) -> Seeds {
    let runs = results.iter().filter(|(case, _)| meant(case));
    Seeds::of(runs.map(|(_, run)| figure(run)))
}

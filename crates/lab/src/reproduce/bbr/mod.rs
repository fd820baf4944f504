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

use serde::Serialize;

use super::Scale;

/// One flow.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Case {
    controller: &'static str,
    seed: u64,
}

impl Case {
    /// Every controller, with every seed.
    fn each(controllers: &[&'static str], scale: Scale) -> Vec<Self> {
        let controllers = |seed| {
            let controllers = controllers.iter();
            controllers.map(move |&controller| Self { controller, seed })
        };
        scale.seeds().flat_map(controllers).collect()
    }
}

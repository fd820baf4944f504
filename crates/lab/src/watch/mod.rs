//! One connection under observation: what its controller thinks, sampled over virtual time.
//!
//! An [`Experiment`] is a network, an application and a controller. Its [`TimeSeries`] holds the controller's
//! [`Snapshot`](kneepoint_controllers::Snapshot) at regular moments, and what the data link did with every packet.

mod time_series;

use std::sync::Arc;
use std::time::Duration;

use kneepoint_emulator::network::{Duplex, NetworkConfig, Topology};

pub use self::time_series::{Sample, TimeSeries};
use crate::probe::SharedFactory;
use crate::run::RunError;
use crate::trial::{FlowPlan, Trial};
use crate::workload::Phase;

/// One connection from left to right, and how closely to look at it.
#[derive(Clone)]
#[expect(missing_debug_implementations, reason = "a factory has none")]
pub struct Experiment {
    /// The network.
    pub network: NetworkConfig,
    /// Makes the sender's controller.
    pub controller: SharedFactory,
    /// What the sender's application does, phase by phase.
    pub application: Vec<Phase>,
    /// When the observation ends.
    pub duration: Duration,
    /// The time between two samples of the controller's state.
    pub interval: Duration,
}

impl Experiment {
    /// Runs the connection to the end of the observation.
    ///
    /// # Errors
    /// When the network cannot be emulated, or the simulation stops early.
    pub fn run(&self) -> Result<TimeSeries, RunError> {
        let trial = Trial {
            topology: Topology::point_to_point(Duplex {
                forward: self.network.forward.clone(),
                reverse: self.network.reverse.clone(),
            }),
            flows: vec![FlowPlan {
                controller: Arc::clone(&self.controller).into(),
                sender: "left".to_owned(),
                receiver: "right".to_owned(),
                start: Duration::ZERO,
                application: self.application.clone(),
            }],
            duration: self.duration,
            interval: Some(self.interval),
            seed: self.network.seed,
        };
        let mut outcome = trial.run()?;
        let flow = outcome.flows.pop().unwrap_or_default();
        let link = outcome.links.remove("forward").unwrap_or_default();
        Ok(TimeSeries {
            samples: flow.samples,
            records: link.records,
            statistics: link.statistics,
        })
    }
}

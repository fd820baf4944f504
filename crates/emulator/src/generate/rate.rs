//! How the rate varies while there is no outage.

use rand::SeedableRng;
use rand_pcg::Pcg64;

use super::model::{Model, STEP_MILLIS, Swing};
use super::random::{normal, uniform};

/// The rate in each step, in Mb/s; endless.
#[derive(Debug)]
pub(super) struct Rates {
    model: &'static Model,
    generator: Pcg64,
    state: usize,
    /// The logarithm's swings in the present state, in standard deviations.
    swings: Vec<f64>,
}

impl Rates {
    pub(super) fn new(model: &'static Model, seed: u64) -> Self {
        let mut generator = Pcg64::seed_from_u64(seed);
        // Dwell times are equal, so that all states are equally likely at first.
        let state = (model.states.len() as f64 * (1.0 - uniform(&mut generator))) as usize;
        let mut rates = Self {
            model,
            generator,
            state,
            swings: Vec::new(),
        };
        rates.enter(state);
        rates
    }

    /// Enters a state with swings from their stationary distribution.
    fn enter(&mut self, state: usize) {
        self.state = state;
        let swings = self
            .model
            .states
            .get(state)
            .map_or(0, |state| state.swings.len());
        self.swings = (0..swings).map(|_| normal(&mut self.generator)).collect();
    }

    /// Moves on by one step.
    fn step(&mut self) {
        let states = self.model.states.len();
        if states > 1 && uniform(&mut self.generator) <= STEP_MILLIS / self.model.dwell_millis {
            return self.enter((self.state + 1) % states);
        }
        let Some(state) = self.model.states.get(self.state) else {
            return;
        };
        for (swing, Swing { tau_millis, .. }) in self.swings.iter_mut().zip(state.swings) {
            // The exact transition of an Ornstein-Uhlenbeck process.
            let kept = libm::exp(-STEP_MILLIS / tau_millis);
            *swing = *swing * kept + libm::sqrt(1.0 - kept * kept) * normal(&mut self.generator);
        }
    }
}

impl Iterator for Rates {
    type Item = f64;

    fn next(&mut self) -> Option<f64> {
        let state = self.model.states.get(self.state)?;
        let swings = self.swings.iter().zip(state.swings);
        let swing: f64 = swings.map(|(swing, Swing { sd, .. })| swing * sd).sum();
        let white = self.model.white_sd * normal(&mut self.generator);
        let rate = state.median_mbps * libm::exp(swing + white);
        self.step();
        Some(rate.max(self.model.floor_mbps).min(self.model.cap_mbps))
    }
}

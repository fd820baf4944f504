//! The values derived from the model, cached until the model changes: an acknowledgement without news costs no
//! division.

use super::Bbr3;
use super::bounds::UNBOUNDED;
use super::state::State;
use super::window::{min_window, send_quantum};
use crate::filter::BandwidthFilter;
use crate::model::initial_window;
use crate::units::{Bandwidth, Bytes, Gain};
use crate::window::OperatingPoint;

/// The derived values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Output {
    inputs: Inputs,
    /// The state or the MTU has changed since the values were derived.
    pub(super) stale: bool,
    /// `bw`: the lesser of the filter's bandwidth and the short-term bound.
    pub(super) bandwidth: Option<Bandwidth>,
    /// The bandwidth-delay product; the initial window while there is no model.
    pub(super) bdp: Bytes,
    /// `Inflight(1.0)`: the bandwidth-delay product with room for batches.
    pub(super) pipe: Bytes,
    /// The state's multiple of the bandwidth-delay product.
    pub(super) target: Bytes,
    pub(super) pacing_rate: Option<Bandwidth>,
    pub(super) quantum: Bytes,
    /// What hosts' batches need in flight: the quantum, `offload_budget`, and the minimum window.
    pub(super) batches: Bytes,
    /// `InflightWithHeadroom`, without the minimum window.
    pub(super) with_headroom: Bytes,
    /// The window of the model.
    pub(super) allowed: Bytes,
}

/// The values from which the output is derived, beside the state and the MTU.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Inputs {
    bandwidth: Option<Bandwidth>,
    /// In nanoseconds, as in [`MinRtt`](crate::model::MinRtt).
    min_rtt: u64,
    spread: u64,
    inflight_longterm: Bytes,
    restarting: bool,
    full_bw_reached: bool,
}

impl Output {
    /// The output before the first sample.
    pub(super) fn new(window: Bytes, mtu: Bytes) -> Self {
        let quantum = send_quantum(None, mtu);
        Self {
            inputs: Inputs::default(),
            stale: true,
            bandwidth: None,
            bdp: window,
            pipe: window,
            target: window,
            pacing_rate: None,
            quantum,
            batches: quantum.max(min_window(mtu)),
            with_headroom: UNBOUNDED,
            allowed: window,
        }
    }
}

impl<F: BandwidthFilter> Bbr3<F> {
    /// Updates the derived values, if the model has changed.
    pub(super) fn refresh_model(&mut self) {
        let inputs = Inputs {
            // `BoundBWForModel`.
            bandwidth: self
                .filter
                .bandwidth()
                .map(|rate| rate.min(self.bounds.bw_shortterm)),
            min_rtt: self.min_rtt.nanos(),
            spread: self.spread.get(),
            inflight_longterm: self.bounds.inflight_longterm,
            restarting: self.restarting,
            full_bw_reached: self.full_bw_reached,
        };
        if self.output.stale || self.output.inputs != inputs {
            self.output.stale = false;
            self.output.inputs = inputs;
            self.rebuild_model(inputs.bandwidth);
        }
    }

    #[inline(never)]
    fn rebuild_model(&mut self, bandwidth: Option<Bandwidth>) {
        let min_rtt = self.base_rtt();
        self.output.bandwidth = bandwidth;
        self.output.pacing_rate = self.pace(bandwidth);
        self.output.quantum = send_quantum(self.output.pacing_rate, self.mtu);
        let offload_budget = self
            .output
            .pacing_rate
            .unwrap_or_default()
            .bytes_in(self.config.offload_time);
        self.output.batches = self.output.quantum.max(offload_budget).max(self.min_window);
        (self.output.bdp, self.output.target) = match (bandwidth, min_rtt) {
            (Some(bandwidth), Some(min_rtt)) => {
                let bdp = bandwidth.bytes_in_nanos(min_rtt);
                (bdp, self.state.window_gain(&self.config) * bdp)
            }
            _ => {
                let initial = initial_window(self.mtu);
                (initial, initial)
            }
        };
        self.output.pipe = self.quantized(self.output.bdp);
        self.output.with_headroom = self.bounds.with_headroom(self.config.headroom, self.mtu);
        let point = match (bandwidth, min_rtt) {
            (Some(bandwidth), Some(min_rtt)) if self.full_bw_reached => Some(OperatingPoint {
                bandwidth,
                rate: self.output.pacing_rate.unwrap_or(bandwidth),
                min_rtt,
            }),
            _ => None,
        };
        self.calculator
            .set_model(point, self.output.pacing_rate, self.output.quantum);
    }

    /// Computes the answer; all but the window is cached.
    pub(super) fn refresh_control(&mut self) {
        self.output.allowed = match self.state {
            // Drain ends when the flight fits the pipe. Without pacing only the window can reduce the flight.
            State::Drain { .. } if self.has_spread() => self.window.min(self.output.pipe),
            State::Drain { .. } => self.window.min(self.drained().max(self.min_window)),
            _ => self.window,
        };
        self.calculator.update(self.output.allowed);
    }

    /// After an idle period ProbeBW paces at the bandwidth, in every phase (draft-ietf-ccwg-bbr, section "Actions when
    /// Restarting from Idle").
    fn pacing_gain(&self) -> Gain {
        match self.state {
            state if state.is_probe_bw() && self.restarting => Gain::UNIT,
            state => state.pacing_gain(&self.config),
        }
    }

    /// `SetPacingRate` (section "Pacing Rate: C.pacing_rate"). Until the pipe is full the rate only rises, from the
    /// initial window over the first RTT. Before the first RTT there is no rate: with the draft's assumption of 1 ms it
    /// would be a burst.
    fn pace(&self, bandwidth: Option<Bandwidth>) -> Option<Bandwidth> {
        let modelled =
            bandwidth.map(|rate| self.pacing_gain() * (self.config.pacing_margin * rate));
        if self.full_bw_reached {
            return modelled;
        }
        let initial = || {
            let rate = Bandwidth::from_delivery(initial_window(self.mtu), self.min_rtt.get()?)?;
            Some(self.config.startup_pacing_gain * rate)
        };
        self.output.pacing_rate.or_else(initial).max(modelled)
    }
}

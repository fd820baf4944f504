//! The model: values derived from the filters and the state, cached until one of them changes.

use core::time::Duration;

use super::Bbr;
use super::config::BbrCoreConfig;
use super::policer::Policer;
use super::state::{STARTUP_GAIN, State};
use crate::filter::BandwidthFilter;
use crate::model::initial_window;
use crate::units::{Bandwidth, Bytes, Gain, saturating_nanos};
use crate::window::OperatingPoint;

/// Values derived from the filters and the state, cached until one of them changes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Model {
    pub(super) inputs: Inputs,
    /// Bandwidth x min RTT, once both are known.
    pub(super) bdp: Option<Bytes>,
    pub(super) pacing_rate: Option<Bandwidth>,
    pub(super) send_quantum: Bytes,
    /// The target of the window's growth.
    pub(super) target: Bytes,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Inputs {
    pub(super) bandwidth: Option<Bandwidth>,
    pub(super) min_rtt: Option<Duration>,
    pub(super) gain: Gain,
    pub(super) full_bw_reached: bool,
    pub(super) mtu: Bytes,
}

impl Model {
    pub(super) fn new(inputs: Inputs, config: &BbrCoreConfig) -> Self {
        let Inputs {
            bandwidth,
            min_rtt,
            gain,
            full_bw_reached,
            mtu,
        } = inputs;
        let pacing_rate = match (bandwidth, min_rtt) {
            (Some(bandwidth), _) if full_bw_reached => {
                Some(config.pacing_margin * (gain * bandwidth))
            }
            // Before the first rate sample: the initial window over the first RTT.
            (bandwidth, Some(min_rtt)) => Bandwidth::from_delivery(initial_window(mtu), min_rtt)
                .map(|initial| gain * bandwidth.unwrap_or_default().max(initial)),
            _ => None,
        };
        let mut model = Self {
            inputs,
            bdp: bandwidth
                .zip(min_rtt)
                .map(|(bandwidth, min_rtt)| bandwidth.bytes_in(min_rtt)),
            pacing_rate,
            send_quantum: send_quantum(pacing_rate, mtu),
            target: Bytes::ZERO,
        };
        model.target = model.bdp(if full_bw_reached {
            config.window_gain
        } else {
            STARTUP_GAIN
        });
        model
    }

    /// `gain` times the bandwidth-delay product, or the initial window while that is not known.
    pub(super) fn bdp(&self, gain: Gain) -> Bytes {
        let mtu = self.inputs.mtu;
        match self.bdp {
            Some(bdp) => (gain * bdp + self.send_quantum * QUANTA).max(min_window(mtu)),
            None => initial_window(mtu),
        }
    }
}

impl<F: BandwidthFilter> Bbr<F> {
    /// Updates the model from the filters and the state.
    pub(super) fn update_model(&mut self) {
        if self.model_stale || self.model.inputs.bandwidth != self.bandwidth() {
            self.rebuild_model();
        }
    }

    pub(super) fn bandwidth(&self) -> Option<Bandwidth> {
        self.policed_rate().or_else(|| self.filter.bandwidth())
    }

    fn policed_rate(&self) -> Option<Bandwidth> {
        self.policer.as_ref().and_then(Policer::rate)
    }

    #[inline(never)]
    pub(super) fn rebuild_model(&mut self) {
        self.model_stale = false;
        let inputs = Inputs {
            bandwidth: self.bandwidth(),
            min_rtt: self.min_rtt.get(),
            gain: match self.state {
                // A policer drops everything above its rate.
                State::ProbeBandwidth(_) if self.policed_rate().is_some() => Gain::UNIT,
                state => state.pacing_gain(),
            },
            full_bw_reached: self.full_bw_reached,
            mtu: self.mtu,
        };
        self.model = Model::new(inputs, &self.config);
        self.update_point();
    }

    /// Tells the operating point to the window calculator.
    pub(super) fn update_point(&mut self) {
        let Inputs {
            bandwidth, min_rtt, ..
        } = self.model.inputs;
        let point = match (bandwidth, min_rtt, self.model.pacing_rate) {
            (Some(bandwidth), Some(min_rtt), Some(rate)) if self.full_bw_reached => {
                Some(OperatingPoint {
                    bandwidth,
                    rate,
                    min_rtt: saturating_nanos(min_rtt),
                })
            }
            _ => None,
        };
        let (rate, quantum) = (self.model.pacing_rate, self.model.send_quantum);
        self.calculator.set_model(point, rate, quantum);
    }

    pub(super) fn bdp(&self, gain: Gain) -> Bytes {
        self.model.bdp(gain)
    }
}

pub(super) fn min_window(mtu: Bytes) -> Bytes {
    mtu * MIN_WINDOW_PACKETS
}

/// One packet on slow paths, two on faster ones, a millisecond's worth on fast ones
/// (draft-cardwell-iccrg-bbr-congestion-control-00, section 4.2.2).
fn send_quantum(rate: Option<Bandwidth>, mtu: Bytes) -> Bytes {
    let rate = rate.unwrap_or_default();
    if rate < QUANTUM_ONE_PACKET_BELOW {
        mtu
    } else if rate < QUANTUM_TWO_PACKETS_BELOW {
        mtu * 2
    } else {
        rate.bytes_in(Duration::from_millis(1))
            .min(QUANTUM_MAX)
            .max(mtu * 2)
    }
}

/// Send quanta in flight beside the BDP, for the batches of sender and receiver
/// (draft-cardwell-iccrg-bbr-congestion-control-00, section 4.2.3.2).
const QUANTA: u64 = 3;

/// The smallest window, in packets (BBR paper, section "Steady-state behavior").
const MIN_WINDOW_PACKETS: u64 = 4;

/// 1.2 Mb/s and 24 Mb/s in bytes/s, and 64 KB (draft-cardwell-iccrg-bbr-congestion-control-00, section 4.2.2).
const QUANTUM_ONE_PACKET_BELOW: Bandwidth = Bandwidth::from_bytes_per_second(150_000);
const QUANTUM_TWO_PACKETS_BELOW: Bandwidth = Bandwidth::from_bytes_per_second(3_000_000);
const QUANTUM_MAX: Bytes = Bytes(65_536);

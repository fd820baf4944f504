//! The network of several tests.

use kneepoint::emulator::link::{Limit, LinkConfig, Queue, Shaper};
use kneepoint::emulator::network::{Network, NetworkConfig};
use kneepoint::emulator::time::Nanos;
use kneepoint::traces;

/// A fast uplink, and the LTE-like trace down.
pub(crate) fn lte() -> Network {
    let up = LinkConfig {
        delay: Nanos::from_millis(20).into(),
        ..LinkConfig::constant(12_500_000)
    };
    let down = LinkConfig {
        shaper: Shaper::Trace(traces::lte_driving_fast()),
        queue: Queue::DropTail(Limit::bytes(3_000_000)),
        ..up.clone()
    };
    let config = NetworkConfig {
        forward: up,
        reverse: down,
        seed: 1,
    };
    Network::new(config).expect("the trace is valid")
}

//! Links, networks, and a runtime for unmodified quinn (and, with the feature `noq`, noq) in virtual time.
//!
//! What is not for tests of an application is in `kneepoint-emulator` only: the link and the packets of one's own event loop, the
//! real-time relay, packet logs, the generator of traces and what there is to cut and measure them.

/// One direction of a path: a shaper, a queue, a delay, and what goes wrong.
pub mod link {
    pub use kneepoint_emulator::link::{
        Aggregation, CoDel, ConfigError, Delay, DelayStep, DropCause, FqCoDel, Impairments,
        Interval, Jitter, Limit, LinkConfig, Loss, MAHIMAHI_OVERHEAD, PacketLog, PacketOutcome,
        Pie, Policer, Queue, RateStep, Record, Red, Reordering, Shaper, Statistics, StepMark,
        UDP_IPV4_OVERHEAD, UDP_IPV6_OVERHEAD,
    };
}

/// Hosts on two sides, and the links between them.
pub mod network {
    pub use kneepoint_emulator::network::{
        CrossTraffic, Direction, Duplex, Network, NetworkConfig, NetworkError, Pattern, Rebinding,
        Side, Topology,
    };
}

/// End hosts: wake-ups, batches, a processor that takes its time.
pub mod host {
    pub use kneepoint_emulator::host::{
        Distribution, HostConfig, HostError, OtherWork, Processor, ReceiveStatistics, Receiving,
        Sending,
    };
}

/// Points in virtual time.
pub mod time {
    pub use kneepoint_emulator::time::Nanos;
}

/// Recorded links.
pub mod trace {
    pub use kneepoint_emulator::trace::{Trace, TraceError};
}

/// The virtual clock, the executor, and sockets on the network.
pub mod sim {
    #[cfg(feature = "noq")]
    pub use kneepoint_emulator::sim::noq;
    pub use kneepoint_emulator::sim::{
        Builder, Elapsed, Handle, HostAddress, JoinHandle, Net, Runtime, SimError, Simulation,
        Sleep, Socket, Testbed, endpoint_config, tls,
    };
}

//! From what was observed during a run to the numbers of a table and the points of a plot.

mod log;
mod messages;
mod row;
pub mod stats;
mod summary;
mod timeline;

pub use row::{FlowRow, Row};
pub use summary::{Estimate, Summary};
pub use timeline::{Bin, Spread, Timeline};

#[cfg(test)]
mod tests {
    use kneepoint_emulator::link::{Limit, Link, LinkConfig, Queue};
    use kneepoint_emulator::packet::Packet;
    use kneepoint_emulator::time::Nanos;

    use crate::trial::LinkOutcome;

    /// What a link of so many bytes per second and packets of queue did with packets offered at so many milliseconds, of so
    /// many bytes on the wire.
    pub(super) fn served(rate: u64, queue: u64, offers: &[(u64, usize)]) -> LinkOutcome {
        let config = LinkConfig {
            queue: Queue::DropTail(Limit::packets(queue)),
            overhead: 0,
            log: true,
            ..LinkConfig::constant(rate)
        };
        let mut link = Link::new(config, 1).unwrap();
        for &(millis, bytes) in offers {
            let packet = Packet {
                source: "10.0.0.1:1".parse().unwrap(),
                destination: "10.0.0.2:2".parse().unwrap(),
                ecn: None,
                payload: vec![0; bytes],
            };
            _ = link.offer(Nanos::from_millis(millis), packet);
        }
        link.poll(Nanos::MAX, |_, _| ());
        LinkOutcome::new(&link)
    }
}

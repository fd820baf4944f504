//! The plan of measurements.

use std::time::Duration;

use super::Path;

/// The plan of measurements: every controller over every path, several times.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The controllers, by name: see [`candidate`](crate::controllers::candidate).
    pub controllers: Vec<String>,
    /// Bytes of one transfer, positive.
    pub size: u64,
    /// Transfers of each controller over each path, positive.
    pub runs: u32,
    /// Where they go.
    pub paths: Vec<Path>,
    /// After this time a transfer ends unfinished; `None` for [`Plan::time_limit`]'s rule.
    pub timeout: Option<Duration>,
    /// Where the receiver runs.
    pub processes: Processes,
    /// The requested socket buffers of each direction, in bytes; `None` for the system's default.
    pub socket_buffer: Option<usize>,
    /// The source of the controllers' and the relay's randomness.
    pub seed: u64,
}

/// Where the receiver runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Processes {
    /// In the sender's process, on a thread of its own.
    One,
    /// In a process of its own. The program is this one, which hands what it is called with to [`receive`](super::receive).
    Two,
}

impl Plan {
    /// When a transfer over this path ends unfinished: what was asked for, or else 10 s and four times what the size takes
    /// at the path's rate or 500 Mb/s, whichever is less.
    pub fn time_limit(&self, path: &Path) -> Duration {
        self.timeout.unwrap_or_else(|| {
            let rate = path
                .rate
                .map_or(SLOWEST, |rate| rate.bits_per_second().min(SLOWEST));
            let seconds = self.size.saturating_mul(8).saturating_mul(4) / rate;
            Duration::from_secs(10_u64.saturating_add(seconds))
        })
    }

    /// The order of the controllers in a run, by their places in [`Plan::controllers`]: each run begins with another one, so
    /// that none is always the first after a pause.
    pub(super) fn order(&self, run: u32) -> impl Iterator<Item = usize> + use<> {
        let count = self.controllers.len();
        (0..count).map(move |place| (place + run as usize) % count)
    }

    /// How many transfers there are, those before the measurement included.
    pub fn transfers(&self) -> u64 {
        let runs = u64::from(self.runs) * self.controllers.len() as u64;
        (runs + 1) * self.paths.len() as u64
    }
}

/// The minimum expected rate over a path without a limit, in bits per second.
const SLOWEST: u64 = 500_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::QueueSize;

    fn plan(controllers: usize) -> Plan {
        Plan {
            controllers: vec!["bbr".to_owned(); controllers],
            size: 1_000_000_000,
            runs: 3,
            paths: vec![path(None)],
            timeout: None,
            processes: Processes::One,
            socket_buffer: None,
            seed: 1,
        }
    }

    fn path(rate: Option<&str>) -> Path {
        Path {
            rtt: Duration::ZERO,
            rate: rate.map(|rate| rate.parse().unwrap()),
            queue: QueueSize::Infinite,
            busy: false,
        }
    }

    #[test]
    fn every_run_has_all_controllers_and_begins_with_another() {
        let order = |run| plan(3).order(run).collect::<Vec<_>>();
        assert_eq!(order(0), [0, 1, 2]);
        assert_eq!(order(1), [1, 2, 0]);
        assert_eq!(order(5), [2, 0, 1]);
        assert_eq!(plan(3).transfers(), 10);
        assert_eq!(plan(0).order(1).count(), 0);
    }

    #[test]
    fn the_time_limit_leaves_room() {
        let limit = |rate| plan(1).time_limit(&path(rate)).as_secs();
        assert_eq!(limit(None), 10 + 64);
        assert_eq!(limit(Some("10Gbps")), 10 + 64);
        assert_eq!(limit(Some("10Mbps")), 10 + 3200);
        let asked = Plan {
            timeout: Some(Duration::from_secs(3)),
            ..plan(1)
        };
        assert_eq!(asked.time_limit(&path(None)).as_secs(), 3);
    }
}

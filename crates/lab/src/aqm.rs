//! Active queue management by name.

use std::fmt;
use std::str::FromStr;

use kneepoint_emulator::link::{CoDel, FqCoDel, Limit, Pie, Queue, Red};
use serde::Serialize;
use thiserror::Error;

use crate::units::QueueSize;

/// A queue that manages itself, with the values of its RFC or its authors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Aqm {
    /// RFC 8289.
    CoDel,
    /// RFC 8290.
    FqCoDel,
    /// RFC 8033.
    Pie,
    /// Floyd and Jacobson, 1993, as [`Red::within`] has it.
    Red,
}

impl Aqm {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::CoDel, Self::FqCoDel, Self::Pie, Self::Red];

    /// The name on a command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::CoDel => "codel",
            Self::FqCoDel => "fq-codel",
            Self::Pie => "pie",
            Self::Red => "red",
        }
    }

    /// The queue of at most this size, which marks ECN-capable packets or drops them.
    ///
    /// # Errors
    /// RED has thresholds at parts of its size, so it needs one.
    pub fn queue(self, size: QueueSize, ecn: bool) -> Result<Queue, Endless> {
        let limit = match size {
            QueueSize::Infinite => None,
            QueueSize::Bytes(bytes) => Some(Limit::bytes(bytes)),
            QueueSize::Packets(packets) => Some(Limit::packets(packets)),
        };
        Ok(match self {
            Self::CoDel => Queue::CoDel(CoDel {
                limit,
                ecn,
                ..CoDel::default()
            }),
            Self::FqCoDel => {
                let base = FqCoDel::default();
                Queue::FqCoDel(FqCoDel {
                    codel: CoDel {
                        limit,
                        ecn,
                        ..base.codel
                    },
                    ..base
                })
            }
            Self::Pie => Queue::Pie(Pie {
                limit,
                ecn,
                ..Pie::default()
            }),
            Self::Red => {
                let bytes = match size {
                    QueueSize::Infinite => return Err(Endless),
                    QueueSize::Bytes(bytes) => bytes,
                    QueueSize::Packets(packets) => packets.saturating_mul(PACKET_BYTES),
                };
                Queue::Red(Red {
                    limit,
                    ecn,
                    ..Red::within(bytes)
                })
            }
        })
    }
}

/// RED was to have a queue without a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("red needs a limit of the queue, not inf")]
pub struct Endless;

impl fmt::Display for Aqm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that belongs to no management of a queue.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("unknown queue management '{0}': expected codel, fq-codel, pie or red")]
pub struct UnknownAqm(String);

impl FromStr for Aqm {
    type Err = UnknownAqm;

    fn from_str(text: &str) -> Result<Self, UnknownAqm> {
        let aqm = Self::ALL.into_iter().find(|aqm| aqm.name() == text);
        aqm.ok_or_else(|| UnknownAqm(text.to_owned()))
    }
}

/// About what a full QUIC packet takes on the wire.
const PACKET_BYTES: u64 = 1500;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_a_valid_queue() {
        for aqm in Aqm::ALL {
            assert_eq!(aqm.to_string().parse(), Ok(aqm));
            for size in [QueueSize::Bytes(60_000), QueueSize::Packets(40)] {
                let queue = aqm.queue(size, true).unwrap();
                let link = kneepoint_emulator::link::LinkConfig {
                    queue,
                    ..kneepoint_emulator::link::LinkConfig::constant(1)
                };
                assert_eq!(link.validate(), Ok(()));
            }
        }
        assert_eq!(Aqm::Red.queue(QueueSize::Infinite, false), Err(Endless));
        let thresholds = |size| match Aqm::Red.queue(size, false) {
            Ok(Queue::Red(red)) => (red.min, red.max),
            other => panic!("{other:?}"),
        };
        assert_eq!(thresholds(QueueSize::Packets(40)), (5_000, 15_000));
        assert!("cake".parse::<Aqm>().is_err());
    }
}

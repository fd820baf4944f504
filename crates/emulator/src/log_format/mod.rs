//! Mahimahi's log format: what happened on a link, one event on each line.
//!
//! Lines beginning with `#` are comments, of which `# base timestamp: N` says which millisecond counts as zero. The
//! others are events: `t + bytes` (a packet arrives), `t d packets bytes` (packets are dropped), `t # bytes` (a delivery
//! opportunity) and `t - bytes delay` (a packet departs after so many milliseconds on the link).
//!
//! ```
//! use kneepoint_emulator::log_format::Log;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let log = Log::parse("# base timestamp: 100\n101 + 1504\n103 # 1504\n103 - 1504 2\n", "example")?;
//! let statistics = log.statistics();
//! assert_eq!(statistics.utilization(), Some(1.0));
//! assert_eq!(statistics.queue_delay_p95_ms, Some(2));
//! # Ok(())
//! # }
//! ```

mod error;
mod read;
mod statistics;

pub use error::LogError;
pub use read::{Event, EventKind, Log};
pub use statistics::LogStatistics;

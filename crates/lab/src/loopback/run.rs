//! What one transfer showed.

use std::fmt;

use serde::{Serialize, Serializer};

use super::sides::{Received, Sent};
use crate::metrics::stats;

/// The results of a transfer. A statistic without samples, and a processor time that the system does not provide, is
/// `None`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Run {
    /// How it ended.
    pub end: End,
    /// Bytes that the receiving application has read.
    pub received_bytes: u64,
    /// From the sender's first write until the receiver had everything, or until the end.
    pub seconds: f64,
    /// The receiving application's rate in that time, in Mb/s.
    pub goodput_mbps: f64,
    /// Processor seconds of the sender's thread.
    pub sender_cpu_s: Option<f64>,
    /// Processor seconds of the receiver's thread.
    pub receiver_cpu_s: Option<f64>,
    /// Round-trip times of acknowledged packets, as the sender's controller is told them: their mean.
    pub rtt_mean_ms: Option<f64>,
    /// Their median.
    pub rtt_p50_ms: Option<f64>,
    /// Their 95th percentile.
    pub rtt_p95_ms: Option<f64>,
    /// The congestion window, looked at every 20 ms: its median.
    pub window_median_bytes: Option<u64>,
    /// Its largest value.
    pub window_max_bytes: Option<u64>,
    /// Bytes declared lost, of those declared lost or acknowledged.
    pub loss_rate: Option<f64>,
    /// The share of a short time just before for which two computing threads had a processor.
    pub processor_share: Option<f64>,
    /// How late the relay was with the data's packets: the 99th percentile. `None` without a relay.
    pub relay_late_p99_us: Option<f64>,
}

/// How a transfer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The receiver has everything.
    Finished,
    /// Its time was up.
    TimedOut,
    /// The connection was lost, for this reason.
    Closed(String),
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Finished => f.write_str("finished"),
            Self::TimedOut => f.write_str("timed out"),
            Self::Closed(reason) => write!(f, "connection closed: {reason}"),
        }
    }
}

impl Serialize for End {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Run {
    /// From what the two sides saw.
    pub(super) fn new(sent: Sent, received: Received) -> Self {
        let Sent {
            end,
            passed,
            recording,
        } = sent;
        let mut rtts: Vec<u64> = recording.rtts.iter().map(|sample| sample.rtt).collect();
        rtts.sort_unstable();
        let mut windows: Vec<u64> = recording.windows.iter().map(|&(_, bytes)| bytes).collect();
        windows.sort_unstable();
        let seconds = passed.wall.as_secs_f64();
        let handled = recording.acked_bytes + recording.lost_bytes;
        let rtt = |p| stats::percentile(&rtts, p).map(|nanos| nanos as f64 / 1e6);
        Self {
            end,
            received_bytes: received.bytes,
            seconds,
            goodput_mbps: if seconds > 0.0 {
                received.bytes as f64 * 8e-6 / seconds
            } else {
                0.0
            },
            sender_cpu_s: passed.processor.map(|time| time.as_secs_f64()),
            receiver_cpu_s: received.processor_seconds,
            rtt_mean_ms: stats::mean(&rtts).map(|nanos| nanos / 1e6),
            rtt_p50_ms: rtt(0.5),
            rtt_p95_ms: rtt(0.95),
            window_median_bytes: stats::percentile(&windows, 0.5),
            window_max_bytes: windows.last().copied(),
            loss_rate: (handled > 0).then(|| recording.lost_bytes as f64 / handled as f64),
            processor_share: None,
            relay_late_p99_us: None,
        }
    }

    /// Processor seconds of the sender for each GB that arrived.
    pub fn sender_cpu_s_per_gb(&self) -> Option<f64> {
        self.per_gb(self.sender_cpu_s)
    }

    /// Processor seconds of the receiver for each GB that arrived.
    pub fn receiver_cpu_s_per_gb(&self) -> Option<f64> {
        self.per_gb(self.receiver_cpu_s)
    }

    fn per_gb(&self, seconds: Option<f64>) -> Option<f64> {
        seconds
            .filter(|_| self.received_bytes > 0)
            .map(|seconds| seconds * 1e9 / self.received_bytes as f64)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::Duration;

    use super::*;
    use crate::probe::{Recording, RttSample};
    use crate::real_clock::Passed;

    /// 4 MB in two seconds, with four round-trip times and three windows.
    pub(crate) fn run(end: End, bytes: u64) -> Run {
        let rtt = |millis: u64| RttSample {
            at: 0,
            rtt: millis * 1_000_000,
        };
        let window = |millis, bytes| (Duration::from_millis(millis), bytes);
        let sent = Sent {
            end,
            passed: Passed {
                wall: Duration::from_secs(2),
                processor: Some(Duration::from_millis(8)),
            },
            recording: Recording {
                rtts: [4, 1, 2, 9].map(rtt).to_vec(),
                acked_bytes: 3_000,
                lost_bytes: 1_000,
                windows: vec![window(0, 10), window(20, 90), window(40, 50)],
            },
        };
        let received = Received {
            bytes,
            processor_seconds: Some(0.012),
        };
        Run::new(sent, received)
    }

    #[test]
    fn statistics_of_a_run() {
        let run = run(End::Finished, 4_000_000);
        assert_eq!(run.goodput_mbps, 16.0);
        assert_eq!(run.rtt_mean_ms, Some(4.0));
        assert_eq!((run.rtt_p50_ms, run.rtt_p95_ms), (Some(2.0), Some(9.0)));
        assert_eq!(run.window_median_bytes, Some(50));
        assert_eq!(run.window_max_bytes, Some(90));
        assert_eq!(run.loss_rate, Some(0.25));
        assert_eq!(run.sender_cpu_s_per_gb(), Some(2.0));
        assert_eq!(run.receiver_cpu_s_per_gb(), Some(3.0));
    }

    #[test]
    fn nothing_received_has_no_cost_per_gigabyte() {
        let run = run(End::TimedOut, 0);
        assert_eq!(run.goodput_mbps, 0.0);
        assert_eq!(run.sender_cpu_s_per_gb(), None);
        assert_eq!(run.receiver_cpu_s_per_gb(), None);
    }
}

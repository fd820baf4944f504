//! The time that a window covers: min RTT and the hosts' delay.

use core::time::Duration;

use crate::units::saturating_nanos;

/// Min RTT and the hosts' delay, in nanoseconds.
///
/// Hosts send and receive in batches, wake up late, and timestamp datagrams when they read them. On a short path one
/// packet may seem to return within a microsecond, and the next one after a millisecond. A window of rate x min RTT
/// would then be less than a packet. BBR allows for a millisecond: its send quantum, of which
/// draft-cardwell-iccrg-bbr-congestion-control-00, section 4.2.3.2, keeps three in flight beside the BDP.
pub(crate) fn horizon(min_rtt: u64) -> u64 {
    min_rtt.saturating_add(saturating_nanos(HOST_DELAY))
}

/// The hosts' delay in a round trip (draft-cardwell-iccrg-bbr-congestion-control-00, section 4.2.2: the time of a send
/// quantum).
pub(crate) const HOST_DELAY: Duration = Duration::from_millis(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_covers_the_hosts_on_short_and_adds_little_on_long_paths() {
        assert_eq!(horizon(1000), 1_001_000);
        assert_eq!(horizon(40_000_000), 41_000_000);
        assert_eq!(horizon(u64::MAX), u64::MAX);
    }
}

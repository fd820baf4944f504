//! The time that a window covers: min RTT and the hosts' delay.

use core::time::Duration;

use crate::units::{Bandwidth, Bytes};

/// Min RTT and the hosts' delay.
///
/// Hosts send and receive in batches, wake up late, and timestamp datagrams when they read them. On a short path one
/// packet may seem to return within a microsecond, and the next one after a millisecond. A window of rate x min RTT
/// would then be less than a packet. BBR allows for a millisecond: its send quantum, of which
/// draft-cardwell-iccrg-bbr-congestion-control-00, section 4.2.3.2, keeps three in flight beside the BDP.
pub(crate) const fn horizon(min_rtt: Duration) -> Duration {
    min_rtt.saturating_add(HOST_DELAY)
}

/// The flight on a path without queues at `rate`, the hosts' delay included.
///
/// The hosts' part is at most three of the largest send quanta: on fast hosts a millisecond exceeds their socket
/// buffers, and an overflow there loses the end of a flight, which only a probe timeout recovers.
pub(crate) fn held(rate: Bandwidth, min_rtt: Duration) -> Bytes {
    let max = rate.bytes_in(min_rtt) + MAX_IN_HOSTS;
    rate.bytes_in(horizon(min_rtt)).min(max)
}

/// Three send quanta of 64 KB (draft-cardwell-iccrg-bbr-congestion-control-00, sections 4.2.2 and 4.2.3.2).
const MAX_IN_HOSTS: Bytes = Bytes(3 * 65_536);

/// The hosts' delay in a round trip (draft-cardwell-iccrg-bbr-congestion-control-00, section 4.2.2: the time of a send
/// quantum).
pub(crate) const HOST_DELAY: Duration = Duration::from_millis(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_hold_no_more_than_three_quanta() {
        let rtt = Duration::from_micros(100);
        let rate = Bandwidth::from_bytes_per_second;
        assert_eq!(held(rate(125_000_000), rtt), Bytes(137_500));
        assert_eq!(held(rate(500_000_000), rtt), Bytes(50_000 + 196_608));
    }

    #[test]
    fn it_covers_the_hosts_on_short_and_adds_little_on_long_paths() {
        let micros = Duration::from_micros;
        assert_eq!(horizon(micros(1)), micros(1001));
        assert_eq!(horizon(micros(40_000)), micros(41_000));
        assert_eq!(horizon(Duration::MAX), Duration::MAX);
    }
}

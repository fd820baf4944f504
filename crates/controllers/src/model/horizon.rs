//! The time that a window has to cover: the path's, and the hosts'.

use core::time::Duration;

use crate::units::{Bandwidth, Bytes};

/// The round trip without queues, and what hosts add to it.
///
/// Hosts send and receive in batches, wake up late, and stamp datagrams when they read them: over a short path a packet may seem to
/// come back within a microsecond, and the next one within a millisecond. A window of rate x min RTT then holds no packet at
/// all. BBR allows for a millisecond: its send quantum, of which draft-cardwell-iccrg-bbr-congestion-control-00, section 4.2.3.2,
/// keeps three in flight beside the BDP.
#[inline]
pub(crate) const fn horizon(min_rtt: Duration) -> Duration {
    min_rtt.saturating_add(HOST_DELAY)
}

/// What a path without queues holds at `rate`, and the hosts beside it.
///
/// Of the hosts' millisecond no more than three of the largest send quanta: on fast hosts it is more than the buffers of their sockets,
/// and what overflows these is the end of a flight, which only a probe timeout recovers.
#[inline]
pub(crate) fn held(rate: Bandwidth, min_rtt: Duration) -> Bytes {
    let max = rate.bytes_in(min_rtt) + MAX_IN_HOSTS;
    rate.bytes_in(horizon(min_rtt)).min(max)
}

/// Three send quanta of 64 KB (draft-cardwell-iccrg-bbr-congestion-control-00, sections 4.2.2 and 4.2.3.2).
const MAX_IN_HOSTS: Bytes = Bytes(3 * 65_536);

/// What hosts add to a round trip (draft-cardwell-iccrg-bbr-congestion-control-00, section 4.2.2: the time of a send quantum).
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

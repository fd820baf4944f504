//! The sender that knows the link: the bound that no controller can pass.

use std::time::Duration;

use kneepoint_emulator::link::ConfigError;
use kneepoint_emulator::time::Nanos;
use kneepoint_emulator::trace::Trace;

use super::{just_before, link, outcome, packet};
use crate::trial::Outcome;

/// What it achieves over a link that follows `trace`, if the empty path's round-trip time is `rtt`.
///
/// It lets every packet arrive just when the link can carry it. So it fills the link without a queue: its round-trip time
/// is the empty path's, and nothing is dropped. What a controller falls short of it is the price of not knowing the future.
/// It has no transport: its goodput counts all of a datagram's payload.
///
/// # Errors
/// The link cannot be emulated.
pub fn omniscient(
    trace: &Trace,
    rtt: Duration,
    duration: Duration,
) -> Result<Outcome, ConfigError> {
    let mut link = link(trace)?;
    let end = Nanos::from(duration);
    for time in trace.opportunities().take_while(|time| *time <= end) {
        let arrival = just_before(time);
        link.poll(arrival, |_, _| {});
        link.offer(arrival, packet());
    }
    link.poll(end, |_, _| {});
    Ok(outcome(&link, rtt, duration))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_fills_the_link_without_a_queue() {
        let trace = Trace::from_millis(vec![5, 5, 9, 100], "gaps").unwrap();
        let (rtt, duration) = (Duration::from_millis(40), Duration::from_millis(300));
        let outcome = omniscient(&trace, rtt, duration).unwrap();
        let link = &outcome.links["forward"];
        let carried = link.delivered(Duration::ZERO, duration + Duration::from_nanos(1));
        assert_eq!(carried, trace.capacity(Nanos::ZERO, duration.into()));
        assert_eq!(link.statistics.all_dropped().packets, 0);
        let rtts = outcome.rtts(Duration::ZERO, 2 * duration);
        assert_eq!(rtts.len(), 12);
        assert!(rtts.iter().all(|&rtt| rtt == 40_000_001), "{rtts:?}");
    }
}

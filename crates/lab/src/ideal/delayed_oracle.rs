//! The sender that is told what the link carries, but not what it will carry.

use std::time::Duration;

use kneepoint_emulator::link::ConfigError;
use kneepoint_emulator::time::Nanos;
use kneepoint_emulator::trace::{OPPORTUNITY_BYTES, Trace};

use super::{just_before, link, outcome, packet};
use crate::trial::Outcome;

/// What it achieves over a link that follows `trace`, if the empty path's round-trip time is `rtt`.
///
/// The link is in the middle of the path. Half a round trip late the sender hears how much the link could have carried, also while it
/// was idle, which no controller can see. Less than a millisecond of round trip counts as one. It keeps in flight what the link could carry in the last round trip it knows of, and
/// `queue_target` (a share from 0 to 10, or the nearest of them) of what it can carry in a round trip on the average of the last second, so that there is
/// something to send when the rate rises. What such a sender cannot have, measuring the link better does not give.
/// It has no transport: its goodput counts all of a datagram's payload.
///
/// # Errors
/// The link cannot be emulated.
pub fn delayed_oracle(
    trace: &Trace,
    rtt: Duration,
    duration: Duration,
    queue_target: f64,
) -> Result<Outcome, ConfigError> {
    let mut link = link(trace)?;
    let end = Nanos::from(duration);
    let rtt_millis = Nanos::from(rtt).0.div_ceil(MILLI).max(1);
    let queue_target = queue_target.clamp(0.0, MAX_QUEUE_TARGET);
    // Of all packets: those that have arrived at the link, and those that had left it by each millisecond.
    let mut arrived = 0;
    let mut left: Vec<u64> = Vec::new();
    for now in (0..=end.0).step_by(MILLI as usize).map(Nanos) {
        let arrival = just_before(now);
        let mut delivered = left.last().copied().unwrap_or(0);
        link.poll(arrival, |_, _| delivered += 1);
        // Packets that arrive now were sent half a round trip ago, and the sender's knowledge was another half round
        // trip old.
        let known = left.len().checked_sub(rtt_millis as usize);
        let acknowledged = known.map_or(0, |millis| left[millis]);
        let known = Nanos(known.map_or(0, |millis| millis as u64) * MILLI);
        let window = window(trace, known, Nanos(rtt_millis * MILLI), queue_target);
        while arrived - acknowledged < window {
            link.offer(arrival, packet());
            arrived += 1;
        }
        link.poll(now, |_, _| delivered += 1);
        left.push(delivered);
    }
    Ok(outcome(&link, rtt, duration))
}

/// In packets, with what is known at `now`.
fn window(trace: &Trace, now: Nanos, rtt: Nanos, queue_target: f64) -> u64 {
    if now < rtt {
        return INITIAL_WINDOW;
    }
    // The mean of the last span, per round trip.
    let carried = |span: Nanos| {
        let from = Nanos(now.0.saturating_sub(span.0));
        let packets = trace.capacity(from, now) / OPPORTUNITY_BYTES;
        packets as f64 * rtt.0 as f64 / (now - from).0.max(1) as f64
    };
    let window = carried(rtt) + queue_target * carried(USUAL);
    // Without any, nothing would ever be sent again after an outage.
    window as u64 + MIN_WINDOW
}

const MILLI: u64 = 1_000_000;

/// More than this is a long queue and nothing else.
const MAX_QUEUE_TARGET: f64 = 10.0;

/// Packets (RFC 9002, section 7.2).
const INITIAL_WINDOW: u64 = 10;
const MIN_WINDOW: u64 = 2;

/// Over how long the usual rate is taken.
const USUAL: Nanos = Nanos::from_millis(1000);

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(40);
    const END: Duration = Duration::from_secs(4);

    fn run(trace: Vec<u64>, queue_target: f64) -> Outcome {
        delayed_oracle(
            &Trace::from_millis(trace, "test").unwrap(),
            RTT,
            END,
            queue_target,
        )
        .unwrap()
    }

    fn packets(outcome: &Outcome, from: u64, to: u64) -> usize {
        let [from, to] = [from, to].map(Duration::from_millis);
        outcome.rtts(from, to).len()
    }

    /// One packet a millisecond: it has that and the two packets that it keeps at least.
    #[test]
    fn a_steady_link_is_full_behind_a_queue_of_the_headroom() {
        for (queue_target, queue) in [(0.0, 2.0), (0.5, 22.0)] {
            let outcome = run(vec![1], queue_target);
            assert_eq!(packets(&outcome, 1000, 3000), 2000);
            let rtts = outcome.rtts(Duration::from_secs(2), END);
            let mean = rtts.iter().sum::<u64>() as f64 / rtts.len() as f64 / 1e6;
            assert!((mean - 40.0 - queue).abs() < 1.01, "{mean}");
        }
    }

    #[test]
    fn no_round_trip_and_no_headroom_are_too_small_or_too_large() {
        let trace = Trace::from_millis(vec![1], "test").unwrap();
        for queue_target in [-1.0, f64::INFINITY, f64::NAN] {
            let outcome = delayed_oracle(&trace, Duration::ZERO, END, queue_target).unwrap();
            assert!(packets(&outcome, 1000, 3000) > 1900);
        }
    }

    /// It does not see an outage coming: what it has in flight waits for the end of it.
    #[test]
    fn an_outage_affects_packets_in_flight() {
        let trace: Vec<u64> = (1..=2000).chain([2500]).collect();
        let outcome = run(trace, 0.0);
        let caught = outcome
            .rtts(Duration::ZERO, END)
            .into_iter()
            .filter(|&rtt| rtt >= 400_000_000);
        // Half of the flight is at the link or before it.
        assert!((20..=45).contains(&caught.count()));
    }

    /// More than a round trip after a rise, it knows.
    #[test]
    fn it_follows_a_rise_a_round_trip_late() {
        let slow = (1..=100).map(|packet| 10 * packet);
        let fast = 1001..=3000;
        let outcome = run(slow.chain(fast).collect(), 0.0);
        assert!(packets(&outcome, 1000, 1040) < 20);
        assert_eq!(packets(&outcome, 1200, 2200), 1000);
    }
}

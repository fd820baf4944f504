//! What is kept of a run.

use std::time::Duration;

use kneepoint_emulator::link::{PacketOutcome, Record as Packet};
use kneepoint_emulator::time::Nanos;
use serde::{Deserialize, Serialize};

use super::case::{Bound, CALM, Case};
use super::fault::Fault;
use crate::metrics::stats::rounded;
use crate::trial::Outcome;

/// What is kept of a run. Everything counts from the time at which the fault is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The kind of fault.
    pub fault: Fault,
    /// The case.
    pub scenario: String,
    /// The hosts.
    pub host: String,
    /// The controller.
    pub controller: String,
    /// Why the connection closed, if it did.
    pub closed: Option<String>,
    /// The empty path's round-trip time, in milliseconds.
    pub base_rtt_ms: f64,
    /// How long nothing got through: the transport's probe timeouts, not the controller, end this.
    pub silent_ms: Option<f64>,
    /// From the first packet that got through until the link carried 90 % again: until the beginning of the first
    /// [`WINDOW`] base RTTs in which it did.
    pub regain_ms: Option<f64>,
    /// From when on the queue was shorter than [`CALM`] base RTTs, in base RTTs after the link could have sent what was
    /// on its way at the change and one base RTT later.
    pub calm_rtts: Option<f64>,
    /// How long a packet waited at most that came after the fault.
    pub queue_max_ms: f64,
    /// The same in base RTTs.
    pub queue_max_rtts: f64,
    /// Bytes that the link dropped.
    pub lost_bytes: u64,
    /// Whether the run keeps to its bound; `None` if the fault has none.
    pub kept: Option<bool>,
}

impl Record {
    /// Of a run.
    pub(super) fn new(case: &Case, host: &str, controller: &str, outcome: &Outcome) -> Self {
        let (_, link) = case.last_path();
        let link = outcome.links.get(link);
        let packets = link.map_or(&[][..], |link| &link.records);
        let base = case.base_rtt();
        let over = Nanos::from(case.over);
        let departures = departures(packets);
        let through = departures
            .iter()
            .map(|packet| packet.departure)
            .find(|time| *time >= over);
        // A packet that waited when the fault ended got through at once.
        let through = through.and_then(|time| {
            let packet = departures.iter().find(|packet| packet.departure == time)?;
            Some(packet.arrival.max(over))
        });
        let regain = through.and_then(|from| regain(case, &departures, from.into(), base));
        let calm = through.and_then(|from| calm(&departures, from, base));
        let queue_max = departures.iter().filter(|packet| packet.arrival >= over);
        let queue_max = queue_max.map(Served::wait).max().unwrap_or_default();
        let lost = packets.iter().filter(|packet| packet.arrival >= over);
        let lost = lost.filter(|packet| matches!(packet.outcome, PacketOutcome::Dropped { .. }));
        let closed = outcome.flows.first().and_then(|flow| flow.closed.clone());
        let kept = case.bound.map(|bound| {
            closed.is_none()
                && match bound {
                    Bound::Regain(within) => regain.is_some_and(|regain| regain <= within),
                    Bound::Calm(within) => calm.is_some_and(|calm| calm <= within),
                }
        });
        Self {
            fault: case.fault,
            scenario: case.name.clone(),
            host: host.to_owned(),
            controller: controller.to_owned(),
            closed,
            base_rtt_ms: ms(base),
            silent_ms: through.map(|through| ms(Duration::from(through).saturating_sub(case.over))),
            regain_ms: regain.map(ms),
            calm_rtts: calm.map(rounded),
            queue_max_ms: ms(queue_max),
            queue_max_rtts: rounded(queue_max.as_secs_f64() / base.as_secs_f64()),
            lost_bytes: lost.map(|packet| packet.size).sum(),
            kept,
        }
    }
}

/// A packet that the link has sent.
#[derive(Debug, Clone, Copy)]
struct Served {
    arrival: Nanos,
    departure: Nanos,
    size: u64,
}

impl Served {
    fn wait(&self) -> Duration {
        Duration::from(self.departure).saturating_sub(self.arrival.into())
    }
}

/// In the order of departure.
fn departures(packets: &[Packet]) -> Vec<Served> {
    let served = packets.iter().filter_map(|packet| {
        Some(Served {
            arrival: packet.arrival,
            departure: packet.departure()?,
            size: packet.size,
        })
    });
    let mut served: Vec<Served> = served.collect();
    served.sort_by_key(|packet| packet.departure);
    served
}

/// How long after a time the link carries 90 % again.
fn regain(case: &Case, departures: &[Served], from: Duration, base: Duration) -> Option<Duration> {
    let window = base * WINDOW;
    let mut bytes = vec![0];
    for packet in departures {
        bytes.push(bytes[bytes.len() - 1] + packet.size);
    }
    let before = |time: Duration| {
        bytes[departures.partition_point(|packet| Duration::from(packet.departure) < time)]
    };
    let enough = |start: &Duration| {
        let end = from + *start + window;
        let carried = before(end).saturating_sub(before(from + *start)) as f64;
        carried >= ENOUGH * case.last_path().0.capacity(from + *start, end)
    };
    let steps = (0..).map(|step| window * step / STEPS);
    steps
        .take_while(|start| from + *start + window <= case.duration)
        .find(enough)
}

/// In base RTTs, how long after the link could have sent what was on its way the queue is short.
fn calm(departures: &[Served], through: Nanos, base: Duration) -> Option<f64> {
    let informed = through + Nanos::from(base);
    let unaware = departures
        .iter()
        .rev()
        .find(|packet| packet.arrival < informed);
    let sent = unaware.map_or(through, |packet| packet.departure);
    let short = Nanos::from(base.mul_f64(CALM));
    let calm = departures.windows(2).find_map(|pair| {
        // Between two arrivals the queue drains: how long the next packet would wait is what is left of this one's wait.
        let drained = Nanos(pair[0].departure.0.saturating_sub(short.0));
        let time = drained.max(pair[0].arrival).max(sent);
        (time <= pair[1].arrival).then_some(time)
    })?;
    let late = Duration::from(calm).saturating_sub(sent.into());
    Some(late.as_secs_f64() / base.as_secs_f64())
}

fn ms(time: Duration) -> f64 {
    rounded(time.as_secs_f64() * 1e3)
}

/// Over how many base RTTs the rate is measured: more than what a buffer of a few BDP holds at a blackout's end.
pub const WINDOW: u32 = 10;

/// In how many steps the window moves on by its own length.
const STEPS: u32 = 20;

/// Of what the link could carry.
const ENOUGH: f64 = 0.9;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontier::{Path, ms as millis, seconds};

    /// A packet of 1250 bytes takes a millisecond at 10 Mb/s.
    fn served(arrivals: impl IntoIterator<Item = u64>) -> Vec<Served> {
        let mut free = 0;
        let serve = |arrival: u64| {
            free = free.max(arrival) + 1;
            Served {
                arrival: millis(arrival).into(),
                departure: millis(free).into(),
                size: 1250,
            }
        };
        arrivals.into_iter().map(serve).collect()
    }

    fn case() -> Case {
        let path = Path::constant(10.0, 10.0, 1.0);
        Case::bulk(Fault::Rate, "one", path, seconds(0.0), seconds(1.0))
    }

    #[test]
    fn the_link_is_regained_when_a_window_of_ten_round_trips_is_full() {
        let base = millis(10);
        // Every second millisecond is idle until 200 ms.
        let packets = served((0..100).map(|number| 2 * number).chain(200..1000));
        let regained = regain(&case(), &packets, Duration::ZERO, base);
        // A fifth of a window of 100 ms may be half idle.
        assert!(
            regained.is_some_and(|time| (millis(175)..=millis(185)).contains(&time)),
            "{regained:?}"
        );
        assert_eq!(regain(&case(), &packets[..150], Duration::ZERO, base), None);
    }

    #[test]
    fn the_queue_is_short_once_what_was_on_its_way_is_sent() {
        let base = millis(10);
        // A hundred packets at once, of a sender that does not know yet; then one every two milliseconds.
        let unaware = || (0..100).map(|_| 5);
        let prompt = served(unaware().chain((0..100).map(|number| 110 + 2 * number)));
        assert_eq!(calm(&prompt, Nanos::ZERO, base), Some(0.0));
        // Others come before the first ones have left, and keep the queue of a hundred for 400 ms.
        let late = served(
            unaware()
                .chain((0..400).map(|number| 15 + number))
                .chain([1000]),
        );
        let calm = calm(&late, Nanos::ZERO, base);
        assert!(
            calm.is_some_and(|rtts| (36.0..44.0).contains(&rtts)),
            "{calm:?}"
        );
    }
}

//! A look at the path without a queue of the sender's own.

use super::arithmetic::{larger, seconds_between, smaller};
use super::controller::PACKETS_PER_ACK;
use super::path::{AGREEMENT, NOISY};
use crate::event::AckEvent;
use crate::units::{Bytes, Timestamp};

/// The sender keeps a part of its window in flight, until packets that left with so little in flight have been acknowledged.
///
/// As BBR's ProbeRTT (draft-ietf-ccwg-bbr, section 5.3.4), but what is taken is their mean, and a standard deviation: see
/// [`PathRtt`](super::path::PathRtt). Other flows see the queue fall, and drain as well, a round trip later. So the packets are taken in
/// parts, the first of a round trip, the others of half of one, and the lowest part counts. As long as parts fall the queue is others',
/// the link is busy, and the drain goes on.
///
/// Startup begins on a path without a queue of the sender's own: what a drain has to find out is known. So the drain after it keeps the link full
/// at first. With as much in flight as the path holds the queue goes away, and if the known delay is seen again, it ends the drain.
///
/// What is acknowledged at one moment is one observation, however many packets it is. A receiver that acknowledges several packets at once
/// acknowledges a single one late: it waited for a second one. So single packets do not count, unless the receiver acknowledges each packet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Drain {
    /// When the last packet before it left.
    last_sent: Timestamp,
    before: f64,
    /// Whether the window was the limit before it, not the application.
    full: bool,
    /// What the acknowledgement that began it acknowledged, in bytes.
    batch: f64,
    least: f64,
    /// Since when the flight is within the drain's window.
    small_since: Option<Timestamp>,
    part: Sample,
    /// When the part under way ends, in seconds since then.
    part_end: Option<f64>,
    /// The mean of the part before.
    last_mean: f64,
    /// The lowest part's mean, plus its deviation.
    lowest: f64,
    /// The path as startup has seen it, until it is compared with a full link that has no queue.
    known: Option<Known>,
}

/// The delay that startup has seen, in seconds.
#[derive(Debug, Clone, Copy)]
pub(super) enum Known {
    /// The least, on a path without noise.
    Quiet(f64),
    /// The mean of a path that varies, without a deviation: less is in flight than keeps the link full.
    Varied(f64),
}

impl Known {
    /// For how many base round trips packets are taken. Acknowledgements that come in batches are few in half of one.
    const fn part(self) -> f64 {
        match self {
            Self::Quiet(_) => NEXT,
            Self::Varied(_) => FIRST,
        }
    }

    /// The base, if these packets found the path as it was known, and no queue.
    fn base_in(self, part: &Sample, least: f64) -> Option<f64> {
        let (mean, deviation) = part.level()?;
        match self {
            Self::Quiet(delay) => (part.moments >= ENOUGH && mean + deviation <= NOISY * delay)
                .then(|| least.max(delay)),
            Self::Varied(delay) => (mean <= NOISY * delay).then_some(mean + deviation),
        }
    }
}

/// Round-trip times.
#[derive(Debug, Clone, Copy)]
struct Sample {
    sum: f64,
    squares: f64,
    packets: u32,
    /// At how many moments they were acknowledged.
    moments: u32,
    /// The last of these.
    last: Timestamp,
}

impl Sample {
    const NONE: Self = Self {
        sum: 0.0,
        squares: 0.0,
        packets: 0,
        moments: 0,
        last: Timestamp::ZERO,
    };

    fn add(&mut self, rtt: f64, now: Timestamp) {
        self.sum += rtt;
        self.squares += rtt * rtt;
        self.packets += 1;
        if now > self.last {
            self.moments += 1;
            self.last = now;
        }
    }

    /// The mean and a standard deviation. One observation is no sample.
    fn level(&self) -> Option<(f64, f64)> {
        (self.moments > 1).then(|| {
            let mean = self.sum / f64::from(self.packets);
            let variance = (self.squares / f64::from(self.packets) - mean * mean).max(0.0);
            (mean, variance.sqrt())
        })
    }
}

/// What a drain has found, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Drained {
    /// With the full window.
    pub(super) before: f64,
    /// Whether the window was the limit until then. What an application leaves out of the flight is no answer to a queue.
    pub(super) full: bool,
    /// Of all packets in the drain.
    pub(super) least: f64,
    /// Of the packets that left with a small flight: their mean and a standard deviation.
    pub(super) level: f64,
}

/// What a drain says of the path's length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Length {
    /// As it was, as far as this drain can tell.
    Same,
    /// Another drain has to tell.
    Open,
    /// Longer: the minimum rose, and either no queue varies on the path or the delay stayed in both drains.
    Longer,
}

impl Drain {
    /// `before` is the round-trip time with the full window, in seconds; `full` says whether it was full, and `batch` is what is acknowledged at once, in
    /// bytes.
    pub(super) const fn new(last_sent: Timestamp, before: f64, full: bool, batch: f64) -> Self {
        Self {
            last_sent,
            before,
            full,
            batch,
            least: f64::INFINITY,
            small_since: None,
            part: Sample::NONE,
            part_end: None,
            last_mean: f64::INFINITY,
            lowest: f64::INFINITY,
            known: None,
        }
    }

    /// The drain after startup, which has seen the path's delay. Startup's window counts as full: of an application that leaves room in it only bursts that
    /// overflow a buffer end startup.
    pub(super) const fn of_known_path(last_sent: Timestamp, before: f64, known: Known) -> Self {
        Self {
            known: Some(known),
            ..Self::new(last_sent, before, true, 0.0)
        }
    }

    /// What stays in flight of what the path holds, in bytes: all of it while the known delay is looked for, then `part` of it. The base of a path that
    /// `varies` has a deviation in it: half as much has to go. Less than is acknowledged at once may not be acknowledged at all: most acknowledgements
    /// are lost on some ways back.
    pub(super) fn keeps(&self, path_holds: f64, part: f64, varies: bool) -> f64 {
        if self.known.is_some() {
            path_holds
        } else {
            let kept = if varies { 0.5 * (1.0 + part) } else { part };
            larger(kept * path_holds, smaller(self.batch, path_holds))
        }
    }

    /// Whether packets left with the full window, before the drain. The last that did are what is left of a lump, if more than two are acknowledged at
    /// once: they took its time, and are fewer.
    pub(super) fn is_before(&self, ack: &AckEvent) -> bool {
        ack.newest_sent < self.last_sent
            || ack.newest_sent == self.last_sent && ack.acked_packets <= PACKETS_PER_ACK
    }

    /// Takes an acknowledgement. Returns what was found once that is enough. A round-trip time above `waits_above` is a queue of others, who may
    /// drain as well. `acks_singles`: the receiver acknowledges each packet.
    pub(super) fn on_ack(
        &mut self,
        ack: &AckEvent,
        rtt: f64,
        window: Bytes,
        base_rtt: f64,
        waits_above: f64,
        acks_singles: bool,
    ) -> Option<Drained> {
        self.least = self.least.min(rtt);
        let Some(since) = self.small_since else {
            if ack.in_flight <= window {
                self.small_since = Some(ack.now);
            }
            return None;
        };
        if ack.newest_sent < since {
            return None;
        }
        let elapsed = seconds_between(since, ack.newest_sent);
        if let Some(known) = self.known
            && elapsed >= known.part() * base_rtt
        {
            if let Some(base) = known.base_in(&self.part, self.least) {
                return Some(self.found(base));
            }
            self.known = None;
            // The queue is others', or longer than it seemed. From here on only packets count that leave with a part of that in flight.
            self.part = Sample::NONE;
            self.small_since = None;
            return None;
        }
        let part_end = self.part_end.unwrap_or(FIRST * base_rtt);
        let ended = elapsed >= part_end && self.end_part(elapsed, base_rtt, waits_above);
        if ack.acked_packets > 1 || acks_singles {
            self.part.add(rtt, ack.now);
        }
        ended.then(|| {
            self.found(if self.lowest.is_finite() {
                self.lowest
            } else if base_rtt > waits_above {
                // The application paused, and the path varies: one moment is chance.
                larger(self.least, base_rtt)
            } else {
                self.least
            })
        })
    }

    const fn found(&self, level: f64) -> Drained {
        Drained {
            before: self.before,
            full: self.full,
            least: self.least,
            level,
        }
    }

    /// Takes the part under way, if it is a sample. Returns whether the drain has shown what it can.
    fn end_part(&mut self, elapsed: f64, base_rtt: f64, waits_above: f64) -> bool {
        self.part_end = Some(elapsed + NEXT * base_rtt);
        let Some((mean, deviation)) = self.part.level() else {
            return elapsed > LONGEST * self.before;
        };
        self.part = Sample::NONE;
        // What is in flight covers the spread of the delay.
        self.lowest = self.lowest.min(mean + deviation);
        let last = core::mem::replace(&mut self.last_mean, mean);
        let falls = last - mean > deviation.max(AGREEMENT * mean);
        let waits = mean > waits_above && elapsed < JOINED * self.before;
        elapsed > LONGEST * self.before || !(falls || waits)
    }
}

/// In base round trips: the parts. A few packets would show noise.
const FIRST: f64 = 1.0;
const NEXT: f64 = 0.5;

/// At so many moments packets have to be acknowledged to say that the path is as it was known: N_RTT_SAMPLE of RFC 9406, section 4.3.
const ENOUGH: u32 = 8;

/// In round trips with the full window: others see the drain after one of them, and join it.
const JOINED: f64 = 1.5;

/// In round trips with the full window. A queue that still falls then is not worth the wait.
const LONGEST: f64 = 3.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(now: u64, sent: u64, in_flight: u64) -> AckEvent {
        let at = |millis: u64| Timestamp::from_nanos(millis * 1_000_000);
        AckEvent {
            newest_sent: at(sent),
            in_flight: Bytes(in_flight),
            ..AckEvent::nothing_yet(at(now))
        }
    }

    fn drain_of(before: f64, acks: &[(u64, u64, f64)]) -> Option<Drained> {
        let pairs = acks.iter().map(|&(now, sent, rtt)| (now, sent, rtt, 2));
        drain_of_batches(before, pairs)
    }

    /// Acknowledgements of so many packets each, by a receiver that acknowledges several at once if any are of several.
    fn drain_of_batches(
        before: f64,
        mut acks: impl Iterator<Item = (u64, u64, f64, u64)> + Clone,
    ) -> Option<Drained> {
        let acks_singles = acks.clone().all(|(.., packets)| packets == 1);
        let mut drain = Drain::new(Timestamp::from_nanos(0), before, true, 0.0);
        acks.find_map(|(now, sent, rtt, packets)| {
            let ack = AckEvent {
                acked_packets: packets,
                ..ack(now, sent, 10_000)
            };
            drain.on_ack(&ack, rtt, Bytes(10_000), 0.04, 0.044, acks_singles)
        })
    }

    /// Fault: where four of five acknowledgements are lost, one of ten packets arrives. Half of a small flight was less, was never acknowledged, and
    /// waited for probe timeouts.
    #[test]
    fn what_is_acknowledged_at_once_stays_in_flight() {
        let drain = Drain::new(Timestamp::from_nanos(0), 0.05, true, 12e3);
        assert_eq!(drain.keeps(100e3, 0.5, false), 50e3);
        assert_eq!(drain.keeps(20e3, 0.5, false), 12e3);
        assert_eq!(drain.keeps(10e3, 0.5, false), 10e3);
    }

    /// Fault: an application paused in a drain. After it a single packet was the path's delay, though the path varies, and every later one seemed to wait.
    #[test]
    fn one_packet_after_a_pause_is_no_sample_of_a_path_that_varies() {
        let base_after = |base: f64| {
            let mut drain = Drain::new(Timestamp::from_nanos(0), 0.05, true, 0.0);
            let mut take = |now, sent, rtt| {
                drain.on_ack(
                    &ack(now, sent, 10_000),
                    rtt,
                    Bytes(10_000),
                    base,
                    0.044,
                    true,
                )
            };
            assert_eq!(take(50, 0, 0.05), None);
            take(340, 300, 0.04).expect("it has lasted too long").level
        };
        assert_eq!(base_after(0.048), 0.048);
        // Where nothing varies it is the path's.
        assert_eq!(base_after(0.042), 0.04);
    }

    /// Fault: what is left of a lump when a drain begins was taken for what the link carries in a lump's time.
    #[test]
    fn what_is_left_of_a_lump_shows_nothing() {
        let drain = Drain::new(Timestamp::from_nanos(30_000_000), 0.05, true, 0.0);
        let of = |sent, acked_packets| AckEvent {
            acked_packets,
            ..ack(70, sent, 10_000)
        };
        assert!(drain.is_before(&of(29, 8)));
        assert!(drain.is_before(&of(30, 2)));
        assert!(!drain.is_before(&of(30, 3)));
        assert!(!drain.is_before(&of(31, 2)));
    }

    /// Only packets that left with a small flight are in the mean; the least is of all.
    #[test]
    fn the_mean_is_of_packets_that_found_no_queue() {
        let mut drain = Drain::new(Timestamp::from_nanos(0), 0.05, true, 0.0);
        let mut take = |now, sent, in_flight, rtt| {
            drain.on_ack(
                &ack(now, sent, in_flight),
                rtt,
                Bytes(10_000),
                0.04,
                0.044,
                true,
            )
        };
        assert_eq!(take(0, 0, 50_000, 0.08), None);
        assert_eq!(take(100, 20, 10_000, 0.08), None);
        // It left before the flight was small.
        assert_eq!(take(139, 99, 10_000, 0.04), None);
        assert_eq!(take(150, 105, 10_000, 0.045), None);
        assert_eq!(take(175, 120, 10_000, 0.055), None);
        assert_eq!(take(180, 140, 10_000, 0.05), None);
        assert_eq!(take(190, 150, 10_000, 0.05), None);
        let found = take(220, 176, 10_000, 0.07).expect("two parts were seen");
        assert_eq!((found.before, found.least), (0.05, 0.04));
        // 50 ms without a deviation, in the second part.
        assert!((found.level - 0.05).abs() < 1e-9, "{found:?}");
    }

    /// Half a round trip that shows a known path ends the drain, if it is a round's packets, and none of them waits. Until then the link is full.
    #[test]
    fn a_known_path_is_found_again_in_half_a_round_trip() {
        // One acknowledgement every so many ms; the round trip is 40 ms. No more than the path holds is in flight from 100 ms on.
        let ended = |interval: u64, rtt: fn(u64) -> f64| {
            let now = Timestamp::from_nanos(0);
            let mut drain = Drain::of_known_path(now, 0.08, Known::Quiet(0.04));
            assert_eq!(drain.keeps(1e4, 0.5, false), 1e4);
            let (after, mean) = (0..400)
                .find_map(|index| {
                    let sent = 60 + index * interval;
                    let ack = ack(sent + 40, sent, 10_000);
                    let found = drain.on_ack(&ack, rtt(index), Bytes(10_000), 0.04, 0.044, true)?;
                    Some((sent - 100, found.level))
                })
                .expect("it ends");
            (after, mean, drain.keeps(1e4, 0.5, false))
        };
        let (after, mean, _) = ended(1, |_| 0.04);
        assert_eq!(after, 20);
        assert!((mean - 0.04).abs() < 1e-9, "{mean}");
        // A path that varies by less than a tenth is not another one: what startup has seen of it counts.
        let (after, mean, _) = ended(1, |index| if index % 2 == 0 { 0.04 } else { 0.043 });
        assert_eq!(after, 20);
        assert!((mean - 0.04).abs() < 1e-9, "{mean}");
        // Six packets in half a round trip, and a queue: packets that leave with half of it in flight have to show the path.
        let (few, _, few_kept) = ended(4, |_| 0.04);
        let (queue, mean, kept) = ended(1, |index| if index % 2 == 0 { 0.04 } else { 0.05 });
        assert!(few >= 100 && queue >= 100, "{few} and {queue} ms");
        assert!(mean > 0.049, "{mean}");
        assert_eq!((few_kept, kept), (5e3, 5e3));
    }

    /// Fault: a path that varies deviates from its mean by more than a tenth, and batches are few in half of a round trip. Its drain always went on with
    /// less in flight.
    #[test]
    fn a_known_path_that_varies_is_found_again_in_a_round_trip() {
        // Batches of four packets every 20 ms, of which the last ones wait least.
        let ended = |queue: f64| {
            let now = Timestamp::from_nanos(0);
            let mut drain = Drain::of_known_path(now, 0.12, Known::Varied(0.05));
            (0..100).find_map(|index| {
                let sent = 60 + index * 5;
                let acked = u64::next_multiple_of(sent + 40, 20);
                let rtt = 0.001 * (acked - sent) as f64 + queue;
                let ack = ack(acked, sent, 10_000);
                let found = drain.on_ack(&ack, rtt, Bytes(10_000), 0.05, 0.044, true)?;
                Some((sent - 100, found.level))
            })
        };
        let (after, mean) = ended(0.0).expect("it ends");
        assert_eq!(after, 50);
        // 40, 45, 50 and 55 ms: their mean is 47.5 ms, and their deviation 5.6.
        assert!((mean - 0.053).abs() < 0.001, "{mean}");
        let (after, _) = ended(0.02).expect("it ends");
        assert!(after >= 100, "{after} ms");
    }

    /// Others drain a round trip later: what is left then is what counts.
    #[test]
    fn the_queue_of_others_has_time_to_go() {
        let found = drain_of(
            0.1,
            &[
                (100, 0, 0.1),
                (180, 100, 0.08),
                (185, 105, 0.08),
                (191, 150, 0.041),
                (196, 155, 0.041),
                (201, 161, 0.041),
                (206, 165, 0.041),
                (211, 170, 0.041),
                (226, 185, 0.041),
                (231, 191, 0.041),
            ],
        );
        assert!((found.expect("it has ended").level - 0.041).abs() < 1e-9);
    }

    /// Fault: drains of a few packets, and those that began them, ended before others had drained. Each took the queue of the others for
    /// the path: ten flows had 2.7 times the RTT, and shares that differed by a factor of five.
    #[test]
    fn a_drain_waits_for_others_and_for_samples() {
        // It stands, falls and is gone. The packet at 141 ms is alone in its part.
        let queue = [
            (100, 0, 0.12),
            (220, 100, 0.12),
            (225, 110, 0.12),
            (260, 141, 0.12),
            (265, 150, 0.12),
            (280, 165, 0.11),
            (290, 180, 0.11),
            (300, 200, 0.08),
            (305, 215, 0.08),
            (310, 245, 0.041),
            (320, 260, 0.041),
            (325, 275, 0.041),
            (330, 285, 0.041),
            (335, 290, 0.041),
            (340, 300, 0.041),
        ];
        assert_eq!(drain_of(0.12, &queue[..11]), None);
        let found = drain_of(0.12, &queue).expect("it has ended");
        assert!((found.level - 0.041).abs() < 1e-9, "{found:?}");
        // A queue that does not go is others'.
        let stands: Vec<_> = (0..40).map(|n| (100 + 10 * n, 10 * n, 0.12)).collect();
        let ended = (0..40).find(|&n| drain_of(0.12, &stands[..n]).is_some());
        // 100 ms until the flight is small, and one and a half times 120 ms.
        assert!(
            matches!(ended, Some(28..=32)),
            "after {ended:?} acknowledgements"
        );
    }

    /// Fault: two packets that a batch acknowledged at once were a sample without a deviation, and the least delay of a path whose
    /// acknowledgements come every 100 ms its base: its link was used to a third.
    #[test]
    fn what_is_acknowledged_at_one_moment_is_one_observation() {
        let batches = [
            (100, 0, 0.1),
            (200, 100, 0.1),
            (200, 102, 0.098),
            (300, 160, 0.06),
            (300, 160, 0.06),
            (300, 160, 0.06),
            (300, 205, 0.095),
            (400, 260, 0.14),
            (500, 405, 0.095),
        ];
        let found = drain_of(0.1, &batches).expect("it has ended");
        assert_eq!(found.least, 0.06);
        assert!(found.level > 0.09, "{found:?}");
    }

    /// Fault: on a longer path a window of a few packets left single ones, and the receiver's 25 ms for a second one looked like the queue
    /// of others.
    #[test]
    fn a_single_packets_acknowledgement_may_be_late() {
        let acks = |packets: u64| few_packets(10, 3, packets);
        let level = |found: Option<Drained>| found.expect("it has ended").level;
        assert!((level(drain_of_batches(0.04, acks(1))) - 0.04).abs() < 1e-9);
        assert!(level(drain_of_batches(0.04, acks(2))) > 0.05);
        // A receiver that acknowledges each packet sends nothing else.
        let single = acks(1).map(|(now, sent, rtt, _)| (now, sent, rtt, 1));
        assert!(level(drain_of_batches(0.04, single)) > 0.05);
    }

    /// Fault: each part of a drain had one pair and one such packet. In company two drains in a row took 66 ms for a path of 40 ms, and the flow
    /// filled the buffer.
    #[test]
    fn a_pair_and_a_late_single_packet_are_no_sample() {
        let found = drain_of_batches(0.04, few_packets(20, 2, 1)).expect("it has ended");
        assert!((found.level - 0.04).abs() < 1e-9, "{found:?}");
    }

    /// Acknowledgements of pairs, one in so many ms; every so many of them is 25 ms late, and of so many packets.
    fn few_packets(
        interval: u64,
        every: u64,
        packets: u64,
    ) -> impl Iterator<Item = (u64, u64, f64, u64)> + Clone {
        (0..20).map(move |index| {
            let is_late = index % every == every - 1;
            let (sent, late) = (100 + interval * index, if is_late { 25 } else { 0 });
            let packets = if is_late { packets } else { 2 };
            (sent + 40 + late, sent, (40 + late) as f64 / 1e3, packets)
        })
    }
}

//! What is known of the link, and how it is learnt from acknowledgements.

#[cfg(test)]
mod tests;

use kneepoint_estimators::{BusyRate, DecayingRatio};

use super::KneeConfig;
use super::arithmetic::{larger, smaller};
use super::drain::{Drained, Length};
use super::path::PathRtt;
use super::queue_target::QueueTarget;
use crate::event::{CongestionEvent, CongestionSignal};

/// What is known of the link. In bytes and seconds.
#[derive(Debug, Clone)]
pub(super) struct Link {
    rate: BusyRate,
    target: QueueTarget,
    /// What was delivered over the last horizon, per second: an average that is forgotten over one horizon.
    delivered: DecayingRatio,
    /// What has been acknowledged at the moment of the newest acknowledgement, in bytes.
    moment: f64,
    /// The most that is acknowledged at one moment, of late, in bytes.
    batch: f64,
    slow: Slowdown,
    /// The rate when a drain last found the path as it was, or when it was last begun anew.
    known_rate: f64,
    silences: Silences,
    /// The longest queue that it ever held: a buffer holds so many bytes, whatever the rate becomes.
    longest_queue: f64,
    /// How long a packet waits at most, of late, in seconds.
    recent_wait: f64,
}

/// Acknowledgements in a row that came after a silence, of packets that waited all of it.
#[derive(Debug, Clone, Copy, Default)]
struct Slowdown {
    acks: u32,
    bytes: f64,
    time: f64,
}

impl Slowdown {
    /// The rate, once so many silences are no silences: the link has become slow.
    fn on_ack(&mut self, acked: &Acked, silent: bool, horizon: f64) -> Option<f64> {
        if !silent || acked.wait < acked.gap {
            self.acks = 0;
            return None;
        }
        if self.acks == 0 {
            *self = Self::default();
        }
        self.acks += 1;
        self.bytes += acked.bytes;
        self.time += acked.gap;
        if self.acks < SLOW_ACKS || self.time < horizon {
            return None;
        }
        let run = core::mem::take(self);
        Some(run.bytes / run.time)
    }
}

/// For how long the link carried what is acknowledged, and whether silences hold packets back.
///
/// A link that carries nothing delivers what waits for it afterwards, one packet after the other. What is held back behind the link comes at one
/// moment: Wi-Fi sends a packet again, and later ones wait for it. Then the link was busy in the silence.
#[derive(Debug, Clone, Copy, Default)]
struct Silences {
    /// What was cut off the last silence, in seconds.
    cut: f64,
    /// What of that was given back to a batch.
    given: f64,
    /// The most that could be given back: the cut, or the time that the link takes for what was in flight.
    most: f64,
    /// The share of `most` that was given back, averaged over silences. It stays as it is on a path that has none.
    share: f64,
}

impl Silences {
    /// The time in which the link carried what was acknowledged: the gap, but for a silence, which is cut to `longest` seconds. The link carries
    /// `rate` bytes a second. If what follows the silence comes all at once, it is given back the time that it took the link.
    fn carrying_time(&mut self, acked: &Acked, longest: f64, rate: f64) -> f64 {
        let needed = acked.bytes / rate;
        if acked.gap > longest {
            self.end();
            self.cut = acked.gap - longest;
            self.most = smaller(self.cut, acked.left / rate);
            return longest;
        }
        if acked.gap > AT_ONCE * needed {
            if self.cut > 0.0 {
                self.end();
            }
            return acked.gap;
        }
        let back = smaller(needed - acked.gap, self.cut - self.given);
        self.given += back;
        acked.gap + back
    }

    /// What followed the last silence at once has come.
    #[cold]
    fn end(&mut self) {
        if self.most > 0.0 {
            let share = smaller(self.given / self.most, 1.0);
            self.share += (share - self.share) / SILENCES;
        }
        (self.cut, self.given, self.most) = (0.0, 0.0, 0.0);
    }

    /// Whether what silences delay is held back, rather than not carried yet.
    fn holds_back(&self) -> bool {
        self.share > HELD
    }
}

/// An acknowledgement, in bytes and seconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Acked {
    pub(super) bytes: f64,
    /// What is in flight after it.
    pub(super) left: f64,
    /// Since the acknowledgement before.
    pub(super) gap: f64,
    /// Between the newest packets of both: what the sender itself paused for is no silence of the link.
    pub(super) sent_gap: f64,
    /// How long the newest packet waited: its round-trip time beyond the base.
    pub(super) wait: f64,
    /// For how long the link had been busy when that packet left it, as far as the acknowledgement's packets show.
    pub(super) busy_before: f64,
    /// Whether it waited for a link that carried nothing.
    pub(super) silenced: bool,
    /// Whether losses show that the link was full.
    pub(super) lossy: bool,
    /// The round that it belongs to.
    pub(super) round: u64,
    /// Whether the window was the limit, not the application.
    pub(super) window_limited: bool,
    /// Whether the window was full: a link is idle for lack of a window only then.
    pub(super) full: bool,
}

impl Link {
    /// A link of this rate.
    pub(super) fn new(config: &KneeConfig, rate: f64, path: &PathRtt) -> Self {
        let (horizon, longest_wait) = (path.horizon(), path.longest_wait());
        Self {
            rate: BusyRate::new(config.busy_rate(), rate, horizon),
            target: QueueTarget::new(config),
            delivered: DecayingRatio::new(rate * horizon, horizon),
            moment: 0.0,
            batch: 0.0,
            slow: Slowdown::default(),
            known_rate: rate,
            silences: Silences::default(),
            longest_queue: longest_wait * rate,
            recent_wait: longest_wait,
        }
    }

    /// The rate, in bytes per second.
    pub(super) fn rate(&self, horizon: f64) -> f64 {
        self.rate.rate(horizon)
    }

    /// What the link can queue of a flight that grows, in bytes: as much as it ever held, and some packets.
    pub(super) fn room(&self, mtu: f64) -> f64 {
        larger(self.longest_queue, ROOM_PACKETS * mtu)
    }

    /// Whether the buffer has room beside a queue of so many seconds: it has held one twice as long, and what a transport sends at once (`burst`, in
    /// bytes).
    pub(super) fn has_room(&self, wait: f64, horizon: f64, burst: f64) -> bool {
        wait * self.rate(horizon) + burst < ROOM * self.longest_queue
    }

    /// How long the link takes for a packet, in seconds.
    pub(super) fn packet_time(&self, mtu: f64) -> f64 {
        mtu / larger(self.rate.usual(), 1.0)
    }

    /// Whether packets were lost or marked in the last rounds: others may fill the queue.
    pub(super) fn was_congested(&self, round: u64) -> bool {
        self.target.was_cut_since(round, CONGESTED_ROUNDS)
    }

    /// Packets were lost or marked.
    pub(super) fn on_congestion(&mut self, config: &KneeConfig, event: &CongestionEvent) {
        let weight = signal_weight(config, event);
        self.target.on_congestion(config, event.round, weight);
    }

    /// What is left of a queue of the flow's own in a drain, in seconds. On slow links even the small flight (`window`, in bytes) is more than the path holds.
    /// What is left is no more than what the drain has taken from the queue.
    pub(super) fn own_queue(&self, window: f64, horizon: f64, found: &Drained) -> f64 {
        let carried = window / self.rate(horizon).max(1.0);
        (carried - horizon).min(found.before - found.level).max(0.0)
    }

    /// A drain has ended. On a path that is longer than it was known to be, all time looked busy, and the rate like what was sent.
    pub(super) fn on_drained(&mut self, config: &KneeConfig, length: Length, horizon: f64) {
        let rate = self.rate.rate(horizon);
        match length {
            Length::Same => self.known_rate = rate,
            Length::Open => {}
            Length::Longer => self.begin_anew(config, rate.max(self.known_rate), horizon),
        }
    }

    fn begin_anew(&mut self, config: &KneeConfig, rate: f64, horizon: f64) {
        self.rate = BusyRate::new(config.busy_rate(), rate, horizon);
        self.delivered = DecayingRatio::new(rate * horizon, horizon);
        self.known_rate = rate;
    }

    /// What is to be in flight: what the path holds, what waits for hosts, and equally many bytes for every flow.
    ///
    /// What is acknowledged at one moment is sent at one moment, and keeps the link busy until the next one. Where acknowledgements come in batches
    /// packets wait for these as well, so that an idle link looks busy. As extra_acked of draft-ietf-ccwg-bbr, section 5.5.9.
    ///
    /// All that waits is a part of the longest wait of late. Hosts that add more show it. A buffer that is shorter than what hosts may add would lose what is
    /// beyond it.
    pub(super) fn window(&self, config: &KneeConfig, path: &PathRtt, mtu: f64) -> f64 {
        let rate = self.rate.rate(path.horizon());
        let equal = config.equal_packets * mtu;
        let waiting = smaller(
            path.host_delay() * rate + equal,
            config.bound_left * self.recent_wait * rate,
        );
        let batched = rate * path.min() + self.batch;
        larger(
            self.carried(path, path.base(), rate) + larger(equal, waiting),
            batched,
        )
    }

    /// What a drain leaves: what the path holds by the base that drains measure, what hosts add, and the queue target.
    pub(super) fn path_holds(&self, path: &PathRtt) -> f64 {
        let rate = self.rate.rate(path.horizon());
        self.carried(path, path.measured_base(), rate) + path.host_delay() * rate
    }

    /// What the path holds without a queue, and the queue target.
    fn carried(&self, path: &PathRtt, base: f64, rate: f64) -> f64 {
        rate * base + self.target.share() * self.rate.usual() * path.horizon()
    }

    /// Whether every packet was acknowledged by itself, of late, or nothing is known of it.
    pub(super) fn acks_singles(&self, mtu: f64) -> bool {
        self.batch < SINGLE * mtu
    }

    /// Whether the link carried equal flows' packets in the gap. Flows that share a link send in turns. A turn of the others takes longer than the packet
    /// after it waits, but the link is busy for all of it if every packet of the last round found a queue.
    ///
    /// Where only the wait counts as busy, the rate is too high. That holds a share beside others who fill the queue: after losses, and where drains show
    /// them, it stays so. And a long wait may be a longer path, or a link that has become slow.
    fn is_shared(&self, acked: &Acked, path: &PathRtt, needed: f64) -> bool {
        let least = path.least_wait();
        let own = path.host_delay() + SHARED_BATCHES * needed;
        least > own
            && least < SHARED_WAIT * path.base()
            && !path.others_queue()
            && !self.target.was_cut_since(acked.round, QUIET_ROUNDS)
    }

    /// Whether packets are held back behind the link: see [`Silences`].
    pub(super) fn holds_back(&self) -> bool {
        self.silences.holds_back()
    }

    /// Takes an acknowledgement.
    pub(super) fn learn(&mut self, config: &KneeConfig, acked: &Acked, path: &PathRtt, mtu: f64) {
        let (horizon, host_delay) = (path.horizon(), path.host_delay());
        let usual = larger(self.rate.usual(), 1.0);
        if !acked.silenced {
            self.longest_queue = larger(self.longest_queue, acked.wait * usual);
            self.recent_wait = larger(self.recent_wait, acked.wait);
        }
        // A link that carries nothing for longer than this is silent: neither busy nor idle.
        let longest = PAUSE * path.base() + PAUSE_PACKETS * acked.bytes / usual;
        // A receiver that acknowledges one packet waited for a second one.
        let delayed = if acked.bytes < 2.0 * mtu {
            MAX_ACK_DELAY
        } else {
            0.0
        };
        // A sender whose window is the limit pauses for a round trip at most. More is a link that lost all that was in flight.
        let paused = if acked.window_limited {
            smaller(acked.sent_gap, horizon + acked.wait)
        } else {
            acked.sent_gap
        };
        let longest = larger(longest + delayed, paused);
        if let Some(rate) = self.slow.on_ack(acked, acked.gap > longest, horizon) {
            self.begin_anew(config, rate, horizon);
            return;
        }
        let needed = acked.bytes / usual;
        let gap = self.silences.carrying_time(acked, longest, usual);
        let elapsed = gap / horizon;
        self.delivered.add(acked.bytes, gap, elapsed);
        let delivered = larger(self.delivered.ratio(), 1.0);
        if !acked.window_limited {
            // What an application sends is a lower bound of the rate.
            if delivered > self.rate.rate(horizon) {
                self.rate
                    .add(acked.bytes, acked.bytes / delivered, gap, horizon);
            }
            return;
        }
        // A packet that waited came to a busy link. Of an acknowledgement's packets the oldest waited through the gap: a link that delivers packets in
        // lumps is busy in between. One that did not wait is a lower bound of the rate: the link is taken for at most twice as fast as what it delivers.
        let censored = acked.bytes / (2.0 * delivered);
        let busy = if acked.lossy || self.is_shared(acked, path, needed) {
            gap
        } else {
            smaller(larger(acked.busy_before, censored), gap)
        };
        let empty = acked.wait <= host_delay + EMPTY_BATCHES * needed;
        let idle = if empty && acked.full { gap - busy } else { 0.0 };
        self.target.on_ack(config, idle / horizon, elapsed);
        // Forgotten as the queue target is: a buffer of so many bytes is a shorter wait on a link that has become faster.
        self.recent_wait *= kept(elapsed, config.target_decay);
        if acked.gap > 0.0 {
            self.moment = 0.0;
        }
        self.moment += acked.bytes;
        self.batch = larger(self.batch * kept(elapsed, BATCH_MEMORY), self.moment);
        self.rate.add(acked.bytes, busy, gap, horizon);
    }
}

/// How much a loss or a mark says of the queue, from 0 to 1. A share of the flight that is far below `max_loss` is chance: a flight of a
/// thousand packets loses one in nearly every round of a path that loses one in a thousand.
fn signal_weight(config: &KneeConfig, event: &CongestionEvent) -> f64 {
    match (event.signal, event.flight) {
        (CongestionSignal::Loss, Some(flight)) => {
            let share = flight.lost.0 as f64 / flight.in_flight.0.max(1) as f64;
            (share / config.max_loss).min(1.0)
        }
        _ => 1.0,
    }
}

/// What is left of a maximum after so many horizons.
fn kept(elapsed: f64, memory: f64) -> f64 {
    1.0 - smaller(elapsed / memory, 1.0)
}

/// Of the base round-trip time, and times the time that the packets take: pauses as links and receivers make them.
const PAUSE: f64 = 0.25;
const PAUSE_PACKETS: f64 = 4.0;

/// A link that resumes after a silence delivers what waited at once. So many silences in a row are the time that a slow link takes.
const SLOW_ACKS: u32 = 8;

/// An acknowledgement in less than this share of the time that the link takes for its bytes is one of a batch. Ten flows that send in turns
/// see each turn ten times as fast as their shares: those are no batches.
const AT_ONCE: f64 = 0.1;

/// In silences: how long the mean share remembers one.
const SILENCES: f64 = 8.0;

/// Of what was in flight, or of what the link carries in the silence if that is less. On five recorded links the mean is 0.13 at most, on one of 60 GHz above it
/// after a quarter of the silences; with the jitter of Wi-Fi it is 0.3 to 1. What half and twice of both values make: docs/results/knee-swings.md.
const HELD: f64 = 0.2;

/// In seconds: RFC 9000, section 18.2.
pub(super) const MAX_ACK_DELAY: f64 = 0.025;

/// Any buffer is taken to hold so many. Two and three let windows grow more slowly, eight overflow short buffers: docs/results/knee-losses.md.
const ROOM_PACKETS: f64 = 4.0;

/// Of the longest queue that a buffer ever held. The longest wait of a round, and what others fill meanwhile, are within it.
const ROOM: f64 = 0.5;

/// A queue no longer than two batches of acknowledged packets is empty: the packets are each other's queue.
const EMPTY_BATCHES: f64 = 2.0;

/// Equal flows see the time that their own batches take at their own rate: a smaller flow sees a longer one, and grows. Fewer let shares
/// differ: docs/results/knee-company.md.
const SHARED_BATCHES: f64 = 4.0;

/// Of the base round-trip time: a link that varies makes longer waits. A quarter and one change company by less than 1 %:
/// docs/results/knee-company.md.
const SHARED_WAIT: f64 = 0.5;

/// Flows send in turns only if so many rounds lost nothing: others lose packets where they fill the queue. With 100 a flow beside CUBIC has a tenth less of
/// its share of 200 Mb/s and 10 ms; with 30 it has a tenth less of 50 Mb/s as well: docs/results/knee-company.md.
const QUIET_ROUNDS: u64 = 200;

/// Others that fill the queue lose packets at least once in so many rounds. With 50 a flow beside CUBIC gains nothing; with 200 flows of unequal round-trip times
/// starve each other more often: docs/results/knee-company.md.
const CONGESTED_ROUNDS: u64 = 100;

/// In horizons. A pause of a host makes a batch as well: with 64 the queue that it leaves lasts (docs/results/knee-drains.md).
const BATCH_MEMORY: f64 = 4.0;

/// In packets: a batch between one and two.
const SINGLE: f64 = 1.5;

//! The path's round-trip time.

mod rounds;
#[cfg(test)]
mod tests;

use super::KneeConfig;
use super::arithmetic::{float, larger, seconds_between, smaller};
use super::controller::PACKETS_PER_ACK;
use super::drain::{Drained, Known, Length};
use super::swings::{Swings, shows};
use crate::event::AckEvent;
use crate::units::Timestamp;
use rounds::{LastRound, Plateau, Round};

pub(super) use rounds::Queue;

/// What is known of the round-trip time. In seconds.
///
/// The path's delay is a distribution. The minimum is its edge: on a path with jitter, or whose acknowledgements come in batches, a
/// window of rate x minimum leaves the link idle. So two values are kept. The *minimum* is the least
/// round-trip time; it rises only to what two drains in a row have found. The *base* is the
/// mean round-trip time of packets that found no queue of the sender's own, as measured in drains. On a path without noise they are the same.
#[derive(Debug, Clone, Copy)]
pub(super) struct PathRtt {
    host_delay: f64,
    min: f64,
    /// The most ever, but for silences of the link.
    max: f64,
    base: f64,
    /// The same as drains measure it, which see one phase of a delay that swings.
    measured: f64,
    smoothed: f64,
    /// The smoothed round-trip time before the link was last silent; infinite if it was not since the last drain.
    before_silence: f64,
    last_drain: LastDrain,
    /// The least round-trip time of the plateau that called for this drain; zero if none did.
    plateau_min: f64,
    /// When drains raised the minimum of a path that had become longer; until a drain an interval later or more.
    rose_at: Option<Timestamp>,
    /// Whether a drain is due at once.
    at_once: bool,
    /// The time that the link takes for a packet: delays differ by it without a reason.
    packet_time: f64,
    /// The least since the last drain, and when it was seen last.
    low: f64,
    low_at: Timestamp,
    /// The newest.
    newest: f64,
    round: Round,
    last_round: LastRound,
    /// A round-trip time below this one means that others drain.
    others_drain_below: f64,
    /// Whether startup saw round-trip times vary.
    varied_in_startup: bool,
    /// How long a delay is trusted, in seconds.
    interval: f64,
    /// Rounds in a row in which a queue stood that is longer than equal flows make.
    standing: u32,
    plateau: Plateau,
    /// The same, for links so slow that a packet's time is more than what rounds of a plateau agree within.
    coarse: Plateau,
    swings: Swings,
}

/// What the last drain found.
#[derive(Debug, Clone, Copy)]
struct LastDrain {
    at: Timestamp,
    /// The mean of its packets and a standard deviation, without what was left of the flow's own queue; and the least.
    level: f64,
    least: f64,
    /// The minimum after it.
    min_after: f64,
    /// Whether the path had become shorter.
    shorter: bool,
    /// Whether there was a queue that the spread of its packets does not explain.
    others_queue: bool,
    /// Whether a delay stayed, though the flight fell.
    stayed: bool,
    /// How many there have been.
    count: u32,
}

impl PathRtt {
    pub(super) fn new(config: &KneeConfig, now: Timestamp) -> Self {
        Self {
            host_delay: config.host_delay.as_secs_f64(),
            min: 0.0,
            max: 0.0,
            base: 0.0,
            measured: 0.0,
            smoothed: 0.0,
            before_silence: f64::INFINITY,
            last_drain: LastDrain {
                at: now,
                level: f64::INFINITY,
                least: f64::INFINITY,
                min_after: 0.0,
                shorter: false,
                others_queue: false,
                stayed: false,
                count: 0,
            },
            plateau_min: 0.0,
            rose_at: None,
            at_once: false,
            packet_time: 0.0,
            low: f64::INFINITY,
            low_at: now,
            newest: 0.0,
            round: Round::NONE,
            last_round: LastRound::default(),
            others_drain_below: 0.0,
            varied_in_startup: false,
            interval: f64::INFINITY,
            standing: 0,
            plateau: Plateau::NONE,
            coarse: Plateau::NONE,
            swings: Swings::new(),
        }
    }

    /// The least, but for what two drains in a row have raised it to; zero before the first sample.
    pub(super) fn min(&self) -> f64 {
        self.min
    }

    /// The longest that a packet has ever waited in a queue.
    pub(super) fn longest_wait(&self) -> f64 {
        larger(self.max - self.min, 0.0)
    }

    /// Without a queue of the sender's own, on average.
    pub(super) fn base(&self) -> f64 {
        self.base
    }

    /// What drains look for: of a path that swings, one phase.
    pub(super) fn measured_base(&self) -> f64 {
        self.measured
    }

    /// What every packet of the last round took at least.
    pub(super) fn last_least(&self) -> f64 {
        self.last_round.min
    }

    /// What every packet of the last round waited, beyond the base.
    pub(super) fn least_wait(&self) -> f64 {
        self.last_round.min - self.base
    }

    /// What packets show of queues.
    pub(super) fn queue(&self) -> Queue {
        if self.last_round.min > QUEUED * self.min {
            Queue::Stands
        } else if self.newest - self.base > (QUEUED - 1.0) * self.min {
            Queue::Found
        } else {
            Queue::None
        }
    }

    /// The longest that a packet has waited in this round or the last: hosts' delay at least.
    pub(super) fn wait_in_two_rounds(&self) -> f64 {
        let longest = larger(self.last_round.max, self.round.max);
        larger(longest - self.base, self.host_delay)
    }

    /// Whether the last round found no queue. On a path with noise nothing tells.
    pub(super) fn found_no_queue(&self) -> bool {
        self.last_round.mean <= self.horizon() && !self.is_noisy()
    }

    /// What hosts add to a round trip.
    pub(super) fn host_delay(&self) -> f64 {
        self.host_delay
    }

    /// The base and what hosts add to it: the law's unit of time.
    pub(super) fn horizon(&self) -> f64 {
        self.base + self.host_delay
    }

    /// The round-trip time with the full window: RFC 9002's smoothed one, without what a silence of the link has left in it.
    pub(super) fn with_full_window(&self) -> f64 {
        smaller(self.smoothed, self.before_silence)
    }

    /// The time in which a pace sends the window: a round trip, at most the horizon. On a path that is much shorter than what hosts add, a window in a
    /// horizon would keep little of it in flight, and a bound of a part of that flight would make the next one smaller again.
    pub(super) fn round_trip(&self) -> f64 {
        larger(smaller(self.with_full_window(), self.horizon()), self.base)
    }

    /// How much longer than the base the smoothed round-trip time is: at least 1.
    pub(super) fn inflation(&self) -> f64 {
        larger(smaller(MAX_INFLATION, self.smoothed / self.base), 1.0)
    }

    /// Whether to look at the path without a queue: it was not seen for too long, others drain, or the path may have become longer.
    pub(super) fn drain_is_due(&self, now: Timestamp, rtt: f64) -> bool {
        // A low above the base, with what it covers of a swing, is that of a longer path: drains have to find it twice.
        let is_low = self.low <= NOISY * self.base + self.packet_time;
        // On a path without noise the base is the minimum, and any packet may show it. A minimum that rose may be a queue's by now: the path may be as
        // short as it was, and the queue takes the place of what has gone.
        let seen = if self.is_noisy() || self.rose_at.is_some() || !is_low {
            self.last_drain.at
        } else {
            self.low_at
        };
        let unseen = seconds_between(seen, now);
        if self.swings.is_trying() {
            return false;
        }
        self.at_once
            || unseen > self.interval
            || (rtt < self.others_drain_below && unseen > 0.5 * self.interval)
    }

    /// A drain begins.
    pub(super) fn begin_drain(&mut self) {
        // The rounds of a plateau may be a first drain: the flight fell in them, and the delay stayed.
        self.plateau_min = if self.seems_longer() {
            self.plateau.least
        } else {
            0.0
        };
    }

    fn seems_longer(&self) -> bool {
        !self.is_noisy() && self.is_longer(self.plateau.least)
    }

    /// Whether a delay above the base stays though less is in flight: it is the path's.
    fn is_longer(&self, least: f64) -> bool {
        (self.plateau.is_no_queue(LEFT) || self.coarse.is_no_queue(COARSE_LEFT))
            && self.is_above_base(least)
    }

    /// The same on evidence that calls for a look, and is none itself: flows in company take what this one leaves.
    fn may_be_longer(&self) -> bool {
        self.plateau.may_be_no_queue(self.last_round.batch)
            && self.is_above_base(self.plateau.least)
            && !self.is_noisy()
    }

    fn is_above_base(&self, rtt: f64) -> bool {
        rtt > (1.0 + AGREEMENT) * self.base + self.packet_time
    }

    fn is_noisy(&self) -> bool {
        self.measured > NOISY * self.min + self.packet_time
    }

    /// How long an acknowledgement's newest packet waited in a queue, and for how long the link had been busy when that packet left it. In seconds.
    ///
    /// The oldest packet's wait is that time, if more than two are acknowledged. The first of two may have waited for the second one at the receiver, where
    /// the link is not busy. If the second one waited, the link carried the first one before it: a packet's time, or less if it waited for less.
    pub(super) fn waits(&self, newest_rtt: f64, oldest_rtt: f64, packets: u64) -> (f64, f64) {
        let wait = larger(newest_rtt - self.base, 0.0);
        let oldest = larger(oldest_rtt - self.base, 0.0);
        let busy = if packets > PACKETS_PER_ACK {
            oldest
        } else {
            smaller(oldest, wait + smaller(wait, self.packet_time))
        };
        (wait, busy)
    }

    /// The time that the link takes for a packet, in seconds, and whether packets are held back behind it: once a round.
    pub(super) fn set_link(&mut self, packet_time: f64, held_back: bool) {
        self.packet_time = packet_time;
        self.swings.set_held_back(held_back);
    }

    /// Whether the last drain found a queue that is others'.
    pub(super) fn others_queue(&self) -> bool {
        self.last_drain.others_queue
    }

    /// How long a delay is trusted. A flow that is new looks again sooner, once. One whose path has noise does so after twice as long each
    /// time.
    fn update_interval(&mut self, config: &KneeConfig) {
        let settled = self.settled_interval(config);
        self.interval = if !self.is_noisy() && self.last_drain.count >= SETTLED_DRAINS {
            settled
        } else {
            let doubled = f64::from(1_u32 << self.last_drain.count.min(MAX_DOUBLINGS));
            settled.min(config.first_round_trips * self.min.max(MIN_LOOK) * doubled)
        };
    }

    /// The same for a flow that is not new, on a path without noise.
    fn settled_interval(&self, config: &KneeConfig) -> f64 {
        larger(
            config.drain_interval.as_secs_f64(),
            config.drain_round_trips * self.min,
        )
    }

    /// Takes a round-trip time. Rounds are judged while `cruising`, and for a plateau while the window limits the flight. What was `silenced`
    /// waited for a link that carried nothing, which says nothing of a queue.
    pub(super) fn on_ack(
        &mut self,
        config: &KneeConfig,
        ack: &AckEvent,
        gap: f64,
        cruising: bool,
        window_limited: bool,
        silenced: bool,
    ) -> f64 {
        let mut rtt = seconds_between(ack.newest_sent, ack.now);
        if rtt <= 0.0 {
            // A clock that stands still shows none.
            rtt = self.min;
        }
        self.newest = rtt;
        if rtt < self.min || self.min <= 0.0 {
            self.min = rtt;
        }
        if rtt <= NOISY * self.low {
            self.low = smaller(self.low, rtt);
            self.low_at = ack.now;
        }
        // The gap before the acknowledgement that ends a round is of that round.
        self.swings
            .on_ack(rtt, gap, self.min, cruising && window_limited);
        if ack.round_start {
            self.end_round(config, ack, cruising, window_limited);
        }
        if silenced {
            self.before_silence = smaller(self.before_silence, self.smoothed);
        } else {
            self.max = larger(self.max, rtt);
            self.round.add(rtt);
        }
        self.smoothed = if self.smoothed > 0.0 {
            self.smoothed + (rtt - self.smoothed) / SMOOTHING
        } else {
            rtt
        };
        rtt
    }

    /// The round-trip time above which a drain waits for others to drain as well. A queue that stood in the last drain would stand in this one.
    pub(super) fn waits_above(&self) -> f64 {
        if self.last_drain.others_queue {
            f64::INFINITY
        } else {
            NOISY * self.min
        }
    }

    /// Before the first round has ended the least is all that is known.
    pub(super) fn take_min_as_base(&mut self) {
        self.measured = self.min;
        self.update_base();
    }

    /// Startup has found a base. On a path without noise the least is the base, and what its rounds show beyond that is their own bursts.
    pub(super) fn take_base(&mut self, base: f64) {
        self.varied_in_startup = base > NOISY * self.min;
        if self.varied_in_startup {
            self.measured = base;
            self.update_base();
        }
    }

    /// The path as startup has seen it.
    pub(super) fn known(&self) -> Known {
        if self.varied_in_startup {
            Known::Varied(self.base)
        } else {
            Known::Quiet(self.base)
        }
    }

    /// Whether the base is above the minimum because the path itself varies. It did from the start, and the last drain found no queue of others.
    pub(super) fn varies(&self) -> bool {
        self.varied_in_startup && self.is_noisy() && !self.last_drain.others_queue
    }

    fn end_round(
        &mut self,
        config: &KneeConfig,
        ack: &AckEvent,
        cruising: bool,
        window_limited: bool,
    ) {
        let round = core::mem::replace(&mut self.round, Round::NONE);
        if cruising {
            // Where packets are held back a round may be nothing but a silence.
            let (least, mean) = (round.min, round.mean());
            self.swings
                .on_round(ack, least, mean, self.min, window_limited);
        }
        let Some(mean) = round.mean() else {
            self.update_base();
            return;
        };
        self.last_round.min = round.min;
        self.last_round.mean = mean;
        self.last_round.max = round.max;
        // A queue that is much shorter than anything in the last round: others drain.
        let queue = round.min - self.min;
        let least = larger(self.host_delay, (NOISY - 1.0) * self.min);
        self.others_drain_below = round.min - larger(config.join * queue, least);
        if !cruising {
            return;
        }
        let undrained = seconds_between(self.last_drain.at, ack.now);
        self.at_once |= undrained > LONGEST_INTERVALS * self.settled_interval(config);
        if window_limited {
            let (flight, agreement) = (float(ack.prior_in_flight), FLAT * round.min);
            self.last_round.batch = float(ack.acked);
            self.plateau.on_round(round.min, flight, agreement);
            self.coarse
                .on_round(round.min, flight, agreement + self.packet_time);
        } else {
            // What the application leaves out of the flight is no answer to a queue.
            self.plateau = Plateau::NONE;
            self.coarse = Plateau::NONE;
        }
        // No base is longer. The mean of fewer samples is chance on a path that varies.
        if shows(self.min, round.min) && round.samples >= MEAN_OF {
            self.measured = self.measured.min(mean);
        }
        self.update_base();
        // N flows that keep as much each make a queue N times as large as one's, and each has an N-th of the rate: every one of them sees
        // its own part's time. A link that varies makes a queue that varies. What stands beyond both is others'.
        let own = config.equal_packets * self.packet_time + self.host_delay;
        let equals = own + (mean - round.min);
        if round.min - self.base > equals + config.standing * self.base {
            self.standing = self.standing.saturating_add(1);
        } else {
            self.standing = 0;
        }
        self.at_once |=
            self.standing >= config.standing_rounds || self.seems_longer() || self.may_be_longer();
        self.update_interval(config);
    }

    /// Whether a delay beyond what is known has stayed in a drain. A queue of the sender's own falls with the flight. What does not fall is the path's. The
    /// path may become longer meanwhile.
    fn stays(&self, found: &Drained) -> bool {
        let least = found.least;
        let agreement = AGREEMENT * least;
        found.full
            && found.level < NOISY * least
            && found.before - least < agreement + smaller(self.packet_time, agreement)
            && least > larger((1.0 + AGREEMENT) * self.min + self.packet_time, self.measured)
            // A path that the last drain found shorter is not longer now: others drained then, and have come back.
            && !self.last_drain.shorter
    }

    /// A drain has ended. Others fill the queue if `competing`. Returns what it says of the path's length.
    pub(super) fn end_drain(
        &mut self,
        config: &KneeConfig,
        now: Timestamp,
        found: &Drained,
        competing: bool,
    ) -> Length {
        let least = found.least;
        let base_before = self.measured;
        let stayed = self.stays(found);
        let stayed_twice = stayed && self.last_drain.stayed;
        let mut longer = false;
        // A plateau that the drain finds again is a first drain. One that it does not find again was a queue.
        let plateau_min = core::mem::replace(&mut self.plateau_min, 0.0);
        if (least - plateau_min).abs() <= AGREEMENT * least {
            self.last_drain.least = plateau_min;
            self.last_drain.level = plateau_min;
        }
        // The minimum rises only to what two drains in a row have found. Beside others that fill the queue two may find the same.
        let agree = (least - self.last_drain.least).abs() <= AGREEMENT * least;
        let both = smaller(least, self.last_drain.least);
        let rises = both > self.min && (agree || stayed_twice) && !competing;
        if rises {
            longer = agree && both > (1.0 + AGREEMENT) * self.min;
            self.min = both;
        }
        self.last_drain.stayed = stayed;
        self.last_drain.least = least;
        let last = core::mem::replace(&mut self.last_drain.level, found.level);
        let spread = found.level - least;
        // Others would fill what another drain leaves, unless the delay has stayed twice.
        let look_again = stayed && !longer && (stayed_twice || !self.last_drain.others_queue);
        self.last_drain.others_queue =
            least - self.min > spread + (NOISY - 1.0) * self.min + self.packet_time;
        let differ = found.level.max(last) > STEADY * found.level.min(last);
        // What one drain found beyond the other is a queue of others, or a slow moment of the link.
        self.measured = if differ {
            found.level.min(last)
        } else {
            0.5 * (found.level + last)
        }
        .max(self.min);
        self.swings
            .on_drained(found.level - self.min, self.last_drain.others_queue);
        self.update_base();
        self.last_drain.count = self.last_drain.count.saturating_add(1);
        self.others_drain_below = 0.0;
        self.before_silence = f64::INFINITY;
        self.low = least;
        self.low_at = now;
        self.last_drain.at = now;
        // A minimum that fell is looked into again at once: what the path held while it was longer is a queue that only drains show.
        // So is a path that seems longer: only two drains can tell.
        // What is left of a flight that a longer path held may take several drains.
        self.last_drain.shorter = SHORTER * self.min < self.last_drain.min_after
            || (self.last_drain.shorter && STEADY * self.measured < base_before);
        self.at_once = self.last_drain.shorter || self.is_longer(least) || look_again;
        let flat = found.level - least < FLAT * least + self.packet_time;
        let length = match (rises && stayed_twice || longer && flat, self.at_once) {
            (true, _) => Length::Longer,
            (false, true) => Length::Open,
            (false, false) => Length::Same,
        };
        let settled = self.settled_interval(config);
        let recent = |at: &Timestamp| seconds_between(*at, now) < settled;
        self.rose_at = match length {
            Length::Longer => Some(now),
            Length::Open | Length::Same => self.rose_at.filter(recent),
        };
        self.last_drain.min_after = self.min;
        // What rounds have shown until now was before the drain.
        self.standing = 0;
        self.plateau = Plateau::NONE;
        self.coarse = Plateau::NONE;
        self.round = Round::NONE;
        self.update_interval(config);
        length
    }

    /// What is in flight covers the delay of a path that swings.
    fn update_base(&mut self) {
        self.base = match self.swings.excess() {
            Some(excess) => larger(self.measured, self.min + excess),
            None => self.measured,
        };
    }
}

/// A mean of fewer round-trip times is chance. Eight leave out flows whose shares are small, and which take others' queue for the path.
const MEAN_OF: f64 = 4.0;

/// A delay without a queue varies within this share, from round to round of a plateau and within a drain. Flows in company vary by more, and would
/// take each other's queue for the path.
const FLAT: f64 = 0.01;

/// A flight below this share of what it was is smaller. 0.7 and 0.5 miss paths that become half as long again.
const LEFT: f64 = 0.8;

/// As [`LEFT`], where a packet's time is allowed for: flows in company are slow as well, and vary.
const COARSE_LEFT: f64 = 0.65;

/// Drains, parts of one, and a round that shows the minimum agree within this share: what timers and acknowledgement delays vary by.
pub(super) const AGREEMENT: f64 = 0.03;

/// A base above this share of the minimum is that of a path with noise, and changes with the flight. A round-trip time above it may be a queue, and a
/// queue that falls by less may be noise. The low since the last drain counts as seen within it: another flow's drain shows nearly the same low as
/// one's own, and then both wait for the same time, as BBR's flows do.
pub(super) const NOISY: f64 = 1.1;

/// Of the minimum: a round whose least round-trip time is above this found a queue. With an eighth, flows in company on a path that loses packets by
/// itself use less of it: docs/results/knee-losses.md.
pub(super) const QUEUED: f64 = 1.25;

/// A minimum that fell by so much in a drain is that of a shorter path. One that others' queues raised falls by less.
const SHORTER: f64 = 1.5;

/// Two drains within this ratio found the same path.
const STEADY: f64 = 1.25;

/// After so many drains a quiet path is known.
const SETTLED_DRAINS: u32 = 2;

/// Twice as long, at most so often.
const MAX_DOUBLINGS: u32 = 20;

/// In seconds: timers and pauses of hosts take so long.
const MIN_LOOK: f64 = 0.01;

/// In settled intervals, between two drains: a minute, or 1200 round trips. On a path that has become longer by less than [`NOISY`] every
/// packet shows the low, and the flight may fall too little for a plateau.
const LONGEST_INTERVALS: f64 = 12.0;

/// RFC 9002, section 5.3.
const SMOOTHING: f64 = 8.0;

/// The pacer is not asked for more, however long silence made the smoothed round-trip time.
const MAX_INFLATION: f64 = 64.0;

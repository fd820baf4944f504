//! A delay that rises and falls, more slowly than a round trip and without a queue of the flow's own.

#[cfg(test)]
mod tests;

use super::arithmetic::{float, larger, seconds_between};
use super::link::MAX_ACK_DELAY;
use super::path::{AGREEMENT, NOISY, QUEUED};
use crate::event::AckEvent;
use crate::units::{Bytes, Timestamp};

/// Whether the path's delay swings: others fill the way back and leave it again, for example.
///
/// No round tells such a delay from the queue of a link whose rate varies. A larger flight does: over a path that swings it is delivered faster, in a
/// queue it waits. So where the delay comes back to the minimum by itself, the flow *tries* a base that covers the mean delay and a part more. It keeps
/// that base if power, which is the delivery rate over the round-trip time (Kleinrock 1979), is no less than before, and until drains find the delay gone.
///
/// In company the delay does not come back between drains: a queue of others is no swing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Swings {
    state: State,
    /// Of the state, or since counting began anew.
    seen: Stretch,
    /// When the last round ended, and what was delivered until then. `None` after a drain.
    last: Option<(Timestamp, Bytes)>,
    /// How often the delay has come back to the minimum in this stretch.
    returns: u32,
    /// Whether it has been far above the minimum since it last came back, or since a drain.
    away: bool,
    /// The longest round-trip time since the delay was last back, in seconds; zero until a packet is far above the minimum.
    longest: f64,
    round: OverTime,
    /// Whether packets are held back behind the link: what they are delayed by is no queue.
    held_back: bool,
    /// A trial is due after so many rounds, of which so many have been.
    try_after: u32,
    waited: u32,
    /// The minimum of this stretch, in seconds.
    min: f64,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Watching,
    /// A base that is longer than the minimum by `excess`, in seconds.
    Trying {
        excess: f64,
        before: Stretch,
    },
    /// It was worth it. `gone`: the last drain found next to nothing of it.
    Covering {
        excess: f64,
        gone: bool,
    },
}

/// Rounds in a row that the window limited.
#[derive(Debug, Clone, Copy, Default)]
struct Stretch {
    rounds: u32,
    seconds: f64,
    bytes: f64,
    /// The sum of the rounds' mean round-trip times, in seconds; and their integral over time, in seconds².
    round_trips: f64,
    integral: f64,
}

/// The round-trip time of the round under way, integrated over time, in seconds², and the time.
#[derive(Debug, Clone, Copy, Default)]
struct OverTime {
    integral: f64,
    time: f64,
}

impl Stretch {
    /// The delivery rate, in bytes/s.
    fn rate(&self) -> f64 {
        self.bytes / larger(self.seconds, MIN_TIME)
    }
}

impl Swings {
    pub(super) fn new() -> Self {
        Self {
            state: State::Watching,
            seen: Stretch::default(),
            last: None,
            returns: 0,
            away: false,
            longest: 0.0,
            round: OverTime::default(),
            held_back: false,
            try_after: TRY_AFTER,
            waited: 0,
            min: 0.0,
        }
    }

    /// Means of rounds and means over time cannot be compared: a trial ends, and the round that ends counts nowhere.
    pub(super) fn set_held_back(&mut self, held_back: bool) {
        if held_back != self.held_back {
            self.held_back = held_back;
            (self.round, self.last) = (OverTime::default(), None);
            if self.is_trying() {
                self.enter(State::Watching);
            }
        }
    }

    /// Takes an acknowledgement so many seconds after the one before, where packets are held back. There what waited for a silence counts, each packet shows
    /// whether the delay is back, and the mean is over time: a small flight has few packets in a long round trip, and many in short ones.
    pub(super) fn on_ack(&mut self, rtt: f64, gap: f64, min: f64, window_limited: bool) {
        if !self.held_back {
            return;
        }
        self.round.integral += rtt * gap;
        self.round.time += gap;
        if window_limited && matches!(self.state, State::Watching) {
            self.follow_packet(rtt, min);
        }
    }

    /// Takes a packet's round-trip time, and counts how often the delay comes back from far above the minimum. Most paths hold nothing back.
    #[cold]
    fn follow_packet(&mut self, rtt: f64, min: f64) {
        // Next to nothing of the longest delay is left. A share of D itself would be too little: D of some milliseconds varies by more.
        let back = min + AGREEMENT * (self.longest - min);
        if self.longest > 0.0 && rtt < back {
            self.returns += 1;
            self.longest = 0.0;
        } else if rtt > 2.0 * min + SLEEP {
            self.longest = larger(self.longest, rtt);
        }
    }

    /// Takes the least round-trip time of a round.
    fn follow(&mut self, least: f64, min: f64) {
        if shows(min, least) {
            self.returns += u32::from(self.away);
            self.away = false;
        } else if least > larger(QUEUED * min, min + MAX_ACK_DELAY) {
            self.away = true;
        }
    }

    /// Takes a round outside of drains, and its least and mean round-trip time: infinite and none if all that came waited for a silence. A flight that the
    /// application limits is delivered no faster.
    pub(super) fn on_round(
        &mut self,
        ack: &AckEvent,
        least: f64,
        mean: Option<f64>,
        min: f64,
        window_limited: bool,
    ) {
        let round = core::mem::take(&mut self.round);
        let over_time = (self.held_back && round.time > 0.0).then(|| round.integral / round.time);
        let Some(mean) = over_time.or(mean) else {
            return;
        };
        let last = self.last.replace((ack.now, ack.delivered));
        let Some((at, delivered)) = last else {
            return;
        };
        if (min - self.min).abs() > AGREEMENT * min {
            // It is another path.
            self.min = min;
            self.enter(State::Watching);
        }
        let seconds = seconds_between(at, ack.now);
        // What was sent before a pause is acknowledged in the round that ends after it.
        let window_limited = window_limited && seconds < PAUSED * mean;
        if window_limited {
            self.seen.rounds = self.seen.rounds.saturating_add(1);
            self.seen.seconds += seconds;
            self.seen.bytes += float(ack.delivered - delivered);
            self.seen.round_trips += mean;
            self.seen.integral += mean * seconds;
        }
        match self.state {
            State::Watching if window_limited => self.watch(least, min),
            State::Trying { excess, before } => {
                let queues = self.round_trip(&self.seen) > NOISY * (min + excess);
                if queues && self.is_in_vain(&before) {
                    self.give_up();
                } else if !window_limited && self.seen.rounds < TRY_AFTER {
                    // Too little was seen for a verdict.
                    self.enter(State::Watching);
                } else if !window_limited || self.seen.rounds >= before.rounds {
                    self.judge(excess, &before);
                }
            }
            State::Watching | State::Covering { .. } => {}
        }
    }

    fn watch(&mut self, least: f64, min: f64) {
        if least.is_finite() {
            self.follow(least, min);
        }
        if self.returns == 0 && !self.away && self.longest == 0.0 {
            // What was before the delay left the minimum is no part of a swing.
            self.seen = Stretch::default();
        }
        self.waited = self.waited.saturating_add(1);
        let counted = self.seen.rounds >= TRY_AFTER && self.returns >= RETURNS;
        let small = self.seen.bytes < LARGE * f64::from(self.seen.rounds);
        if counted && small && self.waited >= self.try_after {
            let excess = COVERED * (self.round_trip(&self.seen) - min);
            let before = self.seen;
            self.enter(State::Trying { excess, before });
        } else if self.seen.rounds >= FORGOTTEN_AFTER {
            // A swing may begin after a quiet minute.
            self.enter(State::Watching);
        }
    }

    /// The mean round-trip time, in seconds.
    fn round_trip(&self, stretch: &Stretch) -> f64 {
        if self.held_back {
            stretch.integral / larger(stretch.seconds, MIN_TIME)
        } else {
            stretch.round_trips / f64::from(stretch.rounds.max(1))
        }
    }

    /// The delivery rate over the mean round-trip time, in bytes/s².
    fn power(&self, stretch: &Stretch) -> f64 {
        stretch.rate() / larger(self.round_trip(stretch), MIN_TIME)
    }

    /// What a stretch of rounds is worth: power. Where packets are held back the delay becomes longer with each packet that is, and power is at its best while
    /// most of the link is idle. There the delivery rate counts twice.
    fn worth(&self, stretch: &Stretch) -> f64 {
        if self.held_back {
            self.power(stretch) * stretch.rate()
        } else {
            self.power(stretch)
        }
    }

    /// Whether round trips above the base that is tried are a queue of the flow's own.
    fn is_in_vain(&self, before: &Stretch) -> bool {
        if self.held_back {
            self.seen.rounds >= TRY_AFTER && self.worth(&self.seen) < self.worth(before)
        } else {
            self.power(&self.seen) < PROVEN * self.power(before)
        }
    }

    fn judge(&mut self, excess: f64, before: &Stretch) {
        if self.worth(&self.seen) >= self.worth(before) {
            self.try_after = TRY_AFTER;
            self.enter(State::Covering {
                excess,
                gone: false,
            });
        } else {
            self.give_up();
        }
    }

    /// The delay was a queue of the flow's own. A link whose rate varies would be tried again and again.
    fn give_up(&mut self) {
        self.try_after = (self.try_after * RARER).min(TRY_AGAIN);
        self.waited = 0;
        self.enter(State::Watching);
    }

    fn enter(&mut self, state: State) {
        self.state = state;
        self.seen = Stretch::default();
        self.returns = 0;
        (self.away, self.longest) = (false, 0.0);
    }

    /// A drain has found a mean delay of so many seconds beyond the minimum, and that it is `others_queue` or not. What comes back because of it does not
    /// come back by itself.
    pub(super) fn on_drained(&mut self, found: f64, others_queue: bool) {
        (self.away, self.longest) = (false, 0.0);
        self.last = None;
        if others_queue {
            // A larger flight takes from others what it is delivered faster.
            self.enter(State::Watching);
        } else if let State::Covering { excess, gone } = self.state {
            let found_none = found < GONE * excess;
            if gone && found_none {
                self.enter(State::Watching);
            } else {
                self.state = State::Covering {
                    excess,
                    gone: found_none,
                };
            }
        }
    }

    /// Whether a larger flight is being tried: what it waits for is no news.
    pub(super) fn is_trying(&self) -> bool {
        matches!(self.state, State::Trying { .. })
    }

    /// How much longer than the minimum the base is on a path that swings, or may swing, in seconds.
    pub(super) fn excess(&self) -> Option<f64> {
        match self.state {
            State::Watching => None,
            State::Trying { excess, .. } | State::Covering { excess, .. } => Some(excess),
        }
    }
}

/// Whether a round with this least round-trip time has next to no queue.
pub(super) fn shows(min: f64, least: f64) -> bool {
    least <= (1.0 + AGREEMENT) * min
}

/// In seconds: phones wake up within 20 ms, for data and for acknowledgements (docs/HOSTS.md). Without it Jain's index of four flows of phones is .68 instead of
/// .79: docs/results/knee-swings.md.
const SLEEP: f64 = 0.04;

/// In seconds. Nothing is divided by less.
const MIN_TIME: f64 = 1e-9;

/// So often the delay has to come back before a trial. What half and twice of this and of the others make: docs/results/knee-swings.md.
const RETURNS: u32 = 4;

/// In rounds.
const TRY_AFTER: u32 = 8;

/// After a trial that was not worth it so many times as many rounds.
const RARER: u32 = 8;

/// In rounds: the most, after two such trials in a row.
const TRY_AGAIN: u32 = TRY_AFTER * RARER * RARER;

/// In bytes a round. A trial of a larger flight may lose so many packets at once that quinn closes the connection: "too many gaps in stream buffer".
const LARGE: f64 = 1.5e6;

/// A round that takes so many of its round trips has a pause in it.
const PAUSED: f64 = 2.0;

/// In rounds, if no trial was due. In company others' drains show the minimum now and then.
const FORGOTTEN_AFTER: u32 = 96;

/// Of the mean delay beyond the minimum. With no more than the mean the window would not grow.
const COVERED: f64 = 1.25;

/// Times the power before: a queue beside so much more is that of a link that is full at last.
const PROVEN: f64 = 3.0;

/// Of the delay that is covered: less in two drains in a row is none. One drain may meet a quiet moment.
const GONE: f64 = 0.25;

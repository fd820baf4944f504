//! Whether somebody else fills the queue, and what to have in flight beside them.

use core::time::Duration;

use crate::event::AckEvent;
use crate::units::{Bandwidth, Bytes, Gain, Timestamp};

/// A watch for flows that fill the queue.
///
/// A window that hangs on the empty path's round trip gives way to whoever keeps a queue: the longer the queue, the less is
/// left. When ProbeRTT finds the queue standing twice in a row, and something was lost in between, somebody fills it. Flows
/// of the own kind do not: they make way together, and lose next to nothing once they have started.
///
/// From then on there is the paper's window of two bandwidth-delay products (BBR-S). Flows of the own kind that once
/// take each other for rivals have to find out. So the window stays below what path and queue were seen to hold: then one flow's
/// ProbeRTT shows in the others' round trips, they look too, and all find the queue gone. A rival's retreat after a loss looks
/// the same, so that it takes several finds in a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rival {
    state: State,
    /// The longest round trip since a ProbeRTT first found the queue standing.
    longest: Duration,
    /// When a queue last stood while there was a rival.
    competed: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy)]
enum State {
    /// Nobody fills the queue, as far as is known.
    Alone {
        /// So many ProbeRTTs in a row have found it standing.
        misses: u32,
        /// Something was lost or marked since the first of them.
        lost: bool,
    },
    Competing(Contest),
}

#[derive(Debug, Clone, Copy)]
struct Contest {
    /// When ProbeRTT last looked whether it is over.
    looked: Timestamp,
    /// So many times in a row it has found no queue.
    finds: u32,
    /// The round that goes on, and its shortest round trip so far.
    round: u64,
    shortest: Duration,
    /// The shortest round trip of the round before, and the longest of these since the last look.
    last: Duration,
    peak: Duration,
    /// What is left of the window after losses, in thousandths, and the round of the last cut.
    permille: u32,
    cut: u64,
}

impl Contest {
    fn new(ack: &AckEvent, finds: u32) -> Self {
        Self {
            looked: ack.now,
            finds,
            round: ack.round,
            shortest: ack.rtt,
            last: ack.rtt,
            peak: Duration::ZERO,
            permille: UNCUT,
            cut: ack.round,
        }
    }

    /// The same after a look.
    fn looked(&self, ack: &AckEvent, finds: u32) -> Self {
        Self {
            permille: self.permille,
            cut: self.cut,
            ..Self::new(ack, finds)
        }
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        if ack.round == self.round {
            self.shortest = self.shortest.min(ack.rtt);
            return;
        }
        self.permille = (self.permille + REGROWTH).min(UNCUT);
        self.last = self.shortest;
        self.peak = self.peak.max(self.last);
        self.round = ack.round;
        self.shortest = ack.rtt;
    }

    /// Somebody makes way, perhaps in a ProbeRTT.
    fn dips(&self, min_rtt: Duration) -> bool {
        let queue = |rtt: Duration| rtt.saturating_sub(min_rtt);
        queue(self.last) < DIP * queue(self.peak)
    }
}

impl Default for Rival {
    fn default() -> Self {
        Self {
            state: ALONE,
            longest: Duration::ZERO,
            competed: None,
        }
    }
}

impl Rival {
    /// Packets were lost or marked.
    pub(super) fn on_congestion(&mut self, round: u64) {
        match &mut self.state {
            State::Alone { lost, .. } => *lost = true,
            State::Competing(contest) if round > contest.cut => {
                contest.permille = (contest.permille * 39 / 40).max(LEAST);
                contest.cut = round;
            }
            State::Competing(_) => {}
        }
    }

    /// Takes an acknowledgement outside of ProbeRTT.
    #[inline]
    pub(super) fn on_ack(&mut self, ack: &AckEvent) {
        match &mut self.state {
            State::Alone { misses: 0, .. } => return,
            State::Alone { misses, lost } => {
                if *misses >= MISSES && *lost {
                    self.state = State::Competing(Contest::new(ack, 0));
                    self.competed = Some(ack.now);
                }
            }
            State::Competing(contest) => contest.on_ack(ack),
        }
        self.longest = self.longest.max(ack.rtt);
    }

    /// ProbeRTT has found the minimum again, or a queue.
    pub(super) fn on_probe(&mut self, ack: &AckEvent, found: bool) {
        self.state = match self.state {
            State::Alone { misses: 0, .. } if !found => {
                self.longest = ack.rtt;
                State::Alone {
                    misses: 1,
                    lost: false,
                }
            }
            State::Alone { misses, lost } if !found => State::Alone {
                misses: misses.saturating_add(1),
                lost,
            },
            State::Competing(contest) if !found => {
                self.competed = Some(ack.now);
                State::Competing(contest.looked(ack, 0))
            }
            State::Competing(contest) if contest.finds + 1 < FINDS => {
                State::Competing(contest.looked(ack, contest.finds + 1))
            }
            State::Alone { .. } | State::Competing(_) => ALONE,
        };
    }

    /// Whether ProbeRTT should look if it is over; `None` while there is no rival.
    #[inline]
    pub(super) fn is_due(&self, now: Timestamp, min_rtt: Duration) -> Option<bool> {
        let State::Competing(contest) = &self.state else {
            return None;
        };
        let gone = now.saturating_since(contest.looked);
        let patience = if contest.finds > 0 { SOON } else { LATE };
        Some(gone > patience || (gone > SOON && contest.dips(min_rtt)))
    }

    /// Whether a rival has kept a queue within the last 30 s: then that a round trip is long says nothing of the path.
    pub(super) fn competed_lately(&self, now: Timestamp) -> bool {
        self.competed
            .is_some_and(|at| now.saturating_since(at) < LATELY)
    }

    /// What to have in flight at the least.
    #[inline]
    pub(super) fn least(&self, bandwidth: Bandwidth, min_rtt: Duration) -> Bytes {
        match self.state {
            State::Alone { .. } => Bytes::ZERO,
            State::Competing(contest) => {
                let bdp = bandwidth.bytes_in(min_rtt);
                let fits = SEEN_TO_FIT * bandwidth.bytes_in(self.longest);
                Gain::new(contest.permille, UNCUT) * (WINDOW_GAIN * bdp).min(fits)
            }
        }
    }
}

const ALONE: State = State::Alone {
    misses: 0,
    lost: false,
};

/// So many ProbeRTTs in a row find the queue standing that somebody fills.
const MISSES: u32 = 2;

/// So many in a row find none once nobody does. Beside one flow of CUBIC with half of a link, a ProbeRTT that follows its
/// reduction finds none.
const FINDS: u32 = 3;

/// A queue that is so much shorter than it was shows that somebody makes way.
const DIP: Gain = Gain::new(4, 5);

/// The least time between two looks, and the time to the next one after a find.
const SOON: Duration = Duration::from_millis(2500);

/// The most (BBR-S: a probe every 10 s).
const LATE: Duration = Duration::from_secs(10);

const LATELY: Duration = Duration::from_secs(30);

/// The paper's window, in bandwidth-delay products (BBR-S).
const WINDOW_GAIN: Gain = Gain::new(2, 1);

/// This share of what path and queue were seen to hold leaves room in which others' retreats can be seen.
const SEEN_TO_FIT: Gain = Gain::new(19, 20);

/// Each round with a loss takes a fortieth of the window, and each round gives a two-hundredth back: a window that is too large for
/// the path, because bandwidth or round trip are taken for more than they are, loses a packet every few round trips, and not
/// one in five for ever.
const UNCUT: u32 = 1000;
const REGROWTH: u32 = 5;
const LEAST: u32 = 250;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver;

    const MIN_RTT: Duration = Duration::from_millis(50);
    const RATE: Bandwidth = Bandwidth::from_bytes_per_second(1_000_000);

    fn ack(seconds: f64, round: u64, rtt_millis: u64) -> AckEvent {
        let now = Timestamp::from_origin(Duration::from_secs_f64(seconds));
        driver::ack(now, Duration::from_millis(rtt_millis), Bytes(2400), round)
    }

    /// One that has found the queue standing twice, and lost something in between.
    fn competing() -> Rival {
        let mut rival = Rival::default();
        rival.on_probe(&ack(3.0, 30, 80), false);
        rival.on_congestion(35);
        rival.on_ack(&ack(4.0, 40, 100));
        rival.on_probe(&ack(6.0, 60, 80), false);
        rival.on_ack(&ack(6.1, 61, 90));
        rival
    }

    #[test]
    fn two_misses_and_a_loss_between_them_make_a_rival() {
        assert_ne!(competing().least(RATE, MIN_RTT), Bytes::ZERO);

        let mut patient = Rival::default();
        // What is lost before, as when a newcomer starts, is no sign of one.
        patient.on_congestion(35);
        for look in 1..9 {
            let seconds = 3.0 * f64::from(look);
            patient.on_probe(&ack(seconds, 30, 80), false);
            patient.on_ack(&ack(seconds + 0.1, 31, 80));
            assert_eq!(patient.least(RATE, MIN_RTT), Bytes::ZERO);
            assert_eq!(patient.is_due(ack(99.0, 99, 80).now, MIN_RTT), None);
        }

        let mut interrupted = Rival::default();
        for found in [false, true, false] {
            interrupted.on_probe(&ack(3.0, 30, 80), found);
            interrupted.on_congestion(35);
            interrupted.on_ack(&ack(3.1, 31, 80));
            assert_eq!(interrupted.least(RATE, MIN_RTT), Bytes::ZERO);
        }
    }

    #[test]
    fn the_window_is_two_bdp_but_leaves_room_in_the_queue() {
        // The longest round trip was 100 ms.
        assert_eq!(competing().least(RATE, MIN_RTT), Bytes(95_000));
        let mut rival = competing();
        rival.on_ack(&ack(6.2, 62, 250));
        assert_eq!(rival.least(RATE, MIN_RTT), Bytes(100_000));
    }

    #[test]
    fn three_finds_in_a_row_end_it() {
        let mut rival = competing();
        for found in [true, true, false, true, true] {
            rival.on_probe(&ack(9.0, 90, 50), found);
            assert_ne!(rival.least(RATE, MIN_RTT), Bytes::ZERO);
        }
        rival.on_probe(&ack(9.0, 90, 50), true);
        assert_eq!(rival.least(RATE, MIN_RTT), Bytes::ZERO);
        // For half a minute after a queue last stood, long round trips are no longer path.
        assert!(rival.competed_lately(ack(38.9, 0, 50).now));
        assert!(!rival.competed_lately(ack(39.1, 0, 50).now));
    }

    /// Trap: a bandwidth or a round trip that is taken for more than it is makes a window that overflows the queue for ever.
    #[test]
    fn losses_take_from_the_window_until_there_are_few() {
        let mut rival = competing();
        for round in 61..=63 {
            // One cut a round, and none in the round in which it began.
            rival.on_congestion(round);
            rival.on_congestion(round);
        }
        assert_eq!(rival.least(RATE, MIN_RTT), Bytes(90_250));
        rival.on_ack(&ack(7.0, 64, 90));
        rival.on_ack(&ack(7.1, 65, 90));
        assert_eq!(rival.least(RATE, MIN_RTT), Bytes(91_200));
        for round in 66..999 {
            rival.on_congestion(round);
        }
        assert_eq!(rival.least(RATE, MIN_RTT), Bytes(23_750));
    }

    /// Trap: flows of the own kind that take each other for rivals look one after the other, and each finds the others' queue.
    #[test]
    fn whoever_sees_others_make_way_looks_too() {
        let looks = |rival: &Rival, seconds| {
            let now = ack(seconds, 0, 50).now;
            rival.is_due(now, MIN_RTT).expect("there is a rival")
        };
        let mut rival = competing();
        assert!(!looks(&rival, 9.0));
        assert!(looks(&rival, 16.2));
        for (round, rtt) in [(80, 100), (81, 99), (82, 88), (83, 100)] {
            rival.on_ack(&ack(9.0, round, rtt));
        }
        // In the last complete round the queue had 38 ms, and 50 before.
        assert!(looks(&rival, 9.0));
        assert!(!looks(&rival, 8.0));
        // After a find it looks again soon.
        rival.on_probe(&ack(9.0, 90, 50), true);
        assert!(!looks(&rival, 11.4));
        assert!(looks(&rival, 11.6));
    }
}

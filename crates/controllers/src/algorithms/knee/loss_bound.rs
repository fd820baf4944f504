//! What losses and marks say about the window.

#[cfg(test)]
mod tests;

use super::KneeConfig;
use super::arithmetic::{float, larger, smaller, whole};
use super::path::Queue;
use crate::event::{AckEvent, CongestionEvent, FlightSample};
use crate::units::{Bytes, Timestamp};

/// A bound of the window where packets are lost or marked because of it.
///
/// More loss than [`max_loss`](KneeConfig::max_loss) bounds the window below what was in flight, as BBRv3's inflight_longterm
/// (draft-ietf-ccwg-bbr, section 5.5.10). Then the loss is measured again. If it has gone, it came from the window: the bound is kept for some
/// rounds and raised slowly. If it has not, it is measured once more with half of the window. If that does not help either, the path loses
/// packets whatever the window is, and that much loss is tolerated while no queue stands: where others fill it, no window of this flow's ends its losses.
///
/// A mark needs no measurement: a queue has made it (RFC 3168, section 5). The bound rises at once, by a packet a round at least, as Reno's window does.
/// Equal steps make the windows of flows that are marked together equal.
#[derive(Debug, Clone, Copy)]
pub(super) struct LossBound {
    mtu: Bytes,
    phase: Phase,
    /// Loss that the path has by itself: a share.
    tolerated: f64,
    /// Of the last one to two hundred packets.
    counted: Counted,
    /// Whether what the next acknowledgement says was lost belongs to what is forgotten.
    forgets: bool,
    /// Of small flights, since a flight was large enough to be judged by itself: one to two hundred packets.
    recent: Counted,
    /// Rounds up to this one lost too much: the link was full in them.
    lossy_until: Option<u64>,
    /// What left before belongs to losses that have been answered.
    answered: Timestamp,
    /// Whether packets that left after that were lost.
    lost_since: bool,
    reports: Reports,
    /// Reports of packets that an application's bursts lost from a queue.
    overflows: u32,
    /// The phase before the last loss that was answered.
    phase_before_loss: Phase,
    /// The round of the last burst that was taken for chance.
    chance: Option<u64>,
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    Unbounded,
    /// Bounded, and measuring whether that helps.
    Measuring {
        bounded: Bounded,
        from: u64,
        /// The share that was lost before.
        before: f64,
        test: Test,
        counted: Counted,
    },
    Holding {
        bounded: Bounded,
        until: u64,
    },
    Raising {
        bounded: Bounded,
    },
}

/// What is known when packets are lost or marked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Circumstances {
    /// The window, if a drain had made the flight smaller: so large the flight counts at least.
    pub(super) window: Bytes,
    /// Whether the window doubled in each round when they left.
    pub(super) growing: bool,
    pub(super) queue: Queue,
    /// Whether the link's buffer is known to hold more than waits in it.
    pub(super) has_room: bool,
}

/// How small the window is while the loss is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Test {
    /// As small as the bound.
    Bound,
    /// Half of that: the bound alone has not helped.
    Half,
}

/// In bytes.
#[derive(Debug, Clone, Copy)]
struct Bounded {
    bound: f64,
    /// What was in flight when too much was lost, or a packet was marked; in slow start half of that, because it had doubled.
    lost_at: f64,
    /// The round of the last mark, if marks made it.
    marked: Option<u64>,
    /// Whether a queue was lost from: a buffer was full.
    overflowed: bool,
}

impl Bounded {
    /// A flight of so many bytes was too large.
    fn below(config: &KneeConfig, flight: f64, growing: bool) -> Self {
        Self {
            bound: config.bound_left * flight,
            lost_at: if growing { 0.5 * flight } else { flight },
            marked: None,
            overflowed: false,
        }
    }

    /// Whether nothing was lost or marked though the bound is far above the flight that was too large, or marks have ended and it is far below.
    fn is_obsolete(&self, round: u64) -> bool {
        let ended = self
            .marked
            .is_some_and(|marked| round >= marked.saturating_add(HOLD_ROUNDS));
        self.bound > NEW_GROUND * self.lost_at || (ended && NEW_GROUND * self.bound < self.lost_at)
    }
}

/// How often losses were reported.
#[derive(Debug, Clone, Copy, Default)]
struct Reports {
    round: u64,
    in_round: u32,
    in_round_before: u32,
}

impl Reports {
    fn add(&mut self, round: u64) {
        if round != self.round {
            let follows = round == self.round.saturating_add(1);
            self.in_round_before = if follows { self.in_round } else { 0 };
            self.in_round = 0;
            self.round = round;
        }
        self.in_round = self.in_round.saturating_add(1);
    }

    /// A flight's losses are reported in two rounds.
    fn of_flight(&self) -> u32 {
        self.in_round.saturating_add(self.in_round_before)
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Counted {
    lost: Bytes,
    delivered: Bytes,
}

impl Counted {
    fn add(&mut self, ack: &AckEvent) {
        self.lost += ack.lost;
        self.delivered += ack.acked;
    }

    fn halve(&mut self) {
        self.lost = Bytes(self.lost.0 / 2);
        self.delivered = Bytes(self.delivered.0 / 2);
    }

    fn all(&self) -> Bytes {
        self.lost + self.delivered
    }

    fn share(&self) -> f64 {
        self.lost.0 as f64 / self.all().0.max(1) as f64
    }
}

impl Phase {
    /// Begins to measure in two rounds: what is acknowledged then left with the smaller window.
    fn measuring(bounded: Bounded, round: u64, before: f64, test: Test) -> Self {
        Self::Measuring {
            bounded,
            from: round.saturating_add(2),
            before,
            test,
            counted: Counted::default(),
        }
    }
}

impl LossBound {
    pub(super) fn new(mtu: Bytes) -> Self {
        Self {
            mtu,
            phase: Phase::Unbounded,
            tolerated: 0.0,
            counted: Counted::default(),
            forgets: false,
            recent: Counted::default(),
            lossy_until: None,
            answered: Timestamp::ZERO,
            lost_since: false,
            reports: Reports::default(),
            overflows: 0,
            phase_before_loss: Phase::Unbounded,
            chance: None,
        }
    }

    /// Forgets everything. What left before now is answered, and what was lost of it is reported with the next acknowledgement.
    pub(super) fn begin_anew(&mut self, now: Timestamp) {
        *self = Self {
            answered: now,
            forgets: true,
            ..Self::new(self.mtu)
        };
    }

    #[cold]
    fn forget_lost(&mut self) {
        self.forgets = false;
        self.counted.lost = Bytes::ZERO;
    }

    pub(super) fn set_mtu(&mut self, mtu: Bytes) {
        self.mtu = mtu;
    }

    /// Packets that counted as lost have arrived, out of order. What was concluded from them is taken back, but not a bound that has
    /// ended losses, nor one that belongs to other losses.
    pub(super) fn on_spurious_loss(&mut self) {
        if matches!(self.phase, Phase::Measuring { .. }) && !self.lost_since {
            self.phase = self.phase_before_loss;
        }
        self.recent = Counted::default();
        self.counted = Counted::default();
        self.lossy_until = None;
    }

    /// No window may be larger, in bytes.
    pub(super) fn bytes(&self) -> f64 {
        match self.phase {
            Phase::Unbounded => f64::INFINITY,
            Phase::Measuring {
                bounded,
                test: Test::Half,
                ..
            } => 0.5 * bounded.bound,
            Phase::Measuring { bounded, .. }
            | Phase::Holding { bounded, .. }
            | Phase::Raising { bounded } => bounded.bound,
        }
    }

    /// Whether so much was lost that the link must have been full.
    pub(super) fn is_lossy(&self, round: u64) -> bool {
        self.lossy_until.is_some_and(|until| round <= until)
    }

    /// Takes an acknowledgement. `model` is the window without the bound, `room` what the path can queue of a flight that grows. Others who fill
    /// the queue make losses whatever this sender does: where the queue is theirs the bound is not held, and rises twice as fast. Nor is it held
    /// once a round found no queue (`found_no_queue`) in the buffer that overflowed.
    pub(super) fn on_ack(
        &mut self,
        config: &KneeConfig,
        ack: &AckEvent,
        model: impl Fn() -> f64,
        room: impl Fn() -> f64,
        others_queue: bool,
        found_no_queue: impl Fn() -> bool,
    ) {
        let sample = self.mtu * SAMPLE;
        self.counted.add(ack);
        if self.forgets {
            self.forget_lost();
        }
        self.recent.delivered += ack.acked;
        if self.recent.all() > sample * 2 {
            self.recent.halve();
        }
        if self.counted.all() > sample * 2 {
            // It only falls: flows that share a short buffer would take each other's losses for the path's.
            self.tolerated = self
                .tolerated
                .min(self.tolerated + (self.counted.share() - self.tolerated) * FORGETTING);
            self.counted.halve();
        }
        match &mut self.phase {
            Phase::Unbounded => {}
            Phase::Measuring {
                bounded,
                from,
                before,
                test,
                counted,
            } => {
                if ack.round >= *from {
                    counted.add(ack);
                }
                let sampled = ack.round >= *from + 2 && counted.all() > sample;
                if sampled || ack.round >= *from + MEASURED_ROUNDS {
                    self.phase = match *test {
                        _ if counted.share() <= 0.5 * *before => Phase::Holding {
                            bounded: *bounded,
                            until: ack.round.saturating_add(HOLD_ROUNDS),
                        },
                        Test::Bound => Phase::measuring(*bounded, ack.round, *before, Test::Half),
                        Test::Half => {
                            // Whatever others lose from their queue, the path does not lose.
                            if !others_queue {
                                self.tolerated = counted.share().min(MAX_TOLERATED);
                            }
                            Phase::Unbounded
                        }
                    };
                }
            }
            Phase::Holding { bounded, until } => {
                let emptied = bounded.overflowed && found_no_queue();
                if ack.round >= *until || others_queue || emptied {
                    self.phase = Phase::Raising { bounded: *bounded };
                }
            }
            Phase::Raising { bounded } => {
                if ack.round_start {
                    let growth = if bounded.is_obsolete(ack.round) {
                        let queued = smaller(1.0 + room() / bounded.bound, NEW_GROUND);
                        larger(queued, 1.0 + config.bound_growth)
                    } else if others_queue {
                        1.0 + 2.0 * config.bound_growth
                    } else {
                        1.0 + config.bound_growth
                    };
                    let packet = if bounded.marked.is_some() {
                        float(self.mtu)
                    } else {
                        0.0
                    };
                    bounded.bound = larger(bounded.bound * growth, bounded.bound + packet);
                    if bounded.bound > NO_BOUND * model() {
                        self.phase = Phase::Unbounded;
                    }
                }
            }
        }
    }

    /// A packet was marked. Of a flight's marks the first counts. A flight that the application limited does not show the window.
    pub(super) fn on_mark(
        &mut self,
        config: &KneeConfig,
        event: &CongestionEvent,
        seen: &Circumstances,
    ) {
        let measuring = matches!(self.phase, Phase::Measuring { .. });
        let flight = event.flight.filter(|flight| !flight.app_limited);
        if let Some(flight) = flight
            && event.newest_sent >= self.answered
            && !measuring
        {
            self.answered = event.now;
            let marked_at = flight.in_flight.max(seen.window);
            let bounded = Bounded::below(config, float(marked_at), seen.growing);
            // A queue that is marked by its average goes on being marked when it has gone: later flights were not too large.
            let lost_at = match self.phase {
                Phase::Raising { bounded: last } if last.bound < last.lost_at => {
                    larger(bounded.lost_at, last.lost_at)
                }
                _ => bounded.lost_at,
            };
            self.phase = Phase::Raising {
                bounded: Bounded {
                    bound: smaller(bounded.bound, self.bytes()),
                    lost_at,
                    marked: Some(event.round),
                    overflowed: false,
                },
            };
        }
    }

    /// Packets were lost. Returns whether that ends startup: the window was too large, which what is being measured or was answered does not show
    /// again, or an application's bursts overflow a buffer again and again. While the window grows one that is too large loses many, and few are chance.
    /// What is lost while a queue stands, the path does not lose by itself. What is lost in one place, or though the buffer has room, is the path's,
    /// unless later rounds lose as much.
    pub(super) fn on_loss(
        &mut self,
        config: &KneeConfig,
        event: &CongestionEvent,
        seen: &Circumstances,
    ) -> bool {
        let Circumstances {
            window,
            growing,
            queue,
            has_room,
        } = *seen;
        self.lost_since |= event.newest_sent > self.answered;
        let Some(flight) = event.flight else {
            return false;
        };
        let packets = |bytes: Bytes| bytes.0 as f64 / self.mtu.0.max(1) as f64;
        let (lost, sent) = (packets(flight.lost), packets(flight.in_flight));
        let queued = queue == Queue::Stands;
        let tolerated = if queued { 0.0 } else { self.tolerated };
        let usual = config.max_loss + tolerated;
        let most = |share: f64, packets: f64| {
            let expected = share * packets;
            let deviations = if growing {
                GROWING_DEVIATIONS
            } else if queued {
                QUEUED_DEVIATIONS
            } else {
                DEVIATIONS
            };
            expected + deviations * expected.sqrt()
        };
        let too_many = if lost > FEW || most(usual, sent) > FEW {
            self.recent = Counted::default();
            lost > most(usual, sent).max(FEW)
        } else {
            // In so small a flight one or two lost packets are chance. They are not if the flights before lost as many.
            self.recent.lost += event.lost;
            self.recent.all() > self.mtu * SAMPLE
                && packets(self.recent.lost) > most(usual, packets(self.recent.all()))
        };
        self.reports.add(event.round);
        // A window that doubles overflows a queue again and again, or by much. A burst of losses that chance makes is over. Without a queue more than a tenth
        // of a small flight may be one.
        let tenth = MAX_TOLERATED * sent;
        let chance = if queue == Queue::None {
            DEVIATIONS * tenth.sqrt()
        } else {
            0.0
        };
        let few = lost < tenth + chance;
        let burst = growing && self.reports.in_round < BURSTS && few;
        if !too_many || burst {
            // Bursts of an application that queue and lose packets again and again have found the link, however few each of them loses.
            let overflowed = flight.app_limited && queue != Queue::None;
            self.overflows = self.overflows.saturating_add(u32::from(overflowed));
            return self.overflows >= BURSTS;
        }
        let measuring = matches!(self.phase, Phase::Measuring { .. });
        // A full buffer loses what comes between the packets that it delivers: in many places. Queues that are managed lose packets long before they are
        // full.
        let in_one_place = lost >= PLACE * f64::from(self.reports.of_flight());
        let no_overflow = in_one_place || (has_room && !growing && lost > FEW);
        if no_overflow && queue == Queue::None && !measuring {
            if event.newest_sent < self.answered {
                return false;
            }
            if self
                .chance
                .is_none_or(|round| event.round > round.saturating_add(CHANCE_ROUNDS))
            {
                self.chance = Some(event.round);
                self.answered = event.now;
                return false;
            }
        }
        self.lossy_until = Some(event.round.saturating_add(1));
        // A flight that the application limited does not show the window (draft-ietf-ccwg-bbr, section 5.5.10.2), unless those before lost too much
        // as well.
        if flight.app_limited && self.counted.share() <= usual {
            return true;
        }
        if event.newest_sent < self.answered || measuring {
            return false;
        }
        let lost_at = float(flight.in_flight.max(window));
        self.answered = event.now;
        self.lost_since = false;
        self.recent = Counted::default();
        let mut bounded = Bounded::below(config, lost_at, growing);
        bounded.bound = bounded.bound.min(self.bytes());
        bounded.overflowed = queue != Queue::None;
        // Of few packets the flight's share is chance, of a first loss the average's.
        let before = (lost / sent.max(1.0))
            .min(self.counted.share())
            .max(config.max_loss);
        self.phase_before_loss = self.phase;
        self.phase = Phase::measuring(bounded, event.round, before, Test::Bound);
        true
    }
}

/// Whether next to nothing of a flight arrived. A buffer that overflows delivers what it holds.
pub(super) fn lost_whole(flight: FlightSample) -> bool {
    float(flight.lost) > (1.0 - MAX_TOLERATED) * float(flight.in_flight)
}

/// How much a window may grow that losses bound, and of which so much was acknowledged: one that doubles in a round queues half of what it holds.
pub(super) fn growth(acked: Bytes) -> Bytes {
    whole(GROWTH * float(acked))
}

/// Of what is acknowledged: a quarter in a round, as the bound itself grows at most.
const GROWTH: f64 = NEW_GROUND - 1.0;

/// So many standard deviations of a Poisson distribution are chance: about one flight in 44.
const DEVIATIONS: f64 = 2.0;

/// About one flight in 740. Slow start judges few flights, but what it takes for a full link bounds the window for long.
const GROWING_DEVIATIONS: f64 = 3.0;

/// Where a queue stands, a window that chance has made smaller leaves the link busy.
const QUEUED_DEVIATIONS: f64 = 1.0;

/// draft-ietf-ccwg-bbr, section 5.3.1.3: slow start's losses are the link's if they come in so many places of a round. An application's bursts are short:
/// their losses are the link's once so many were reported in all.
const BURSTS: u32 = 6;

/// In packets. So few lost ones say nothing about the window.
const FEW: f64 = 2.0;

/// In packets for each report: so many are lost in one place. With four, short buffers lose 2.1 instead of 1.8 %. With 15, paths that lose packets in
/// bursts are used to 85 instead of 90 %: docs/results/knee-losses.md.
const PLACE: f64 = 8.0;

/// So many rounds after a burst another one is no chance. With four 79 instead of 84 % are used where bursts of 20 packets come every 1000 packets.
const CHANCE_ROUNDS: u64 = 2;

/// In packets: fewer say little about a loss of some per cent.
const SAMPLE: u64 = 100;

/// In rounds, from the end of the measurement or the last mark on. BBRv3 waits for two to three seconds, or for 62 rounds (draft-ietf-ccwg-bbr, section 5.3.3.1).
const HOLD_ROUNDS: u64 = 12;

/// In rounds: so long a loss is measured at most.
const MEASURED_ROUNDS: u64 = 10;

/// A path that loses more is congested, whatever the window is. In slow start one flight that does is enough.
const MAX_TOLERATED: f64 = 0.1;

/// How far above the flight that lost packets the bound may be taken for obsolete, and how fast it grows then in each round at most.
const NEW_GROUND: f64 = 1.25;

/// Of the window without it: a bound so far above binds nothing.
const NO_BOUND: f64 = 2.0;

/// How fast the tolerated loss falls to the loss that is seen, per sample.
const FORGETTING: f64 = 0.25;

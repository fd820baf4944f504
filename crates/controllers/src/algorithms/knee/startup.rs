//! The first search for the link's rate.

use super::arithmetic::{float, larger, seconds_between, smaller};
use super::controller::QUANTUM_PACKETS;
use crate::event::AckEvent;
use crate::model::initial_window;
use crate::units::{Bytes, Timestamp};

/// Slow start (RFC 9002, section 7.3.1), until the flow's own queue stands.
///
/// A link that slows down for a moment and a burst of another flow delay packets as well. So the window grows slowly or waits once packets have waited, as
/// in RFC 9406's conservative slow start, and goes on growing when one does not.
#[derive(Debug, Clone, Copy)]
pub(super) struct Startup {
    window: Bytes,
    /// The newest delivery rate, in bytes per second, and what it was when the round began.
    rate: Option<f64>,
    last_round_rate: f64,
    /// The flight of which that was the rate, in bytes.
    last_flight: f64,
    /// The best delivery rate, in bytes per second.
    best_rate: f64,
    /// The round under way, and the mean round-trip time of the one before, in seconds.
    rtts: f64,
    samples: u32,
    round_rtt: f64,
    /// The least mean of the first rounds, in seconds; infinite before the first.
    base_rtt: f64,
    /// The least round-trip time since the application last paused, in seconds. None before its first pause after a round that the window limited: a
    /// handshake is no burst.
    since_pause: Option<f64>,
    /// So far.
    rounds: u32,
    /// Rounds in a row in which what the flight grew became a queue.
    queued_rounds: u32,
    /// Whether the queue that stands, if one does, is the flow's own.
    is_own: bool,
    /// Acknowledgements in a row whose packets waited.
    waited: u32,
    /// The round in which the first of them came.
    waited_since: u64,
    /// What was acknowledged after it, and since when.
    busy_bytes: f64,
    busy_since: Timestamp,
}

/// What an acknowledgement shows of the path.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    /// How long its newest packet waited, in round trips of the empty path.
    pub(super) wait: f64,
    /// Whether the window was the limit, not the application.
    pub(super) window_limited: bool,
    /// Whether the window has been full since its newest packet left.
    pub(super) full: bool,
    /// Whether it is the first after a pause of the application.
    pub(super) after_pause: bool,
}

impl Startup {
    pub(super) fn new(mtu: Bytes) -> Self {
        Self::again(initial_window(mtu))
    }

    /// From this window on.
    pub(super) fn again(window: Bytes) -> Self {
        Self {
            window,
            rate: None,
            last_round_rate: 0.0,
            last_flight: 0.0,
            best_rate: 0.0,
            rtts: 0.0,
            samples: 0,
            round_rtt: 0.0,
            base_rtt: f64::INFINITY,
            since_pause: None,
            rounds: 0,
            queued_rounds: 0,
            is_own: true,
            waited: 0,
            waited_since: 0,
            busy_bytes: 0.0,
            busy_since: Timestamp::ZERO,
        }
    }

    pub(super) fn window(&self) -> Bytes {
        self.window
    }

    /// In bytes per second, if one was measured.
    pub(super) fn known_rate(&self) -> Option<f64> {
        self.rate
    }

    /// The link's, as far as it is known, in bytes per second. The newest sample is of a round in which the link carried nothing if a flight was lost as a
    /// whole (`outage`): half of the best is left, as half of the last flight may have been queue.
    pub(super) fn rate(&self, horizon: f64, outage: bool) -> f64 {
        let newest = self.rate.unwrap_or(float(self.window) / horizon);
        if outage {
            larger(newest, 0.5 * self.best_rate)
        } else {
            newest
        }
    }

    /// The mean round-trip time without a queue of the sender's own, in seconds, if a round has ended: the first windows make next to none.
    pub(super) fn base_rtt(&self) -> Option<f64> {
        self.base_rtt.is_finite().then_some(self.base_rtt)
    }

    /// Twice what the path delivered in a round trip, in bytes, as draft-ietf-ccwg-bbr, section 5.6.1, has it: a cwnd gain of 2. While
    /// the link is not full, slow start needs no more. When it is, slow start would double the window once more.
    ///
    /// The first packets after a pause of the application find the queue of others. What later ones of its burst wait for beyond that is its own, and a
    /// window that holds that as well would grow with each burst.
    fn twice_delivered(&self, mtu: Bytes) -> f64 {
        if self.round_rtt == 0.0 {
            return f64::INFINITY;
        }
        let round_trip = self
            .since_pause
            .map_or(self.round_rtt, |least| smaller(least, self.round_rtt));
        2.0 * self.best_rate * round_trip + float(mtu * QUANTUM_PACKETS)
    }

    /// Whether a delivery rate is still growing.
    fn grows(&self, rate: f64) -> bool {
        rate >= GROWTH * self.last_round_rate
    }

    /// Whether packets have waited in a row, and the delivery rate does not grow: this may be the link's.
    fn waits(&self) -> bool {
        self.waited >= QUEUE_SAMPLES && self.rate.is_some_and(|rate| !self.grows(rate))
    }

    /// Whether the flight's growth since the last round became a queue rather than a delivery rate. In others' queue a small flow's delivery rate grows
    /// as its flight does.
    fn queues(&self, flight: f64, rate: f64) -> bool {
        let flight_growth = larger(flight - self.last_flight, WAIT * self.last_flight);
        (rate - self.last_round_rate) * self.last_flight
            < OWN * flight_growth * self.last_round_rate
    }

    /// A round has ended, in which packets waited for `rounds`.
    fn end_round(&mut self, flight: Bytes, rate: f64, rounds: u64) {
        self.queued_rounds = if self.queues(float(flight), rate) {
            self.queued_rounds.saturating_add(1)
        } else {
            0
        };
        // One round may be that in which others' queue grew.
        self.is_own = self.queued_rounds > 1 || (!self.grows(rate) && rounds > SLOW_ROUNDS);
        self.last_round_rate = rate;
        self.last_flight = float(flight);
    }

    /// By how much the window grows with an acknowledgement.
    fn growth(&self, ack: &AckEvent) -> Bytes {
        if !self.waits() {
            return ack.acked;
        }
        // In the round in which the first packet waited, and in the next, the link may have become full.
        let others = self.queued_rounds == 0 && ack.round > self.waited_since + 1;
        if others {
            Bytes(ack.acked.0 / SLOW_GROWTH)
        } else {
            Bytes::ZERO
        }
    }

    /// Takes an acknowledgement. Returns the link's rate once the link is full.
    pub(super) fn on_ack(&mut self, ack: &AckEvent, seen: &Seen, mtu: Bytes) -> Option<f64> {
        // A window that is not used does not grow (RFC 9002, section 7.8), whether the application or the host's processor is the
        // limit. A flight of more than half of it fills it in the next round.
        let used = (seen.window_limited && seen.full) || self.window < ack.prior_in_flight * 2;
        if used && float(self.window) < self.twice_delivered(mtu) {
            self.window += self.growth(ack);
        }
        let rtt = seconds_between(ack.newest_sent, ack.now);
        self.since_pause = if seen.after_pause && self.last_round_rate > 0.0 {
            Some(rtt)
        } else {
            self.since_pause.map(|least| smaller(least, rtt))
        };
        if ack.round_start && self.samples > 0 {
            let mean = self.rtts / f64::from(self.samples);
            self.round_rtt = mean;
            self.rounds = self.rounds.saturating_add(1);
            if self.rounds <= BASE_ROUNDS {
                self.base_rtt = smaller(self.base_rtt, mean);
            }
            (self.rtts, self.samples) = (0.0, 0);
        }
        self.rtts += rtt;
        self.samples += 1;
        let sample = ack.rate?;
        let rate = sample.delivery_rate.bytes_per_second() as f64;
        self.best_rate = self.best_rate.max(rate);
        let limited = seen.window_limited && !sample.app_limited;
        if limited || self.rate.is_none_or(|known| known < rate) {
            self.rate = Some(rate);
        }
        // An application's burst queues as well, and a path may become longer while it sends less than the link carries.
        if seen.wait <= WAIT || !limited {
            self.waited = 0;
        } else {
            if self.waited == 0 {
                self.waited_since = ack.round;
                self.busy_bytes = 0.0;
                self.busy_since = ack.now;
            } else {
                self.busy_bytes += float(ack.acked);
            }
            self.waited += 1;
        }
        let rounds = ack.round.saturating_sub(self.waited_since);
        // An application's burst may be over before two rounds are.
        let in_burst = self.since_pause.is_some() && self.waited >= QUEUE_SAMPLES;
        let stands = self.waited > 0 && (rounds > 1 || in_burst);
        let full = limited && stands && self.is_own && !self.grows(rate);
        if limited && ack.round_start {
            self.end_round(sample.in_flight_at_send, rate, rounds);
        }
        // Packets that waited came to a busy link: what was acknowledged since the first of them is its rate. A rate sample is
        // of a whole round, whose first part was up to twice as slow. What a host holds back and delivers at once is faster than that.
        let busy = seconds_between(self.busy_since, ack.now);
        full.then(|| (self.busy_bytes / busy.max(MIN_TIME)).clamp(rate, 2.0 * rate))
    }
}

/// RFC 9406, section 4.2: RTT_THRESH is an eighth of the minimum round-trip time.
pub(super) const WAIT: f64 = 0.125;

/// In rounds. With three, short transfers that start into others' queue take longer; with eight, a narrow way for acknowledgements is used less:
/// docs/results/knee-startup.md.
const BASE_ROUNDS: u32 = 5;

/// RFC 9406, section 4.2: N_RTT_SAMPLE.
const QUEUE_SAMPLES: u32 = 8;

/// draft-ietf-ccwg-bbr, section 5.3.1.2: a rate that grows by less in a round is the link's.
const GROWTH: f64 = 1.25;

/// The share of the flight's growth that is queue from which on the queue is the flow's own: docs/results/knee-startup.md.
const OWN: f64 = 0.5;

/// RFC 9406, section 4.2: CSS_GROWTH_DIVISOR.
const SLOW_GROWTH: u64 = 4;

/// RFC 9406, section 4.2, has five (CSS_ROUNDS). Flows that start together would then keep each other in startup: docs/results/knee-startup.md.
const SLOW_ROUNDS: u64 = 2;

/// In seconds. Nothing is divided by less.
const MIN_TIME: f64 = 1e-6;

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;
    use crate::event::RateSample;
    use crate::units::Bandwidth;

    const MTU: Bytes = Bytes(1200);

    /// A host whose processor is the limit has little in flight, and no transport calls it application-limited.
    #[test]
    fn a_window_that_is_not_used_does_not_grow() {
        for (full, grows) in [(false, false), (true, true)] {
            let mut startup = Startup::new(MTU);
            for millisecond in 1..100 {
                let mut ack = AckEvent::nothing_yet(Timestamp::from_nanos(millisecond * 1_000_000));
                ack.acked = MTU;
                ack.prior_in_flight = MTU * 2;
                let seen = Seen {
                    wait: 0.0,
                    window_limited: true,
                    full,
                    after_pause: false,
                };
                startup.on_ack(&ack, &seen, MTU);
            }
            assert_eq!(startup.window() > MTU * 20, grows);
        }
    }

    /// The link delivers no more, and slow start would double the window in each round.
    #[test]
    fn the_window_is_at_most_twice_what_was_delivered_and_what_is_sent_at_once() {
        let mut startup = Startup::new(MTU);
        for millisecond in 1..1000 {
            let now = Timestamp::from_nanos((50 + millisecond) * 1_000_000);
            let mut ack = AckEvent::nothing_yet(now).with_rtt(Duration::from_millis(50));
            ack.acked = MTU;
            ack.round_start = millisecond % 50 == 0;
            ack.rate = Some(RateSample {
                delivery_rate: Bandwidth::from_f64(1.2e6),
                delivered: MTU * 50,
                app_limited: false,
                prior_delivered: Bytes::ZERO,
                in_flight_at_send: MTU * 50,
                lost: Bytes::ZERO,
            });
            let seen = Seen {
                wait: 0.0,
                window_limited: true,
                full: true,
                after_pause: false,
            };
            startup.on_ack(&ack, &seen, MTU);
        }
        let most = MTU * (2 * 50 + QUANTUM_PACKETS);
        assert!(startup.window() > MTU * 100 && startup.window() <= most + MTU);
    }

    /// Fault: a round trip includes what the burst itself has queued, so that the window grew with each burst.
    #[test]
    fn bursts_of_an_application_do_not_raise_the_window_with_their_own_queue() {
        let mut startup = Startup::new(MTU);
        let mut windows = Vec::new();
        for burst in 0..60 {
            for index in 0..300 {
                // The link takes a millisecond for a packet, and the path fifty.
                let now = Timestamp::from_nanos((1000 * (1 + burst) + index) * 1_000_000);
                let rtt = Duration::from_millis(50 + index);
                let mut ack = AckEvent::nothing_yet(now).with_rtt(rtt);
                ack.acked = MTU;
                ack.round_start = index % 100 == 0;
                ack.rate = Some(RateSample {
                    delivery_rate: Bandwidth::from_f64(1.2e6),
                    delivered: MTU * 50,
                    app_limited: index < 100,
                    prior_delivered: Bytes::ZERO,
                    in_flight_at_send: MTU * 50,
                    lost: Bytes::ZERO,
                });
                let seen = Seen {
                    wait: index as f64 / 50.0,
                    window_limited: true,
                    full: true,
                    after_pause: index == 0,
                };
                startup.on_ack(&ack, &seen, MTU);
            }
            windows.push(startup.window());
        }
        // Before the second one there was no pause to measure from.
        assert_eq!(windows[0], windows[59]);
    }

    /// The mean of a round of 20 packets, of which the last ten are late. Later rounds have the flight's own queue, or that of a moment.
    #[test]
    fn the_base_is_the_least_mean_of_the_first_rounds() {
        let mut startup = Startup::new(MTU);
        assert_eq!(startup.base_rtt(), None);
        for (round, rtt) in [60, 50, 70, 80, 90, 30, 30].into_iter().enumerate() {
            for index in 0..20 {
                let now =
                    Timestamp::from_nanos((100 + 1000 * round as u64 + 10 * index) * 1_000_000);
                let rtt = rtt + if index < 10 { 0 } else { 10 };
                let mut ack = AckEvent::nothing_yet(now).with_rtt(Duration::from_millis(rtt));
                ack.acked = MTU;
                ack.round_start = index == 0;
                let seen = Seen {
                    wait: 0.0,
                    window_limited: true,
                    full: true,
                    after_pause: false,
                };
                startup.on_ack(&ack, &seen, MTU);
            }
        }
        let base = startup.base_rtt().expect("rounds have ended");
        assert!((base - 0.055).abs() < 1e-9, "{base}");
    }

    /// Takes a round of 20 acknowledgements. Returns how many of them end startup.
    fn round(startup: &mut Startup, round: u64, rate: f64, rtt: u64, flight: Bytes) -> usize {
        let ends = (0..20).filter_map(|index| {
            let now = Timestamp::from_nanos((100 + round * 20 + index) * 3_000_000);
            let mut ack = AckEvent::nothing_yet(now).with_rtt(Duration::from_millis(rtt));
            ack.acked = MTU;
            ack.round = round;
            ack.round_start = index == 0;
            ack.rate = Some(RateSample {
                delivery_rate: Bandwidth::from_f64(rate),
                delivered: flight,
                app_limited: false,
                prior_delivered: Bytes::ZERO,
                in_flight_at_send: flight,
                lost: Bytes::ZERO,
            });
            let seen = Seen {
                wait: (rtt as f64 - 50.0) / 50.0,
                window_limited: true,
                full: true,
                after_pause: false,
            };
            startup.on_ack(&ack, &seen, MTU)
        });
        ends.count()
    }

    /// Fault: a queue that grew while the flow grew ended startup, at a twelfth of the link, though another flow's burst had made it.
    #[test]
    fn a_queue_is_the_flows_own_if_its_flight_grows_and_its_rate_does_not() {
        let mut startup = Startup::new(MTU);
        let (mut rate, mut flight) = (1e5, MTU * 10);
        // Another flow fills the buffer meanwhile, and leaves.
        for (number, rtt) in (0..).zip([50, 70, 90, 110, 50, 70, 90]) {
            assert_eq!(
                round(&mut startup, number, rate, rtt, flight),
                0,
                "{number}"
            );
            rate *= 1.6;
            flight = flight * 2;
        }
        // All of the growth is queue for one round, as where the other flow begins again, and for two.
        rate /= 1.6;
        assert_eq!(round(&mut startup, 7, rate, 180, flight), 0);
        assert!(round(&mut startup, 8, rate, 200, flight) > 0);
    }

    /// As in RFC 9406, section 4.2, others' queue that does not go away ends slow start.
    #[test]
    fn others_queue_is_borne_for_some_rounds() {
        let mut startup = Startup::new(MTU);
        let mut ended = None;
        for number in 0..10 {
            let (rate, flight) = (1e6 * 1.2_f64.powi(number), MTU * (10 * (number as u64 + 4)));
            let ends = round(&mut startup, number as u64, rate, 70, flight);
            if ends > 0 {
                ended = ended.or(Some(number));
            }
        }
        assert_eq!(ended, Some(3));
    }

    /// Fault: on a path whose acknowledgements come in batches, or whose delay varies, packets wait. The delivery rate was compared with that of a moment
    /// before, and startup ended at a hundredth of the link.
    #[test]
    fn a_wait_that_does_not_grow_is_no_queue() {
        let mut startup = Startup::new(MTU);
        let mut found = |number, rate, rtt| round(&mut startup, number, rate, rtt, MTU * 20);
        for number in 0..10 {
            assert_eq!(found(number, 1e5 * 2_f64.powi(number as i32), 60), 0);
        }
        // A queue makes packets wait for longer.
        assert_eq!(found(10, 1e8, 80), 0);
        assert!(found(11, 1e8, 100) > 0);
    }
}

//! The competing-flow detector, and the minimum flight in competitive mode.

use core::time::Duration;

use crate::event::AckEvent;
use crate::units::{Bandwidth, Bytes, Gain, Timestamp};

/// Detects flows that fill the queue.
///
/// A window sized from min RTT loses to flows that fill the buffer: the longer their queue, the smaller its share. Two
/// ProbeRTTs in a row that find a queue, with a loss between them, start competitive mode. Flows with this controller
/// do not start it: their ProbeRTTs synchronise, and they lose few packets after Startup.
///
/// Competitive mode uses the window of the BBR-S paper, two bandwidth-delay products. Two flows with this controller
/// may both have started it by mistake. The window therefore stays below the flight that path and queue have held. The
/// ProbeRTT of one flow then shows in the RTT of the others. They probe too, and all find the queue empty. A competing
/// flow that reduces its window after a loss also leaves the queue empty for a moment. Competitive mode therefore ends
/// only after several empty probes in a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct CompetingFlowDetector {
    state: State,
    /// The maximum RTT since a ProbeRTT first found a queue.
    max_rtt: Duration,
    /// When a ProbeRTT last found a queue in competitive mode.
    last_competed: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy)]
enum State {
    /// No competing flow is known.
    Normal {
        /// ProbeRTTs in a row that found a queue.
        queued_probes: u32,
        /// Whether a packet was lost or marked since the first of them.
        lost: bool,
    },
    Competitive(CompetitiveMode),
}

#[derive(Debug, Clone, Copy)]
struct CompetitiveMode {
    /// The time of the last ProbeRTT.
    last_probe: Timestamp,
    /// ProbeRTTs in a row that found no queue.
    empty_probes: u32,
    /// The current round and its minimum RTT.
    round: u64,
    round_min_rtt: Duration,
    /// The minimum RTT of the previous round, and the maximum of these since the last ProbeRTT.
    last_round_rtt: Duration,
    max_round_rtt: Duration,
    /// The share of the window that losses have left, in thousandths, and the round of the last cut.
    window_permille: u32,
    cut_round: u64,
}

impl CompetitiveMode {
    fn new(ack: &AckEvent, empty_probes: u32) -> Self {
        Self {
            last_probe: ack.now,
            empty_probes,
            round: ack.round,
            round_min_rtt: ack.rtt,
            last_round_rtt: ack.rtt,
            max_round_rtt: Duration::ZERO,
            window_permille: FULL_PERMILLE,
            cut_round: ack.round,
        }
    }

    /// The state after a ProbeRTT.
    fn after_probe(&self, ack: &AckEvent, empty_probes: u32) -> Self {
        Self {
            window_permille: self.window_permille,
            cut_round: self.cut_round,
            ..Self::new(ack, empty_probes)
        }
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        if ack.round == self.round {
            self.round_min_rtt = self.round_min_rtt.min(ack.rtt);
            return;
        }
        self.window_permille = (self.window_permille + REGROWTH).min(FULL_PERMILLE);
        self.last_round_rtt = self.round_min_rtt;
        self.max_round_rtt = self.max_round_rtt.max(self.last_round_rtt);
        self.round = ack.round;
        self.round_min_rtt = ack.rtt;
    }

    /// Whether the queue has become shorter: another flow has reduced its flight, perhaps in ProbeRTT.
    fn queue_dropped(&self, min_rtt: Duration) -> bool {
        let queue = |rtt: Duration| rtt.saturating_sub(min_rtt);
        queue(self.last_round_rtt) < QUEUE_DROP * queue(self.max_round_rtt)
    }
}

impl Default for CompetingFlowDetector {
    fn default() -> Self {
        Self {
            state: NORMAL,
            max_rtt: Duration::ZERO,
            last_competed: None,
        }
    }
}

impl CompetingFlowDetector {
    /// Packets were lost or marked.
    pub(super) fn on_congestion(&mut self, round: u64) {
        match &mut self.state {
            State::Normal { lost, .. } => *lost = true,
            State::Competitive(mode) if round > mode.cut_round => {
                mode.window_permille = (mode.window_permille * 39 / 40).max(MIN_PERMILLE);
                mode.cut_round = round;
            }
            State::Competitive(_) => {}
        }
    }

    /// Handles an acknowledgement outside ProbeRTT.
    #[inline]
    pub(super) fn on_ack(&mut self, ack: &AckEvent) {
        match &mut self.state {
            State::Normal {
                queued_probes: 0, ..
            } => return,
            State::Normal {
                queued_probes,
                lost,
            } => {
                if *queued_probes >= ENTRY_PROBES && *lost {
                    self.state = State::Competitive(CompetitiveMode::new(ack, 0));
                    self.last_competed = Some(ack.now);
                }
            }
            State::Competitive(mode) => mode.on_ack(ack),
        }
        self.max_rtt = self.max_rtt.max(ack.rtt);
    }

    /// ProbeRTT has ended. `found` is whether it saw the minimum RTT again.
    pub(super) fn on_probe(&mut self, ack: &AckEvent, found: bool) {
        self.state = match self.state {
            State::Normal {
                queued_probes: 0, ..
            } if !found => {
                self.max_rtt = ack.rtt;
                State::Normal {
                    queued_probes: 1,
                    lost: false,
                }
            }
            State::Normal {
                queued_probes,
                lost,
            } if !found => State::Normal {
                queued_probes: queued_probes.saturating_add(1),
                lost,
            },
            State::Competitive(mode) if !found => {
                self.last_competed = Some(ack.now);
                State::Competitive(mode.after_probe(ack, 0))
            }
            State::Competitive(mode) if mode.empty_probes + 1 < EXIT_PROBES => {
                State::Competitive(mode.after_probe(ack, mode.empty_probes + 1))
            }
            State::Normal { .. } | State::Competitive(_) => NORMAL,
        };
    }

    /// Whether a ProbeRTT is due in competitive mode; `None` in normal mode.
    #[inline]
    pub(super) fn is_due(&self, now: Timestamp, min_rtt: Duration) -> Option<bool> {
        let State::Competitive(mode) = &self.state else {
            return None;
        };
        let elapsed = now.saturating_since(mode.last_probe);
        let interval = if mode.empty_probes > 0 {
            MIN_PROBE_INTERVAL
        } else {
            MAX_PROBE_INTERVAL
        };
        Some(elapsed > interval || (elapsed > MIN_PROBE_INTERVAL && mode.queue_dropped(min_rtt)))
    }

    /// Whether a competing flow kept a queue within the last 30 s. A long RTT is then no evidence of a longer path.
    pub(super) fn competed_recently(&self, now: Timestamp) -> bool {
        self.last_competed
            .is_some_and(|at| now.saturating_since(at) < COMPETITION_MEMORY)
    }

    /// The minimum flight; zero in normal mode.
    #[inline]
    pub(super) fn min_inflight(&self, bandwidth: Bandwidth, min_rtt: Duration) -> Bytes {
        match self.state {
            State::Normal { .. } => Bytes::ZERO,
            State::Competitive(mode) => {
                let bdp = bandwidth.bytes_in(min_rtt);
                let fits = MAX_FILL * bandwidth.bytes_in(self.max_rtt);
                Gain::new(mode.window_permille, FULL_PERMILLE) * (WINDOW_GAIN * bdp).min(fits)
            }
        }
    }
}

const NORMAL: State = State::Normal {
    queued_probes: 0,
    lost: false,
};

/// ProbeRTTs in a row that find a queue, before competitive mode begins.
const ENTRY_PROBES: u32 = 2;

/// ProbeRTTs in a row that find no queue, before competitive mode ends. Beside one CUBIC flow with half of the link, a
/// ProbeRTT that follows CUBIC's reduction finds no queue.
const EXIT_PROBES: u32 = 3;

/// A queue below this share of its maximum counts as shorter.
const QUEUE_DROP: Gain = Gain::new(4, 5);

/// The minimum time between two ProbeRTTs, and the time to the next one after an empty probe.
const MIN_PROBE_INTERVAL: Duration = Duration::from_millis(2500);

/// The maximum time between two ProbeRTTs (BBR-S: every 10 s).
const MAX_PROBE_INTERVAL: Duration = Duration::from_secs(10);

const COMPETITION_MEMORY: Duration = Duration::from_secs(30);

/// The paper's window, in bandwidth-delay products (BBR-S).
const WINDOW_GAIN: Gain = Gain::new(2, 1);

/// The share of the flight that path and queue have held. The rest leaves room in which the ProbeRTT of another flow
/// shows.
const MAX_FILL: Gain = Gain::new(19, 20);

/// Each round with a loss takes a fortieth of the window. Each round without a loss returns a two-hundredth. If the
/// bandwidth or the RTT is overestimated, the window overflows the path; this rule limits the loss to a packet every
/// few round trips.
const FULL_PERMILLE: u32 = 1000;
const REGROWTH: u32 = 5;
const MIN_PERMILLE: u32 = 250;

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

    /// A detector that has found a queue twice, with a loss in between.
    fn competing() -> CompetingFlowDetector {
        let mut competing_flows = CompetingFlowDetector::default();
        competing_flows.on_probe(&ack(3.0, 30, 80), false);
        competing_flows.on_congestion(35);
        competing_flows.on_ack(&ack(4.0, 40, 100));
        competing_flows.on_probe(&ack(6.0, 60, 80), false);
        competing_flows.on_ack(&ack(6.1, 61, 90));
        competing_flows
    }

    #[test]
    fn two_queued_probes_and_a_loss_between_them_start_competitive_mode() {
        assert_ne!(competing().min_inflight(RATE, MIN_RTT), Bytes::ZERO);

        let mut patient = CompetingFlowDetector::default();
        // A loss before the first probe, as when a new flow starts, does not count.
        patient.on_congestion(35);
        for look in 1..9 {
            let seconds = 3.0 * f64::from(look);
            patient.on_probe(&ack(seconds, 30, 80), false);
            patient.on_ack(&ack(seconds + 0.1, 31, 80));
            assert_eq!(patient.min_inflight(RATE, MIN_RTT), Bytes::ZERO);
            assert_eq!(patient.is_due(ack(99.0, 99, 80).now, MIN_RTT), None);
        }

        let mut interrupted = CompetingFlowDetector::default();
        for found in [false, true, false] {
            interrupted.on_probe(&ack(3.0, 30, 80), found);
            interrupted.on_congestion(35);
            interrupted.on_ack(&ack(3.1, 31, 80));
            assert_eq!(interrupted.min_inflight(RATE, MIN_RTT), Bytes::ZERO);
        }
    }

    #[test]
    fn the_window_is_two_bdp_but_leaves_room_in_the_queue() {
        // The maximum RTT was 100 ms.
        assert_eq!(competing().min_inflight(RATE, MIN_RTT), Bytes(95_000));
        let mut competing_flows = competing();
        competing_flows.on_ack(&ack(6.2, 62, 250));
        assert_eq!(competing_flows.min_inflight(RATE, MIN_RTT), Bytes(100_000));
    }

    #[test]
    fn three_empty_probes_in_a_row_end_competitive_mode() {
        let mut competing_flows = competing();
        for found in [true, true, false, true, true] {
            competing_flows.on_probe(&ack(9.0, 90, 50), found);
            assert_ne!(competing_flows.min_inflight(RATE, MIN_RTT), Bytes::ZERO);
        }
        competing_flows.on_probe(&ack(9.0, 90, 50), true);
        assert_eq!(competing_flows.min_inflight(RATE, MIN_RTT), Bytes::ZERO);
        // For 30 s after a probe last found a queue, a long RTT is no evidence of a longer path.
        assert!(competing_flows.competed_recently(ack(38.9, 0, 50).now));
        assert!(!competing_flows.competed_recently(ack(39.1, 0, 50).now));
    }

    /// Trap: an overestimated bandwidth or RTT makes a window that overflows the queue in every round.
    #[test]
    fn losses_take_from_the_window_until_there_are_few() {
        let mut competing_flows = competing();
        for round in 61..=63 {
            // One cut per round, and no cut in the round in which competitive mode began.
            competing_flows.on_congestion(round);
            competing_flows.on_congestion(round);
        }
        assert_eq!(competing_flows.min_inflight(RATE, MIN_RTT), Bytes(90_250));
        competing_flows.on_ack(&ack(7.0, 64, 90));
        competing_flows.on_ack(&ack(7.1, 65, 90));
        assert_eq!(competing_flows.min_inflight(RATE, MIN_RTT), Bytes(91_200));
        for round in 66..999 {
            competing_flows.on_congestion(round);
        }
        assert_eq!(competing_flows.min_inflight(RATE, MIN_RTT), Bytes(23_750));
    }

    /// Trap: flows with this controller in competitive mode probe one after the other, and each finds the others'
    /// queue.
    #[test]
    fn a_flow_that_sees_others_drain_probes_too() {
        let looks = |competing_flows: &CompetingFlowDetector, seconds| {
            let now = ack(seconds, 0, 50).now;
            competing_flows
                .is_due(now, MIN_RTT)
                .expect("competitive mode")
        };
        let mut competing_flows = competing();
        assert!(!looks(&competing_flows, 9.0));
        assert!(looks(&competing_flows, 16.2));
        for (round, rtt) in [(80, 100), (81, 99), (82, 88), (83, 100)] {
            competing_flows.on_ack(&ack(9.0, round, rtt));
        }
        // The queue was 38 ms in the last complete round, and 50 ms before.
        assert!(looks(&competing_flows, 9.0));
        assert!(!looks(&competing_flows, 8.0));
        // After an empty probe the next one is due sooner.
        competing_flows.on_probe(&ack(9.0, 90, 50), true);
        assert!(!looks(&competing_flows, 11.4));
        assert!(looks(&competing_flows, 11.6));
    }
}

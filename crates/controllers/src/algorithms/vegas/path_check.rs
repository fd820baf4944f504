//! Tells a persistent queue of the sender from a longer path.

use core::time::Duration;

use super::VegasConfig;
use crate::loss_based::round_trips::Round;
use crate::loss_based::window::Window;
use crate::units::{Bytes, Gain, Timestamp, saturating_nanos};

/// Measures the base RTT after the window has shrunk for a while without a shorter RTT.
///
/// A queue of the sender drains if the window shrinks by a packet each round. A delay that stays is the path's, or
/// another flow's queue. The check keeps half of the bandwidth-delay product in flight for a while, as BBR's ProbeRTT
/// does (draft-ietf-ccwg-bbr, ProbeRTTCwndGain). The sender then has no queue, and the minimum RTT is the path's
/// without it.
#[derive(Debug, Clone, Copy)]
pub(super) struct PathCheck {
    /// How long a queue stands before a check; zero for no checks.
    patience: Duration,
    /// A queue of more packets than this is long.
    long: u16,
    /// How long a delay stands before it counts as a queue.
    span: Duration,
    phase: Phase,
    /// The next check begins no earlier.
    not_before: Timestamp,
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    /// Waits for a long queue. The time since which it has been long, if it is.
    Watching { long_since: Option<Timestamp> },
    /// The flight is small.
    Draining(Draining),
}

#[derive(Debug, Clone, Copy)]
struct Draining {
    /// The window before, and its round-trip time.
    window: Bytes,
    rtt: Duration,
    /// When enough has been seen.
    until: Timestamp,
    /// Rounds that have ended since the window was cut.
    rounds: u8,
    min_rtt: Duration,
}

/// What there is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Go on.
    Nothing,
    /// The window is the check's for now.
    Busy,
    /// The path takes so long without the sender's own queue.
    Path(Duration),
}

impl PathCheck {
    pub(super) fn new(config: &VegasConfig) -> Self {
        Self {
            patience: config.patience,
            long: config.beta,
            span: config.standing,
            phase: Phase::Watching { long_since: None },
            not_before: Timestamp::ZERO,
        }
    }

    /// `round` has ended, in which `backlog` of the window waited; `mtu` is the largest datagram.
    pub(super) fn on_round(
        &mut self,
        now: Timestamp,
        round: Round,
        backlog: Bytes,
        mtu: Bytes,
        window: &mut Window,
    ) -> Verdict {
        match &mut self.phase {
            Phase::Watching { long_since } => {
                if self.patience.is_zero() || backlog <= mtu * u64::from(self.long) {
                    *long_since = None;
                    return Verdict::Nothing;
                }
                let since = *long_since.get_or_insert(now);
                if now < since + self.patience || now < self.not_before {
                    return Verdict::Nothing;
                }
                let flowing = window.bytes() - backlog;
                self.phase = Phase::Draining(Draining {
                    window: window.bytes(),
                    rtt: round.min_rtt,
                    until: now + self.span,
                    rounds: 0,
                    min_rtt: Duration::MAX,
                });
                *window = Window::new((HALF * flowing).max(mtu * MIN_PACKETS));
                Verdict::Busy
            }
            Phase::Draining(draining) => {
                draining.rounds = draining.rounds.saturating_add(1);
                if draining.rounds <= DRAINING_ROUNDS {
                    return Verdict::Busy;
                }
                draining.min_rtt = draining.min_rtt.min(round.min_rtt);
                if now < draining.until {
                    return Verdict::Busy;
                }
                let (path, before) = (draining.min_rtt, *draining);
                self.phase = Phase::Watching { long_since: None };
                self.not_before = now + INTERVAL;
                // What flowed before, at the path's round-trip time: without a queue of its own that is all of it.
                let [part, whole] = [path, before.rtt].map(saturating_nanos);
                let flowed = before.window.share(Bytes(part), Bytes(whole));
                *window = Window::new(flowed.min(before.window));
                Verdict::Path(path)
            }
        }
    }

    /// The window that a loss reduces: of a check under way the one to return to. The check ends.
    pub(super) fn interrupt(&mut self, window: Bytes) -> Bytes {
        match core::mem::replace(&mut self.phase, Phase::Watching { long_since: None }) {
            Phase::Watching { .. } => window,
            Phase::Draining(draining) => draining.window,
        }
    }
}

/// BBR's ProbeRTT keeps half of the bandwidth-delay product (draft-ietf-ccwg-bbr, ProbeRTTCwndGain), and four packets at least.
const HALF: Gain = Gain::new(1, 2);
const MIN_PACKETS: u64 = 4;

/// The round in which the window is cut ends with packets that left before, and in the next one the queue drains.
const DRAINING_ROUNDS: u8 = 2;

/// BBR looks at the path as often (draft-ietf-ccwg-bbr, ProbeRTTInterval).
const INTERVAL: Duration = Duration::from_secs(5);

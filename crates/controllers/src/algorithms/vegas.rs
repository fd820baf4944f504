//! `vegas`: keeps a few packets in the bottleneck's queue.
//!
//! After L. S. Brakmo and L. L. Peterson, "TCP Vegas: End to End Congestion Avoidance on a Global Internet", IEEE JSAC
//! 13(8), 1995.

mod path_check;
mod standing_queue;

use core::time::Duration;

use self::path_check::{PathCheck, Verdict};
use self::standing_queue::StandingQueue;
use crate::config::{ConfigError, ControllerConfig, Environment};
use crate::controller::Controller;
use crate::event::{AckEvent, CongestionSignal};
use crate::loss_based::avoidance::{Avoidance, Entry, View};
use crate::loss_based::controller::LossBased;
use crate::loss_based::round_trips::Round;
use crate::loss_based::slow_start::{SlowStart, double};
use crate::loss_based::window::Window;
use crate::loss_based::{HOST_DELAY, require_host_delay, require_reduction, share_left};
use crate::registry::{Preset, Registered};
use crate::text::fields;
use crate::units::{Bytes, Gain, Timestamp};

/// `vegas`: TCP Vegas.
///
/// # Where the paper is silent
/// - A round counts with the least of its round-trip times, as in Linux. The paper times one segment per round, which
///   a delayed acknowledgement or the sender's own burst spoils.
/// - A loss halves the window, as in Linux. The paper cuts a quarter, but only where its own retransmission timer sees
///   the loss earlier than Reno would; QUIC's loss detection is the host's.
/// - Slow start leaves for the window that just fills the pipe at the measured round-trip times, and a packet (Linux).
/// - The base round-trip time is the least ever. It is forgotten after persistent congestion only, as in Linux.
///
/// # Where we recommend something else
/// The paper's preset does none of these.
///
/// - A link that hands packets over in lumps, or that is blocked now and then, delays whole rounds. The paper's Vegas
///   takes that for its own queue, and stays at ten packets on a link that carries hundreds. What delays the sender
///   itself is told apart by what CoDel goes by (RFC 8289, section 3): a queue of its own stands, the link's delays come
///   and go ([`standing`](VegasConfig::standing)).
/// - A millisecond more than the base round-trip time is no queue: the hosts may add that
///   ([`host_delay`](VegasConfig::host_delay)). The paper's Vegas leaves short paths idle.
/// - The base round-trip time can rise. A queue that stays long for a second, though the window shrinks, may be a longer path. The
///   sender then drains what is its own, by half of a window, and the least round-trip time of that is the new base
///   ([`patience`](VegasConfig::patience)). The paper's Vegas keeps 1 % of a link whose round-trip time becomes ten times as
///   long.
/// - When the window has grown for a second and by beta packets, none of them waits, and nothing was lost for 10 s, the link has
///   room: the window doubles in every other round, as in slow start, until a round shows a queue ([`resume`](VegasConfig::resume)). The paper's
///   Vegas grows by a packet per round.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct VegasConfig {
    /// Below so many packets in the queue the window grows by one per round. At least 1; 2 (section III-B).
    pub alpha: u16,
    /// Above so many packets it shrinks by one per round. At least `alpha`; 4 (section III-B).
    pub beta: u16,
    /// With so many packets in the queue slow start ends. At least 1; 1 (section III-C).
    pub gamma: u16,
    /// What is left of the window after a loss: a share above 0 and below 1. One half (Reno).
    pub reduction: Gain,
    /// What is left of it after a mark (ECN CE): a share above 0 and below 1. As recommended, 0.8 (RFC 8511, section 3.1, for
    /// Reno); as in the paper, which knows no marks, one half.
    pub mark_reduction: Gain,
    /// A queue is the sender's own once it has stood for so long: a round is judged by the least round-trip time of
    /// all rounds that ended within this time. At most 10 s, and zero to judge each round by itself, as in the paper.
    pub standing: Duration,
    /// What the hosts may add to a round-trip time: no queue. At most 100 ms; 1 ms, and zero in the paper.
    pub host_delay: Duration,
    /// A queue of more than beta packets that stands for so long leads to a check of the base round-trip time, every 5 s at
    /// most. At most 1 h; 1 s, and zero for never, as in the paper.
    pub patience: Duration,
    /// Whether the window doubles again when it has grown for a second, and by beta packets, without a queue.
    pub resume: bool,
}

fields!(VegasConfig {
    alpha,
    beta,
    gamma,
    reduction,
    mark_reduction,
    standing,
    host_delay,
    patience,
    resume
});

impl VegasConfig {
    /// The paper's values.
    pub const fn paper() -> Self {
        Self {
            alpha: 2,
            beta: 4,
            gamma: 1,
            reduction: Gain::new(1, 2),
            mark_reduction: Gain::new(1, 2),
            standing: Duration::ZERO,
            host_delay: Duration::ZERO,
            patience: Duration::ZERO,
            resume: false,
        }
    }
}

impl Default for VegasConfig {
    /// What we recommend: the paper's alpha, beta and gamma, and what its preset leaves out.
    fn default() -> Self {
        Self {
            mark_reduction: MARK_REDUCTION,
            standing: STANDING,
            host_delay: HOST_DELAY,
            patience: PATIENCE,
            resume: true,
            ..Self::paper()
        }
    }
}

impl Registered for VegasConfig {
    const NAME: &'static str = "vegas";
    const DESCRIPTION: &'static str = "Vegas: two to four packets in the bottleneck's queue";
    const SOURCE: &'static str = "L. S. Brakmo, L. L. Peterson, TCP Vegas: End to End Congestion Avoidance on a Global Internet, IEEE JSAC 13(8), 1995";

    fn preset(preset: Preset) -> Self {
        match preset {
            Preset::Paper => Self::paper(),
            _ => Self::default(),
        }
    }
}

impl ControllerConfig for VegasConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        let (alpha, beta) = (self.alpha, self.beta);
        ConfigError::require(alpha >= 1, "alpha", alpha, "at least 1 packet")?;
        ConfigError::require(beta >= alpha, "beta", beta, "at least alpha")?;
        ConfigError::require(self.gamma >= 1, "gamma", self.gamma, "at least 1 packet")?;
        ConfigError::require(
            self.standing <= MAX_STANDING,
            "standing",
            self.standing.as_secs_f64(),
            "at most 10 s",
        )?;
        require_host_delay(self.host_delay)?;
        ConfigError::require(
            self.patience <= MAX_PATIENCE,
            "patience",
            self.patience.as_secs_f64(),
            "at most 1 h",
        )?;
        require_reduction("mark_reduction", self.mark_reduction)?;
        require_reduction("reduction", self.reduction)
    }

    fn build(&self, environment: &Environment) -> Result<Box<dyn Controller>, ConfigError> {
        self.validate()?;
        let avoidance = Vegas {
            config: *self,
            queue: self.standing_queue(),
            check: PathCheck::new(self),
            base: None,
            quiet: 0,
            quiet_since: Timestamp::ZERO,
            recovered: None,
        };
        Ok(Box::new(LossBased::new(Self::NAME, avoidance, environment)))
    }
}

impl VegasConfig {
    fn standing_queue(&self) -> StandingQueue {
        StandingQueue::new(self.standing, self.host_delay)
    }
}

/// Vegas' congestion avoidance: one decision per round.
#[derive(Debug, Clone, Copy)]
struct Vegas {
    config: VegasConfig,
    queue: StandingQueue,
    check: PathCheck,
    /// A base round-trip time that the check has found.
    base: Option<Duration>,
    /// Rounds in a row after which less than gamma packets waited.
    quiet: u32,
    /// When the first of them ended.
    quiet_since: Timestamp,
    /// When the last recovery ended.
    recovered: Option<Timestamp>,
}

impl Vegas {
    /// How fast the window grows where there is no queue: by a packet, or twofold in every other round once it has grown by beta
    /// packets and none of them waits.
    fn grows(&self) -> Growth {
        let room = self.quiet.checked_sub(u32::from(self.config.beta));
        match room {
            Some(rounds) if rounds.is_multiple_of(2) => Growth::Double,
            Some(_) => Growth::Wait,
            None => Growth::Packet,
        }
    }

    fn on_round(&mut self, ack: &AckEvent, round: Round, view: &View<'_>, window: &mut Window) {
        let packets = |count: u16| view.mtu * u64::from(count);
        let backlog = self.queue.after(round, ack.now, window.bytes(), view.trips);
        match self
            .check
            .on_round(ack.now, round, backlog, view.mtu, window)
        {
            Verdict::Nothing => {}
            Verdict::Busy => {
                self.quiet = 0;
                return;
            }
            Verdict::Path(base) => {
                self.base = Some(base);
                self.queue.forget();
                // A longer path is another one: its buffer has not overflowed yet.
                if view.trips.base().is_some_and(|before| base > 2 * before) {
                    self.recovered = None;
                }
                return;
            }
        }
        // A flight that is not limited by the window queues less than the window would.
        if !view.window_limited {
            self.quiet = 0;
            return;
        }
        if self.config.resume {
            self.count_quiet(ack.now, round, view, window);
        }
        if backlog < packets(self.config.alpha) {
            if self.grows() == Growth::Packet {
                // No faster than slow start, where packets are smaller than the MTU.
                window.grow(view.mtu.min(round.acked));
            }
        } else if backlog > packets(self.config.beta) {
            *window = Window::new(window.bytes() - view.mtu);
        }
    }

    /// Counts rounds without a queue. What the window has doubled into one is taken back, as at the end of slow start.
    fn count_quiet(&mut self, now: Timestamp, round: Round, view: &View<'_>, window: &mut Window) {
        let size = window.bytes();
        let tolerated = self.queue.tolerated();
        let waits = view.trips.backlog(size, round.min_rtt, tolerated);
        // A buffer shorter than what the hosts may add shows by its losses only.
        let lost = self
            .recovered
            .is_some_and(|recovered| now < recovered + LOSS_MEMORY);
        if !lost && waits < view.mtu * u64::from(self.config.gamma) {
            if self.quiet == 0 {
                self.quiet_since = now;
            }
            let rounds = self.quiet.saturating_add(1);
            if rounds < u32::from(self.config.beta) || now >= self.quiet_since + ROOM {
                self.quiet = rounds;
            }
            return;
        }
        if self.quiet > u32::from(self.config.beta) {
            *window = Window::new((size - waits + view.mtu).min(size));
        }
        self.quiet = 0;
    }
}

/// How the window grows for a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Growth {
    /// By a packet.
    Packet,
    /// By what is acknowledged.
    Double,
    /// Not at all: the round before is being measured.
    Wait,
}

impl Avoidance for Vegas {
    type SlowStart = EveryOtherRound;

    fn slow_start(&self) -> EveryOtherRound {
        EveryOtherRound {
            gamma: self.config.gamma,
            growing: true,
            queue: self.config.standing_queue(),
        }
    }

    fn enter(&mut self, now: Timestamp, entry: Entry, _window: Bytes, _mtu: Bytes) {
        if entry == Entry::Recovery {
            self.recovered = Some(now);
        }
    }

    fn on_ack(&mut self, ack: &AckEvent, view: &View<'_>, window: &mut Window) {
        if let Some(round) = view.ended {
            self.on_round(ack, round, view, window);
        }
        if view.window_limited && self.grows() == Growth::Double {
            double(window, ack.acked, None);
        }
    }

    fn reduce(&mut self, window: Bytes, signal: CongestionSignal) -> Bytes {
        self.quiet = 0;
        let config = &self.config;
        let left = share_left(signal, config.reduction, config.mark_reduction);
        left * self.check.interrupt(window)
    }

    fn on_persistent_congestion(&mut self) {
        self.queue.forget();
    }

    fn take_base(&mut self) -> Option<Duration> {
        self.base.take()
    }
}

/// Vegas' slow start: doubles in every other round only, so that the rounds between are measured at a fixed window.
#[derive(Debug, Clone, Copy)]
struct EveryOtherRound {
    gamma: u16,
    growing: bool,
    queue: StandingQueue,
}

impl SlowStart for EveryOtherRound {
    fn on_ack(&mut self, ack: &AckEvent, view: &View<'_>, window: &mut Window) -> bool {
        if let Some(round) = view.ended {
            let size = window.bytes();
            let stands = self.queue.after(round, ack.now, size, view.trips);
            if view.window_limited {
                if stands > view.mtu * u64::from(self.gamma) {
                    // The window has grown since: more waits by now than has stood all the time.
                    let tolerated = self.queue.tolerated();
                    let waits = view.trips.backlog(size, round.min_rtt, tolerated);
                    *window = Window::new((size - waits + view.mtu).min(size));
                    return true;
                }
                self.growing = !self.growing;
            }
        }
        if self.growing && view.window_limited {
            double(window, ack.acked, view.threshold);
        }
        false
    }
}

/// Three times CoDel's interval (RFC 8289, section 4.3): links are blocked for longer than queues oscillate.
const STANDING: Duration = Duration::from_millis(300);

/// RFC 8511, section 3.1 (beta_ecn for Reno).
const MARK_REDUCTION: Gain = Gain::new(4, 5);

/// Three times as long as a queue takes to stand: by then the window has shrunk in several rounds, on long paths too.
const PATIENCE: Duration = Duration::from_secs(1);
const MAX_PATIENCE: Duration = Duration::from_secs(3600);

/// How long a link has to have room: the rate of a wireless link rises for less and falls again, and a window that has doubled
/// by then is a queue. As long as a queue has to stand before it is looked into.
const ROOM: Duration = PATIENCE;

/// BBR believes what it knows of a path for as long (draft-ietf-ccwg-bbr, MinRTTFilterLen).
const LOSS_MEMORY: Duration = Duration::from_secs(10);

/// A Vegas that waited for longer would fill any buffer before it noticed.
const MAX_STANDING: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests;

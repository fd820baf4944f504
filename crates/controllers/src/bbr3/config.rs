//! The configuration of the BBRv3 core, for every bandwidth filter.

use core::time::Duration;

use crate::config::{ConfigError, WindowPolicy};
use crate::text::{fields, words};
use crate::units::Gain;

/// The parameters that do not depend on the bandwidth filter.
///
/// The sources are draft-ietf-ccwg-bbr for BBRv3 and Google's alpha release of BBRv2 for Linux (`tcp_bbr2.c`) for BBRv2.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Bbr3CoreConfig {
    /// Pacing rate in Startup, as a multiple of the bandwidth. 1 to 4, above 1; 2.77, in BBRv2 2.885.
    pub startup_pacing_gain: Gain,
    /// Window in Startup and Drain, in bandwidth-delay products. 1 to 4; 2, in BBRv2 2.885.
    pub startup_window_gain: Gain,
    /// Pacing rate in Drain. Below 1; 0.5, in BBRv2 1/2.885.
    pub drain_pacing_gain: Gain,
    /// Pacing rate in ProbeBW's Down. Below 1; 0.9, in BBRv2 0.75.
    pub down_pacing_gain: Gain,
    /// Pacing rate in ProbeBW's Up. 1 to 4, above 1; 1.25.
    pub up_pacing_gain: Gain,
    /// Window in ProbeBW, in bandwidth-delay products. 1 to 4; 2.
    pub window_gain: Gain,
    /// Window in Up, in bandwidth-delay products. 1 to 4; 2.25, in BBRv2 2.
    pub up_window_gain: Gain,
    /// Window in ProbeRTT, in bandwidth-delay products. Above 0 and up to 1; 0.5.
    pub probe_rtt_gain: Gain,
    /// A flight that loses more than this share was too large. Below 1; 2 %.
    pub loss_threshold: Gain,
    /// Losses of up to this many packets are never above the threshold. 0 to 10. None in BBRv2 and BBRv3: there a
    /// single loss is too much for a flight of fewer than 50 packets, so that little random loss limits a slow path. We
    /// recommend 1.
    pub tolerated_losses: u32,
    /// The minimum factor of a bound after a round with losses. Below 1; 0.7.
    pub beta: Gain,
    /// The share of the long-term bound to leave to others. Below 1; 0.15.
    pub headroom: Gain,
    /// Ranges of packets lost in a round that end Startup, if the losses are above the threshold. 1 to 100; 6, in BBRv2 8.
    pub startup_lost_ranges: u32,
    /// What ends ProbeBW's Up, besides losses.
    pub up_exit: UpExit,
    /// When to probe. [`Probing::WhileUnbounded`]: Up ends after a round, once the filter has more than lower bounds; as long
    /// as it has nothing else, the next one is due after eight rounds.
    pub probing: Probing,
    /// Leave Startup also once the RTT reaches this multiple of its minimum. Above 1; `None` in BBRv2 and BBRv3.
    pub startup_exit_rtt: Option<Gain>,
    /// How long a min RTT is valid. 1 s to 1 h; 10 s.
    pub min_rtt_window: Duration,
    /// Whether ProbeRTT starts early if the RTT stays above that of a full window for a second, and replaces min RTT at
    /// once if the smaller flight does not shorten the RTT: the path has become longer. Off in BBRv2 and BBRv3.
    pub check_longer_path: bool,
    /// The time without an equal RTT sample after which ProbeRTT starts. 1 s to `min_rtt_window`; 10 s, for every flow,
    /// so that they drain at the same time. In BBRv2, and in earlier versions of the draft, 5 s.
    pub probe_rtt_interval: Duration,
    /// The pacing rate as a share of the bandwidth, so that a queue can only shrink. 0.5 to 1; 0.99.
    pub pacing_margin: Gain,
    /// Whether to respond to ECN marks, in proportion to the share of acknowledgements with marks: BBRv2's response,
    /// which its alpha release limits to RTTs up to 5 ms. The draft requires a response without defining it. Turn this
    /// off only on hosts that send packets without ECT.
    pub respond_to_marks: bool,
    /// The window always has room for what the bandwidth brings in this time: what the ends of the path hold back to handle it
    /// at once, however short the path is. Up to 10 ms; none in the draft, whose budget for a QUIC sender is one send quantum
    /// in the simplest case (section "BBR.offload_budget"). We recommend 3 ms: the three quanta that it has for senders and
    /// receivers with segmentation offload, as quinn is, without the 64 KB that a quantum is bounded by: receivers that wake
    /// up after a millisecond have more to acknowledge on fast paths.
    pub offload_time: Duration,
    /// How a transport without pacing uses the window.
    pub window_policy: WindowPolicy,
}

fields!(Bbr3CoreConfig {
    startup_pacing_gain,
    startup_window_gain,
    drain_pacing_gain,
    down_pacing_gain,
    up_pacing_gain,
    window_gain,
    up_window_gain,
    probe_rtt_gain,
    loss_threshold,
    tolerated_losses,
    beta,
    headroom,
    startup_lost_ranges,
    up_exit,
    probing,
    startup_exit_rtt,
    min_rtt_window,
    check_longer_path,
    probe_rtt_interval,
    pacing_margin,
    respond_to_marks,
    offload_time,
    window_policy
});

/// What ends ProbeBW's Up, besides losses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum UpExit {
    /// Three rounds without growth of the delivery rate (BBRv3).
    Plateau,
    /// A min RTT, and feedback to a flight of Up's pacing gain times the bandwidth-delay product (BBRv2). If the host
    /// keeps the flight smaller, the plateau ends it.
    Flight,
}

words!(UpExit {
    Plateau = "plateau",
    Flight = "flight",
});

/// When the gain cycle sends faster than the estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Probing {
    /// In one phase of eight, as in the papers: a maximum filter detects more bandwidth in no other way.
    EveryCycle,
    /// Only while the filter has nothing but lower bounds. Samples of a busy path show more bandwidth without probing,
    /// and a probe would only add to the queue.
    WhileUnbounded,
}

words!(Probing {
    EveryCycle = "every-cycle",
    WhileUnbounded = "while-unbounded",
});

impl Bbr3CoreConfig {
    /// BBRv3, as draft-ietf-ccwg-bbr has it.
    pub const fn draft() -> Self {
        Self {
            // Section "Summary of Control Behavior in the State Machine".
            startup_pacing_gain: Gain::percent(277),
            startup_window_gain: Gain::new(2, 1),
            drain_pacing_gain: Gain::new(1, 2),
            down_pacing_gain: Gain::percent(90),
            up_pacing_gain: Gain::new(5, 4),
            window_gain: Gain::new(2, 1),
            up_window_gain: Gain::new(9, 4),
            probe_rtt_gain: Gain::new(1, 2),
            // Section "Core Algorithm Design Parameters".
            loss_threshold: Gain::percent(2),
            tolerated_losses: 0,
            beta: Gain::percent(70),
            headroom: Gain::percent(15),
            // Section "Exiting Startup Based on Packet Loss".
            startup_lost_ranges: 6,
            // Section "Exit Conditions for Bandwidth Probing".
            up_exit: UpExit::Plateau,
            probing: Probing::EveryCycle,
            startup_exit_rtt: None,
            // Section "ProbeRTT and min_rtt Parameters and State".
            min_rtt_window: Duration::from_secs(10),
            check_longer_path: false,
            probe_rtt_interval: Duration::from_secs(10),
            // Section "Pacing State and Parameters".
            pacing_margin: Gain::percent(99),
            respond_to_marks: true,
            offload_time: Duration::ZERO,
            window_policy: WindowPolicy::Window,
        }
    }

    /// BBRv2, as its alpha release for Linux has it.
    ///
    /// These parts stay as in BBRv3: Drain ends after at most three rounds, losses cause no packet conservation, and
    /// Refill ends with its round.
    pub const fn v2() -> Self {
        Self {
            startup_pacing_gain: Gain::new(2885, 1000),
            startup_window_gain: Gain::new(2885, 1000),
            drain_pacing_gain: Gain::new(1000, 2885),
            down_pacing_gain: Gain::percent(75),
            up_window_gain: Gain::new(2, 1),
            startup_lost_ranges: 8,
            up_exit: UpExit::Flight,
            probe_rtt_interval: Duration::from_secs(5),
            ..Self::draft()
        }
    }

    /// The recommended values: a window near the knee on transports without pacing, and no response to single losses.
    #[must_use]
    pub const fn tuned(mut self) -> Self {
        self.tolerated_losses = 1;
        self.check_longer_path = true;
        self.offload_time = Duration::from_millis(3);
        self.window_policy = WindowPolicy::RttCapped;
        self
    }

    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        for (field, gain) in [
            ("startup_pacing_gain", self.startup_pacing_gain),
            ("up_pacing_gain", self.up_pacing_gain),
        ] {
            let value = gain.as_f64();
            let holds = gain.grows() && value <= LARGEST_GAIN;
            ConfigError::require(holds, field, value, "above 1 and up to 4")?;
        }
        for (field, gain) in [
            ("startup_window_gain", self.startup_window_gain),
            ("window_gain", self.window_gain),
            ("up_window_gain", self.up_window_gain),
        ] {
            let value = gain.as_f64();
            let holds = (1.0..=LARGEST_GAIN).contains(&value);
            ConfigError::require(holds, field, value, "1 to 4")?;
        }
        for (field, gain) in [
            ("drain_pacing_gain", self.drain_pacing_gain),
            ("down_pacing_gain", self.down_pacing_gain),
            ("loss_threshold", self.loss_threshold),
            ("beta", self.beta),
            ("headroom", self.headroom),
        ] {
            let value = gain.as_f64();
            let holds = value > 0.0 && gain.shrinks();
            ConfigError::require(holds, field, value, "above 0 and below 1")?;
        }
        let share = self.probe_rtt_gain.as_f64();
        ConfigError::require(
            share > 0.0 && share <= 1.0,
            "probe_rtt_gain",
            share,
            "above 0 and up to 1",
        )?;
        ConfigError::require(
            (1..=100).contains(&self.startup_lost_ranges),
            "startup_lost_ranges",
            self.startup_lost_ranges,
            "1 to 100",
        )?;
        ConfigError::require(
            self.tolerated_losses <= 10,
            "tolerated_losses",
            self.tolerated_losses,
            "up to 10 packets",
        )?;
        ConfigError::require(
            self.offload_time <= MAX_OFFLOAD,
            "offload_time",
            format!("{:?}", self.offload_time),
            "up to 10 ms",
        )?;
        if let Some(gain) = self.startup_exit_rtt {
            ConfigError::require(gain.grows(), "startup_exit_rtt", gain.as_f64(), "above 1")?;
        }
        let (window, interval) = (self.min_rtt_window, self.probe_rtt_interval);
        ConfigError::require(
            (MIN_WINDOW..=MAX_WINDOW).contains(&window),
            "min_rtt_window",
            format!("{window:?}"),
            "1 s to 1 h",
        )?;
        ConfigError::require(
            (MIN_WINDOW..=window).contains(&interval),
            "probe_rtt_interval",
            format!("{interval:?}"),
            "1 s to min_rtt_window: a later ProbeRTT would find a higher minimum believed already",
        )?;
        let margin = self.pacing_margin.as_f64();
        ConfigError::require(
            (0.5..=1.0).contains(&margin),
            "pacing_margin",
            margin,
            "0.5 to 1",
        )?;
        self.window_policy.validate()
    }
}

impl Default for Bbr3CoreConfig {
    /// The draft's, [`tuned`](Self::tuned).
    fn default() -> Self {
        Self::draft().tuned()
    }
}

/// With a larger gain one round of Startup would fill any buffer.
const LARGEST_GAIN: f64 = 4.0;

/// A longer time is a queue, not a batch.
const MAX_OFFLOAD: Duration = Duration::from_millis(10);

/// Within these bounds a window of RTTs both fills and empties.
const MIN_WINDOW: Duration = Duration::from_secs(1);
const MAX_WINDOW: Duration = Duration::from_secs(3600);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_valid_and_nonsense_is_not() {
        assert_eq!(Bbr3CoreConfig::default().validate(), Ok(()));
        assert_eq!(Bbr3CoreConfig::v2().validate(), Ok(()));
        type Spoil = fn(&mut Bbr3CoreConfig);
        let broken: [(&str, Spoil); 14] = [
            ("startup_pacing_gain", |c| {
                c.startup_pacing_gain = Gain::UNIT
            }),
            ("up_pacing_gain", |c| c.up_pacing_gain = Gain::new(9, 1)),
            ("window_gain", |c| c.window_gain = Gain::percent(99)),
            ("down_pacing_gain", |c| c.down_pacing_gain = Gain::UNIT),
            ("loss_threshold", |c| c.loss_threshold = Gain::new(0, 1)),
            ("tolerated_losses", |c| c.tolerated_losses = 11),
            ("beta", |c| c.beta = Gain::UNIT),
            ("headroom", |c| c.headroom = Gain::new(2, 1)),
            ("probe_rtt_gain", |c| c.probe_rtt_gain = Gain::new(3, 2)),
            ("startup_lost_ranges", |c| c.startup_lost_ranges = 0),
            ("offload_time", |c| c.offload_time = Duration::from_secs(1)),
            ("startup_exit_rtt", |c| {
                c.startup_exit_rtt = Some(Gain::UNIT)
            }),
            ("probe_rtt_interval", |c| {
                c.probe_rtt_interval = Duration::from_secs(11);
            }),
            ("pacing_margin", |c| c.pacing_margin = Gain::percent(101)),
        ];
        for (field, spoil) in broken {
            let mut config = Bbr3CoreConfig::draft();
            spoil(&mut config);
            let error = config.validate().expect_err(field);
            assert_eq!(error.field, field);
        }
    }

    /// The names in draft-ietf-ccwg-bbr, sections "Pacing State and Parameters" to "ProbeRTT and min_rtt Parameters".
    #[test]
    fn constants_are_the_drafts() {
        let draft = Bbr3CoreConfig::draft();
        for (name, value, expected) in [
            ("StartupPacingGain", draft.startup_pacing_gain, 2.77),
            ("DrainPacingGain", draft.drain_pacing_gain, 0.5),
            ("DefaultCwndGain", draft.window_gain, 2.0),
            ("LossThresh", draft.loss_threshold, 0.02),
            ("Beta", draft.beta, 0.7),
            ("Headroom", draft.headroom, 0.15),
            ("ProbeRTTCwndGain", draft.probe_rtt_gain, 0.5),
            ("PacingMarginPercent", draft.pacing_margin, 0.99),
        ] {
            assert_eq!(value.as_f64(), expected, "{name}");
        }
        assert_eq!(draft.startup_lost_ranges, 6);
        assert_eq!(draft.min_rtt_window, Duration::from_secs(10));
        assert_eq!(draft.probe_rtt_interval, draft.min_rtt_window);
    }
}

//! `knee`: the knee of the delay/throughput curve.

mod arithmetic;
mod competition;
mod controller;
mod drain;
mod link;
mod loss_bound;
mod path;
mod queue_target;
mod startup;
mod swings;

use core::time::Duration;

use kneepoint_estimators::BusyRateConfig;

use self::controller::Knee;
use crate::config::{ConfigError, ControllerConfig, Environment};
use crate::controller::Controller;
use crate::model::HOST_DELAY;
use crate::registry::{Preset, Registered};
use crate::text::fields;

/// `knee`: one law for every path.
///
/// It keeps in flight what the link carries in the path's round-trip time without queues, and a target queue on top. The target queue grows
/// while the link is idle. docs/KNEE.md has the law, its constants and their ablations.
///
/// A *horizon* is the base round-trip time and what hosts add to it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct KneeConfig {
    /// What hosts may add to a round-trip time. 1 us to 100 ms; 1 ms (draft-ietf-ccwg-bbr, section 5.6.3: the send
    /// quantum's time).
    pub host_delay: Duration,
    /// The fast rate average's shortest time constant and its prior's weight, in horizons. 0.01 to 100; 1: flows that share a link
    /// send in turns, once a round trip, and a shorter average follows the turns.
    pub min_memory: f64,
    /// Its longest time constant, in horizons. `min_memory` to 1000; 4.
    pub max_memory: f64,
    /// The slow rate average's time constant, in horizons. 0.1 to 10,000; 50.
    pub slow_memory: f64,
    /// The queue target at first, as a share of the rate. 0 to 1; 0.02.
    pub initial_target: f64,
    /// How much a horizon of idle time adds to the queue target. 0.001 to 100; 1/2.
    pub target_growth: f64,
    /// Horizons in which the queue target and the longest wait decay by a factor of e. 1 to a million; 64.
    pub target_decay: f64,
    /// The share of the queue target that a round with losses or marks leaves. 0 to 1; 0.7 (beta_cubic of RFC 9438). Losses of less than
    /// `max_loss` of a flight leave more, in proportion.
    pub target_left: f64,
    /// Packets that every flow has in flight on top, whatever its share. They make shares equal. 2 to 1000; 3.
    pub equal_packets: f64,
    /// The flow drains its queue when it has not seen the lowest delay for this time. 1 s to 1 h; 5 s (draft-ietf-ccwg-bbr,
    /// ProbeRTTInterval).
    pub drain_interval: Duration,
    /// And for this number of minimum round-trip times. 10 to a million; 100.
    pub drain_round_trips: f64,
    /// A flow that is new drains again after twice this number of minimum round-trip times. One whose path has noise does so again after four
    /// times this number, and so on, up to the two values above. 1 to a million; 8.
    pub first_round_trips: f64,
    /// The share of what the path holds that a drain leaves in flight. 0.05 to 0.95; 1/2 (draft-ietf-ccwg-bbr, ProbeRTTCwndGain).
    pub drained: f64,
    /// A queue that falls by this share within a round means that other flows drain. 0.01 to 1000; 0.1.
    pub join: f64,
    /// A queue of this number of base round-trip times, beyond what equal flows keep, makes the flow drain if it stands long enough. 0.01 to 1000; 0.15.
    pub standing: f64,
    /// The number of rounds for which that queue has to stand. 1 to a million; 12.
    pub standing_rounds: u32,
    /// The share of a flight that may be lost before the window is bounded. 0.0001 to 1; 0.02 (draft-ietf-ccwg-bbr, LossThresh).
    pub max_loss: f64,
    /// The bound, as a share of the flight that lost more. So much of the longest wait is in flight for hosts. 0.1 to 0.99; 0.85 (BBR's Headroom,
    /// 0.15).
    pub bound_left: f64,
    /// How fast the bound is raised, per round. 0.0001 to 1; 1/64.
    pub bound_growth: f64,
}

fields!(KneeConfig {
    host_delay,
    min_memory,
    max_memory,
    slow_memory,
    initial_target,
    target_growth,
    target_decay,
    target_left,
    equal_packets,
    drain_interval,
    drain_round_trips,
    first_round_trips,
    drained,
    join,
    standing,
    standing_rounds,
    max_loss,
    bound_left,
    bound_growth
});

impl Default for KneeConfig {
    fn default() -> Self {
        Self {
            host_delay: HOST_DELAY,
            min_memory: 1.0,
            max_memory: 4.0,
            slow_memory: 50.0,
            initial_target: 0.02,
            target_growth: 0.5,
            target_decay: 64.0,
            target_left: 0.7,
            equal_packets: 3.0,
            drain_interval: Duration::from_secs(5),
            drain_round_trips: 100.0,
            first_round_trips: 8.0,
            drained: 0.5,
            join: 0.1,
            standing: 0.15,
            standing_rounds: 12,
            max_loss: 0.02,
            bound_left: 0.85,
            bound_growth: 1.0 / 64.0,
        }
    }
}

impl KneeConfig {
    fn busy_rate(&self) -> BusyRateConfig {
        let mut config = BusyRateConfig::default();
        config.min_memory = self.min_memory;
        config.max_memory = self.max_memory;
        config.slow_memory = self.slow_memory;
        config
    }
}

const NAME: &str = "knee";

impl Registered for KneeConfig {
    const NAME: &'static str = NAME;
    const DESCRIPTION: &'static str =
        "what the link carries while it is busy, and a queue as long as its idle time asks for";
    const SOURCE: &'static str = "docs/KNEE.md";
    const PRESETS: &'static [Preset] = &[Preset::Tuned];

    fn preset(_preset: Preset) -> Self {
        Self::default()
    }
}

impl ControllerConfig for KneeConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        let times = [
            ("host_delay", self.host_delay, 1e-6, 0.1),
            ("drain_interval", self.drain_interval, 1.0, 3600.0),
        ];
        for (field, value, min, max) in times {
            if !(min..=max).contains(&value.as_secs_f64()) {
                let value = format!("{value:?}");
                return Err(ConfigError::new(field, value, format!("{min} to {max} s")));
            }
        }
        let ranges = [
            ("min_memory", self.min_memory, 0.01, 100.0),
            ("max_memory", self.max_memory, self.min_memory, 1e3),
            ("slow_memory", self.slow_memory, 0.1, 1e4),
            ("initial_target", self.initial_target, 0.0, 1.0),
            ("target_growth", self.target_growth, 1e-3, 100.0),
            ("target_decay", self.target_decay, 1.0, 1e6),
            ("target_left", self.target_left, 0.0, 1.0),
            ("equal_packets", self.equal_packets, 2.0, 1e3),
            ("drain_round_trips", self.drain_round_trips, 10.0, 1e6),
            ("first_round_trips", self.first_round_trips, 1.0, 1e6),
            ("drained", self.drained, 0.05, 0.95),
            ("join", self.join, 0.01, 1e3),
            ("standing", self.standing, 0.01, 1e3),
            ("standing_rounds", f64::from(self.standing_rounds), 1.0, 1e6),
            ("max_loss", self.max_loss, 1e-4, 1.0),
            ("bound_left", self.bound_left, 0.1, 0.99),
            ("bound_growth", self.bound_growth, 1e-4, 1.0),
        ];
        for (field, value, min, max) in ranges {
            if !(min..=max).contains(&value) {
                return Err(ConfigError::new(field, value, format!("{min} to {max}")));
            }
        }
        Ok(())
    }

    fn build(&self, environment: &Environment) -> Result<Box<dyn Controller>, ConfigError> {
        self.validate()?;
        Ok(Box::new(Knee::new(*self, environment)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::{
        MTU, PLAIN, Scenario, at, congestion, drive, environment, now, two_packets,
    };
    use crate::event::{
        AckEvent, CongestionEvent, CongestionSignal, FlightSample, RateSample, SentEvent,
    };
    use crate::snapshot::Mode;
    use crate::units::Bytes;

    #[test]
    fn nonsense_is_refused() {
        let valid = KneeConfig::default();
        assert!(valid.validate().is_ok());
        for (config, field) in [
            (
                KneeConfig {
                    host_delay: Duration::ZERO,
                    ..valid
                },
                "host_delay",
            ),
            (
                KneeConfig {
                    max_memory: 0.1,
                    ..valid
                },
                "max_memory",
            ),
            (
                KneeConfig {
                    drained: 1.0,
                    ..valid
                },
                "drained",
            ),
            (
                KneeConfig {
                    max_loss: f64::NAN,
                    ..valid
                },
                "max_loss",
            ),
            (
                KneeConfig {
                    standing_rounds: 0,
                    ..valid
                },
                "standing_rounds",
            ),
        ] {
            assert_eq!(config.validate().expect_err("nonsense").field, field);
            assert!(config.build(&environment()).is_err());
        }
        // Fault: a range without a unit, beside 0.5.
        let short = KneeConfig {
            drain_interval: Duration::from_millis(500),
            ..valid
        };
        let error = short.validate().expect_err("too short").to_string();
        assert_eq!(error, "drain_interval is 500ms, but must be 1 to 3600 s");
    }

    /// Fault: a new sending time ended the phase in which nothing is learnt, before the window was what the path holds.
    #[test]
    fn nothing_is_learnt_while_the_window_grows_after_persistent_congestion() {
        let knee = KneeConfig::default().build(&environment());
        let mut driver = drive(knee.expect("it is valid"), PLAIN);
        driver.run_for(Duration::from_secs(4));
        let millis = now(&driver).as_nanos() / 1_000_000;
        let mut knee = driver.adapter.controller.clone_box();
        let mut lost = congestion(millis, millis - 40, CongestionSignal::PersistentCongestion);
        lost.round = 200;
        knee.on_congestion(&lost);
        // The phase ends after four rounds.
        for round in 0..4 {
            let sent = millis + 1 + 40 * round;
            knee.on_sent(&SentEvent {
                now: at(sent),
                bytes: MTU * 2,
                prior_in_flight: Bytes::ZERO,
                app_limited: false,
            });
            assert_eq!(knee.snapshot().mode, Mode::ProbeRefill, "round {round}");
            knee.on_ack(&AckEvent {
                round: 201 + round,
                ..two_packets(sent + 40)
            });
        }
    }

    /// Fault: packets of a new path that were lost before its first round-trip time made a rate of the initial window over a millisecond.
    #[test]
    fn startup_goes_on_while_no_round_trip_time_is_known() {
        let mut knee = KneeConfig::default().build(&environment()).expect("valid");
        let flight = FlightSample {
            in_flight: MTU * 10,
            lost: MTU * 5,
            app_limited: false,
        };
        for signal in [CongestionSignal::Loss, CongestionSignal::EcnMark] {
            knee.on_congestion(&CongestionEvent {
                flight: Some(flight),
                ..congestion(30, 20, signal)
            });
            assert_eq!(knee.snapshot().mode, Mode::Startup);
        }
    }

    /// The neutral sender by quinn's rule: the link is full, and the window a little more than what the path holds.
    #[test]
    fn the_window_is_what_the_path_holds_and_a_little_more() {
        let mut driver = drive(
            KneeConfig::default()
                .build(&environment())
                .expect("it is valid"),
            Scenario {
                buffer: 100_000,
                ..PLAIN
            },
        );
        driver.run_for(Duration::from_secs(4));
        let used = driver.utilization(Duration::from_secs(8));
        assert!(used > 0.95, "{used}");
        let bytes = driver.adapter.controller.control().window;
        // 50,000 bytes in 40 ms, a millisecond of hosts' time, three packets, the target.
        assert!((50_000..60_000).contains(&bytes.0), "{bytes}");
    }

    /// Fault: losses of an application's packets ended startup, and its own rate was published as the path's.
    #[test]
    fn what_an_application_loses_measures_nothing() {
        let mut knee = KneeConfig::default().build(&environment()).expect("valid");
        for round in 1..50 {
            let mut ack =
                crate::driver::ack(at(40 * round), Duration::from_millis(40), MTU * 8, round);
            ack.app_limited = true;
            ack.in_flight = MTU * 2;
            ack.rate = ack.rate.map(|rate| RateSample {
                app_limited: true,
                ..rate
            });
            knee.on_ack(&ack);
        }
        knee.on_congestion(&CongestionEvent {
            flight: Some(FlightSample {
                in_flight: MTU * 8,
                lost: MTU * 6,
                app_limited: true,
            }),
            ..congestion(2000, 1960, CongestionSignal::Loss)
        });
        assert_ne!(knee.snapshot().mode, Mode::Startup);
        assert!(knee.snapshot().lower_bound);
    }

    /// Fault: a round-trip time of zero, as a clock that stands still shows it, erased the least one.
    #[test]
    fn a_clock_that_stands_still_shows_no_round_trip() {
        let mut knee = KneeConfig::default().build(&environment()).expect("valid");
        for (now, rtt) in [(40, 40), (80, 0), (500, 300)] {
            let ack = crate::driver::ack(at(now), Duration::from_millis(40), MTU, now / 40);
            knee.on_ack(&ack.with_rtt(Duration::from_millis(rtt)));
        }
        assert_eq!(knee.snapshot().min_rtt, Some(Duration::from_millis(40)));
    }
}

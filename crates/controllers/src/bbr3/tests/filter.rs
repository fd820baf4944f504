//! The core's calls of its filter.

use super::super::fixture::{ack, sample};
use super::super::state::State;
use super::*;
use crate::bbr3::Probing;
use crate::driver::{MTU, at, environment};
use crate::snapshot::{FilterSnapshot, Mode};
use crate::units::Bandwidth;

/// A filter with a given estimate, whose timer halves it.
#[derive(Debug, Clone)]
struct Told {
    bandwidth: Bandwidth,
    wants_probe: bool,
    epochs: Vec<u64>,
    filling: bool,
}

impl BandwidthFilter for Told {
    fn reseed(&mut self, _epoch: u64, _rate: Bandwidth) {}

    fn on_ack(&mut self, _ack: &AckEvent, context: &FilterContext) {
        self.epochs.push(context.epoch);
        self.filling = context.filling_pipe;
    }

    fn bandwidth(&self) -> Option<Bandwidth> {
        Some(self.bandwidth)
    }

    fn next_timer(&self) -> Option<Timestamp> {
        Some(at(7))
    }

    fn on_timer(&mut self, _now: Timestamp) {
        let half = self.bandwidth.bytes_per_second() / 2;
        self.bandwidth = Bandwidth::from_bytes_per_second(half);
    }

    fn wants_probe(&self) -> bool {
        self.wants_probe
    }

    fn snapshot(&self) -> FilterSnapshot {
        FilterSnapshot::Max
    }
}

/// A core in Cruise on 10 Mb/s and 40 ms.
fn cruising(probing: Probing) -> Bbr3<Told> {
    let config = Bbr3CoreConfig {
        probing,
        ..Bbr3CoreConfig::draft()
    };
    let filter = Told {
        bandwidth: Bandwidth::from_bytes_per_second(1_250_000),
        wants_probe: false,
        epochs: Vec::new(),
        filling: false,
    };
    let mut core = Bbr3::new("told", config, filter, &environment());
    core.on_ack(&ack(40, sample(0)));
    assert!(core.filter.filling);
    core.full_bw_reached = true;
    core.state = State::Drain { last_round: 9 };
    core.start_down(at(40));
    core.transition(State::ProbeCruise);
    core.window = MTU * 80;
    core
}

/// So many rounds of acknowledgements, one each.
fn rounds(core: &mut Bbr3<Told>, from_millis: u64, count: u64) {
    for round in 1..=count {
        let mut event = ack(from_millis + 40 * round, sample(core.delivered.0));
        event.delivered = core.delivered + MTU;
        core.on_ack(&event);
    }
}

#[test]
fn lower_bounds_alone_bring_the_next_probe_forward() {
    for (probing, wants_probe, expected) in [
        (Probing::EveryCycle, true, Mode::ProbeCruise),
        (Probing::WhileUnbounded, false, Mode::ProbeCruise),
        (Probing::WhileUnbounded, true, Mode::ProbeRefill),
    ] {
        let mut core = cruising(probing);
        core.filter.wants_probe = wants_probe;
        rounds(&mut core, 40, 6);
        assert_eq!(core.state.mode(), Mode::ProbeCruise);
        // A wait begins with a round or none.
        rounds(&mut core, 280, 1);
        if core.state.mode() == Mode::ProbeCruise {
            rounds(&mut core, 320, 1);
        }
        assert_eq!(core.state.mode(), expected, "{probing:?} {wants_probe}");
        assert!(!core.filter.filling);
    }
}

#[test]
fn a_probe_ends_once_the_filter_has_its_answer() {
    let up = |probing, wants_probe| {
        let mut core = cruising(probing);
        core.start_refill();
        rounds(&mut core, 40, 1);
        assert_eq!(core.state.mode(), Mode::ProbeUp);
        core.filter.wants_probe = wants_probe;
        rounds(&mut core, 80, 1);
        core.state.mode()
    };
    assert_eq!(up(Probing::EveryCycle, false), Mode::ProbeUp);
    assert_eq!(up(Probing::WhileUnbounded, true), Mode::ProbeUp);
    assert_eq!(up(Probing::WhileUnbounded, false), Mode::ProbeDown);
}

#[test]
fn the_filters_timer_runs_while_data_is_in_flight_and_its_news_are_answered() {
    let mut core = cruising(Probing::EveryCycle);
    rounds(&mut core, 40, 1);
    assert_eq!(core.next_timer(), Some(at(7)));
    let before = core.calculator.point().expect("a filled pipe");
    assert_eq!(before.min_rtt, 40_000_000);
    core.on_timer(at(90));
    let after = core.calculator.point().expect("a filled pipe");
    assert_eq!(after.bandwidth, Bandwidth::from_bytes_per_second(625_000));
    assert!(after.rate < before.rate);
    let mut last = ack(100, sample(0));
    last.in_flight = Bytes::ZERO;
    core.on_ack(&last);
    assert_eq!(core.next_timer(), None);
}

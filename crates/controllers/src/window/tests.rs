use core::time::Duration;

use crate::config::Transport;
use crate::driver;
use crate::units::Timestamp;

use super::*;

const MTU: Bytes = Bytes(1200);

/// In nanoseconds.
const MICRO: u64 = 1000;
const MILLI: u64 = 1000 * MICRO;

/// 10 Mb/s, and 40 ms with the millisecond of the hosts: a bandwidth-delay product of 50,000 bytes.
fn point() -> OperatingPoint {
    let bandwidth = Bandwidth::from_bytes_per_second(1_250_000);
    OperatingPoint {
        bandwidth,
        rate: bandwidth,
        min_rtt: 39 * MILLI,
    }
}

/// The window of the model.
const ALLOWED: Bytes = Bytes(100_000);

fn path() -> Path {
    Path {
        smoothed_rtt: 44 * MILLI,
        ack_gap: 2 * MILLI,
        recurring_gap: 2 * MILLI,
        ..Path::default().with_mtu(MTU)
    }
}

#[test]
fn the_smallest_window_follows_the_mtu() {
    let path = path().with_mtu(MTU * 2);
    assert_eq!(path.window_for(Bytes::ZERO), MTU * 6);
}

/// A calculator with measurements of this path.
fn calculator(policy: WindowPolicy, path: Path) -> WindowCalculator {
    let environment = Environment {
        now: Timestamp::ZERO,
        mtu: MTU,
        seed: 1,
        transport: Transport { paces: true },
    };
    WindowCalculator {
        path,
        ..WindowCalculator::new(policy, &environment, Control::window(ALLOWED, MTU))
    }
}

fn update(
    mut calculator: WindowCalculator,
    allowed: Bytes,
    point: Option<OperatingPoint>,
    rate: Option<Bandwidth>,
) -> Control {
    calculator.set_model(point, rate, MTU);
    calculator.update(allowed);
    calculator.control()
}

fn control_of(policy: WindowPolicy, point: OperatingPoint, path: Path) -> Control {
    let calculator = calculator(policy, path);
    update(calculator, ALLOWED, Some(point), Some(point.rate))
}

fn window(policy: WindowPolicy, point: OperatingPoint, path: Path) -> Bytes {
    control_of(policy, point, path).window
}

fn policies() -> [WindowPolicy; 4] {
    [
        WindowPolicy::Window,
        WindowPolicy::Rate,
        WindowPolicy::RttCapped,
        WindowPolicy::Bdp {
            gain: Gain::new(5, 4),
        },
    ]
}

#[test]
fn without_an_operating_point_the_window_is_the_models() {
    for policy in policies() {
        let control = update(calculator(policy, path()), ALLOWED, None, None);
        assert_eq!(control, Control::window(ALLOWED, MTU));
    }
}

#[test]
fn the_window_is_never_above_the_models() {
    for policy in policies() {
        let calculator = calculator(policy, path());
        let control = update(calculator, Bytes(2400), Some(point()), None);
        assert_eq!(control.window, Bytes(2400), "{policy:?}");
    }
}

/// Trap: a sender that is paced at its estimate measures its estimate.
#[test]
fn a_rate_is_for_transports_that_pace_and_for_windows_that_it_can_fill() {
    let environment = |paces| Environment {
        now: Timestamp::ZERO,
        mtu: MTU,
        seed: 1,
        transport: Transport { paces },
    };
    let rate = |policy, paces| {
        let control = Control::window(ALLOWED, MTU);
        let calculator = WindowCalculator::new(policy, &environment(paces), control);
        update(calculator, ALLOWED, Some(point()), Some(point().rate)).pacing_rate
    };
    for policy in policies() {
        let allowed = policy.allows_pacing();
        assert_eq!(rate(policy, true).is_some(), allowed, "{policy:?}");
        assert_eq!(rate(policy, false), None);
    }
}

#[test]
fn two_packets_can_always_be_in_flight() {
    let mut slow = point();
    slow.bandwidth = Bandwidth::from_bytes_per_second(1);
    slow.rate = slow.bandwidth;
    for policy in policies().into_iter().skip(1) {
        // And the one that quinn never sends.
        assert_eq!(window(policy, slow, path()), Bytes(3600), "{policy:?}");
    }
}

#[test]
fn plain_window() {
    assert_eq!(
        window(WindowPolicy::Window, point(), path()),
        Bytes(100_000)
    );
}

#[test]
fn rate_times_smoothed_round_trip() {
    // 1.25 MB/s x 44 ms + 1 packet.
    let mapped = window(WindowPolicy::Rate, point(), path());
    assert_eq!(mapped, Bytes(55_000 + 1200));
}

#[test]
fn the_cap_lies_a_quarter_and_the_pause_above_the_minimum() {
    let cap = |smoothed: u64| {
        let path = Path {
            smoothed_rtt: smoothed * MILLI,
            ..path()
        };
        window(WindowPolicy::RttCapped, point(), path)
    };
    assert_eq!(cap(44), Bytes(55_000 + 1200));
    // 1.25 x 40 ms + 2 ms = 52 ms.
    assert_eq!(cap(52), Bytes(65_000 + 1200));
    assert_eq!(cap(500), Bytes(65_000 + 1200));
    // Not below the path and the wait for a batch behind it, 39 ms + 2 ms.
    assert_eq!(cap(1), Bytes(51_250 + 1200));
}

/// Trap: over a path within a host the minimum RTT falls to a microsecond, and rate times that is no window at all.
#[test]
fn every_window_covers_the_time_of_hosts() {
    let short = OperatingPoint {
        min_rtt: MICRO,
        ..point()
    };
    let path = Path {
        smoothed_rtt: 50 * MICRO,
        ack_gap: 0,
        recurring_gap: 0,
        ..path()
    };
    for policy in policies().into_iter().skip(1) {
        let mapped = window(policy, short, path);
        assert!(mapped >= Bytes(1250 + 1200), "{policy:?}: {mapped}");
    }
}

/// Trap: where acknowledgements come at longer intervals than round trips, a window of one round trip is a fraction of the path.
#[test]
fn every_window_covers_the_intervals_of_acknowledgements() {
    let path = Path {
        ack_gap: 100 * MILLI,
        recurring_gap: 100 * MILLI,
        ..path()
    };
    for policy in policies().into_iter().skip(1) {
        let calculator = calculator(policy, path);
        let mapped = update(calculator, Bytes(1_000_000), Some(point()), None).window;
        assert!(mapped >= Bytes(125_000 + 1200), "{policy:?}: {mapped}");
    }
}

#[test]
fn several_products_and_the_gap() {
    let policy = WindowPolicy::Bdp {
        gain: Gain::new(5, 4),
    };
    // 1.25 x 50,000 + 1.25 MB/s x 2 ms + 1 packet.
    let mapped = window(policy, point(), path());
    assert_eq!(mapped, Bytes(62_500 + 2500 + 1200));
}

/// Trap: a host paces by a smoothed round trip that has the silence of a closed link in it, and the samples show the pacing.
#[test]
fn the_gap_in_flight_is_spread_over_the_paths_rtt() {
    let policies = [
        WindowPolicy::RttCapped,
        WindowPolicy::Bdp {
            gain: Gain::new(5, 4),
        },
    ];
    for policy in policies {
        let after = |smoothed_rtt| {
            let path = Path {
                smoothed_rtt: smoothed_rtt * MILLI,
                ..path()
            };
            control_of(policy, point(), path)
        };
        // The path's round trip and the pause take 42 ms.
        let reopened = after(420);
        assert!(reopened.window <= Bytes(66_300), "{policy:?}: {reopened:?}");
        let spread = Refill::PaceOf(Bytes(10 * reopened.window.0));
        assert_eq!(reopened.refill, spread);
        // An RTT that a flight of two bandwidth-delay products explains does not change the pace.
        assert_eq!(after(84).refill, Refill::Plain);
    }
}

/// Trap: after silence the model's window is a part of rate x smoothed RTT, and so is the pace that a host makes of it.
#[test]
fn a_rate_is_the_pace_whatever_the_models_window() {
    let after = |smoothed_rtt| {
        let path = Path {
            smoothed_rtt: smoothed_rtt * MILLI,
            ..path()
        };
        control_of(WindowPolicy::Rate, point(), path)
    };
    // 1.25 MB/s x 44 ms fit the model's window, 1.25 MB/s x 400 ms do not.
    let usual = after(44);
    assert_eq!(usual.refill, Refill::PaceOf(usual.window));
    let reopened = after(400);
    assert_eq!(reopened.window, ALLOWED);
    assert_eq!(reopened.refill, Refill::PaceOf(Bytes(500_000)));
}

#[test]
fn silence_of_the_application_is_no_pause_of_the_path() {
    let mut cap = calculator(WindowPolicy::RttCapped, Path::default());
    let mut acked = |now: u64, in_flight, app_limited| {
        let ack = AckEvent {
            in_flight: Bytes(in_flight),
            app_limited,
            ..driver::ack(
                Timestamp::from_nanos(now * 1_000_000),
                Duration::from_millis(40),
                Bytes(1200),
                1,
            )
        };
        cap.on_ack(&ack);
        cap.path.ack_gap
    };
    acked(40, 0, true);
    assert_eq!(acked(75, 1200, false), 0);
    assert_eq!(acked(78, 0, false), 3 * MILLI);
}

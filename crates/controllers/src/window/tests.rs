use crate::config::Headroom;
use crate::units::Bandwidth;

use super::*;

const MTU: Bytes = Bytes(1200);

/// 10 Mb/s, and 40 ms with the millisecond of the hosts: a bandwidth-delay product of 50,000 bytes.
fn point() -> OperatingPoint {
    let bandwidth = Bandwidth::from_bytes_per_second(1_250_000);
    OperatingPoint {
        bandwidth,
        rate: bandwidth,
        min_rtt: Duration::from_millis(39),
        least: Bytes::ZERO,
    }
}

fn control(point: OperatingPoint) -> Control {
    Control {
        window: Bytes(100_000),
        pacing_rate: Some(point.rate),
        send_quantum: MTU,
        operating_point: Some(point),
        self_limited: false,
    }
}

fn path() -> Path {
    Path {
        smoothed_rtt: Duration::from_millis(44),
        forecast: Some(Forecast {
            expected: Bandwidth::from_bytes_per_second(1_000_000),
            spare: Bandwidth::from_bytes_per_second(500_000),
        }),
        ack_gap: Duration::from_millis(2),
        recurring_gap: Duration::from_millis(2),
        mtu: MTU,
        in_flight: Bytes(100_000),
    }
}

const HEADROOM: Headroom = Headroom {
    idle: Gain::new(1, 25),
    least: Gain::new(1, 4),
    most: Gain::new(3, 5),
};

fn policies() -> [WindowPolicy; 5] {
    [
        WindowPolicy::Window,
        WindowPolicy::Rate,
        WindowPolicy::Cap,
        WindowPolicy::Bdp {
            gain: Gain::new(5, 4),
        },
        WindowPolicy::Track(HEADROOM),
    ]
}

#[test]
fn without_an_operating_point_the_window_is_the_controllers() {
    for policy in policies() {
        let searching = Control {
            operating_point: None,
            ..control(point())
        };
        assert_eq!(window(policy, &searching, &path()), Bytes(100_000));
    }
}

#[test]
fn the_window_is_never_above_the_controllers() {
    for policy in policies() {
        let mut small = control(point());
        small.window = Bytes(2 * 1200);
        assert_eq!(window(policy, &small, &path()), Bytes(2400), "{policy:?}");
    }
}

#[test]
fn two_packets_can_always_be_in_flight() {
    let mut slow = point();
    slow.bandwidth = Bandwidth::from_bytes_per_second(1);
    slow.rate = slow.bandwidth;
    let crawling = Path {
        forecast: None,
        ..path()
    };
    for policy in policies().into_iter().skip(1) {
        // And the one that quinn never sends.
        assert_eq!(
            window(policy, &control(slow), &crawling),
            Bytes(3600),
            "{policy:?}"
        );
    }
}

#[test]
fn plain_window() {
    assert_eq!(
        window(WindowPolicy::Window, &control(point()), &path()),
        Bytes(100_000)
    );
}

#[test]
fn rate_times_smoothed_round_trip() {
    // 1.25 MB/s x 44 ms + 1 packet.
    let mapped = window(WindowPolicy::Rate, &control(point()), &path());
    assert_eq!(mapped, Bytes(55_000 + 1200));
}

#[test]
fn the_cap_lies_a_quarter_and_the_pause_above_the_minimum() {
    let cap = |smoothed: u64| {
        let path = Path {
            smoothed_rtt: Duration::from_millis(smoothed),
            ..path()
        };
        window(WindowPolicy::Cap, &control(point()), &path)
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
        min_rtt: Duration::from_micros(1),
        ..point()
    };
    let path = Path {
        smoothed_rtt: Duration::from_micros(50),
        forecast: None,
        ack_gap: Duration::ZERO,
        recurring_gap: Duration::ZERO,
        ..path()
    };
    for policy in policies().into_iter().skip(1) {
        let mapped = window(policy, &control(short), &path);
        assert!(mapped >= Bytes(1250 + 1200), "{policy:?}: {mapped}");
    }
}

/// Trap: where acknowledgements come at longer intervals than round trips, a window of one round trip is a fraction of the path.
#[test]
fn every_window_covers_the_intervals_of_acknowledgements() {
    let path = Path {
        ack_gap: Duration::from_millis(100),
        recurring_gap: Duration::from_millis(100),
        forecast: None,
        ..path()
    };
    let mut control = control(point());
    control.window = Bytes(1_000_000);
    for policy in policies().into_iter().skip(1) {
        let mapped = window(policy, &control, &path);
        assert!(mapped >= Bytes(125_000 + 1200), "{policy:?}: {mapped}");
    }
}

#[test]
fn so_many_products_and_the_pause() {
    let policy = WindowPolicy::Bdp {
        gain: Gain::new(5, 4),
    };
    // 1.25 x 50,000 + 1.25 MB/s x 2 ms + 1 packet.
    let mapped = window(policy, &control(point()), &path());
    assert_eq!(mapped, Bytes(62_500 + 2500 + 1200));
}

fn track_with(in_flight: u64) -> Bytes {
    let path = Path {
        in_flight: Bytes(in_flight),
        ..path()
    };
    window(WindowPolicy::Track(HEADROOM), &control(point()), &path)
}

#[test]
fn track_follows_the_forecast() {
    // (1 MB/s + 0.5 MB/s) x 40 ms.
    assert_eq!(track_with(60_000), Bytes(60_000 + 1200));
    assert_eq!(track_with(90_000), Bytes(60_000 + 1200));
}

#[test]
fn track_asks_for_more_where_much_is_missing() {
    assert_eq!(
        track_with(50_000),
        Bytes(60_000 + 1200) + Bytes(10_000).packets(URGENCY)
    );
    // Never for more than the controller's own window.
    assert_eq!(track_with(0), Bytes(100_000));
}

/// Trap: the first frame after a pause leaves at several times the path's rate, and a short buffer loses the rest of it.
#[test]
fn what_the_application_left_open_is_filled_at_the_paths_rate() {
    let at = |in_flight| {
        let path = Path {
            in_flight: Bytes(in_flight),
            ..path()
        };
        let gap = Gap::of_application(&control(point()), &path);
        window_towards(Bytes(60_000), gap, &control(point()), &path)
    };
    // 1 MB/s x 44 ms / 1.25, at which quinn paces at 1 MB/s.
    assert_eq!(at(0), Bytes(35_200 + 1200));
    assert_eq!(at(32_000), Bytes(35_200 + 1200));
    // From there on ahead of the flight, up to the target.
    assert_eq!(at(48_000), Bytes(48_000 + 1500 + 1200 + 1200));
    assert_eq!(at(60_000), Bytes(60_000 + 1200));
}

#[test]
fn track_begins_with_the_estimate() {
    let path = Path {
        forecast: None,
        ..path()
    };
    let mapped = window(WindowPolicy::Track(HEADROOM), &control(point()), &path);
    assert_eq!(mapped, Bytes(50_000 + 1200));
}

#[test]
fn track_follows_the_gain_cycle() {
    let at = |gain: Gain| {
        let point = OperatingPoint {
            rate: gain * point().bandwidth,
            ..point()
        };
        window(WindowPolicy::Track(HEADROOM), &control(point), &path())
    };
    let cruise = Bytes(60_000 + 1200);
    assert_eq!(at(Gain::UNIT), cruise);
    assert_eq!(at(Gain::new(5, 4)), cruise + Bytes(12_500));
    assert_eq!(at(Gain::new(3, 4)), cruise - Bytes(12_500));
}

/// Trap: a host paces by a smoothed round trip that has the silence of a closed link in it, and the samples show the pacing.
#[test]
fn what_is_missing_in_flight_is_spread_over_the_paths_round_trip() {
    for policy in [
        WindowPolicy::Cap,
        WindowPolicy::Bdp {
            gain: Gain::new(5, 4),
        },
    ] {
        let full = path();
        let reopened = Path {
            smoothed_rtt: Duration::from_millis(420),
            ..full
        };
        let limit = window(policy, &control(point()), &reopened);
        assert!(limit <= Bytes(66_300), "{policy:?}: {limit}");
        let at = |in_flight, smoothed_rtt| {
            let path = Path {
                smoothed_rtt,
                in_flight,
                ..full
            };
            window(policy, &control(point()), &path)
        };
        // The path's round trip and the pause take 42 ms.
        let silence = reopened.smoothed_rtt;
        assert_eq!(at(limit - MTU, silence), Bytes(10 * limit.0));
        assert_eq!(at(limit - MTU + Bytes(1), silence), limit);
        // What a flight of two bandwidth-delay products explains leaves the window as it is.
        let queue = Duration::from_millis(84);
        assert_eq!(at(Bytes::ZERO, queue), at(full.in_flight, queue));
    }
}

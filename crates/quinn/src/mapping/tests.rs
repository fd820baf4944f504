use super::*;

const MTU: Bytes = Bytes(1200);

/// 10 Mb/s and 40 ms: a bandwidth-delay product of 50,000 bytes.
fn point() -> OperatingPoint {
    let bandwidth = Bandwidth::from_bytes_per_second(1_250_000);
    OperatingPoint {
        bandwidth,
        deviation: Bandwidth::ZERO,
        rate: bandwidth,
        min_rtt: Duration::from_millis(40),
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
        latest_rtt: Duration::from_millis(44),
        carried: Bandwidth::from_bytes_per_second(1_000_000),
        ack_gap: Duration::from_millis(2),
        mtu: MTU,
    }
}

const HEADROOM: Headroom = Headroom {
    deviations: Gain::new(2, 1),
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
        carried: Bandwidth::ZERO,
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

fn track_at(point: OperatingPoint, latest_rtt: Duration) -> Bytes {
    let path = Path {
        latest_rtt,
        ..path()
    };
    window(WindowPolicy::Track(HEADROOM), &control(point), &path)
}

#[test]
fn track_follows_what_is_carried() {
    // 1 MB/s x 40 ms carried, a quarter of 1.25 MB/s x 40 ms standing, all of it queued: 10 ms.
    let full = track_at(point(), Duration::from_millis(50));
    assert_eq!(full, Bytes(40_000 + 12_500 + 1200));
    assert_eq!(track_at(point(), Duration::from_millis(400)), full);
    // An empty queue pushes by a share of what is carried, half a queue by half of it.
    let empty = track_at(point(), Duration::from_millis(40));
    assert_eq!(empty, full + PUSH * Bytes(40_000));
    assert_eq!(track_at(point(), Duration::from_millis(20)), empty);
    let half = track_at(point(), Duration::from_millis(45));
    assert_eq!(half, full + PUSH * Bytes(20_000));
}

#[test]
fn track_leaves_room_by_deviation_within_its_bounds() {
    let at = |deviation: u64| {
        let point = OperatingPoint {
            deviation: Bandwidth::from_bytes_per_second(deviation),
            ..point()
        };
        track_at(point, Duration::from_secs(1))
    };
    // Two deviations: under a quarter of the estimate, between, and over six tenths.
    assert_eq!(at(100_000), Bytes(40_000 + 12_500 + 1200));
    assert_eq!(at(250_000), Bytes(40_000 + 20_000 + 1200));
    assert_eq!(at(500_000), Bytes(40_000 + 30_000 + 1200));
}

#[test]
fn track_follows_the_gain_cycle() {
    let at = |gain: Gain| {
        let point = OperatingPoint {
            rate: gain * point().bandwidth,
            ..point()
        };
        track_at(point, Duration::from_secs(1))
    };
    let cruise = Bytes(40_000 + 12_500 + 1200);
    assert_eq!(at(Gain::UNIT), cruise);
    assert_eq!(at(Gain::new(5, 4)), cruise + Bytes(12_500));
    assert_eq!(at(Gain::new(3, 4)), cruise - Bytes(12_500));
}

use core::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::algorithms::knee::drain::Drained;
use crate::driver::congestion;
use crate::event::{AckEvent, FlightSample};
use crate::units::{Bytes, Timestamp};

const CONFIG: fn() -> KneeConfig = KneeConfig::default;
const MTU: f64 = 1200.0;

/// Two packets that found no queue, and left with a full window.
const ACKED: Acked = Acked {
    bytes: 2.0 * MTU,
    left: 20.0 * MTU,
    gap: 0.0,
    sent_gap: 0.0,
    wait: 0.0,
    busy_before: 0.0,
    silenced: false,
    lossy: false,
    round: 1,
    window_limited: true,
    full: true,
};

/// A path whose base is 39 ms, so that the horizon is 40, and a link of 1 MB/s.
fn known() -> (PathRtt, Link) {
    let mut path = PathRtt::new(&CONFIG(), Timestamp::ZERO);
    path.take_base(0.039);
    let link = Link::new(&CONFIG(), 1e6, &path);
    (path, link)
}

/// The queue target after this acknowledgement.
fn target_after(acked: &Acked) -> f64 {
    let (path, mut link) = known();
    link.learn(&CONFIG(), acked, &path, MTU);
    link.target.share()
}

/// A batch of acknowledgements is one, and is forgotten.
#[test]
fn what_is_acknowledged_at_one_moment_is_in_flight_until_the_next() {
    let (path, mut link) = known();
    let mut window = |gaps: &[f64]| {
        for &gap in gaps {
            // All of the time is busy, so that the rate stays.
            let acked = Acked {
                gap,
                lossy: true,
                full: false,
                ..ACKED
            };
            link.learn(&CONFIG(), &acked, &path, MTU);
        }
        link.window(&CONFIG(), &path, MTU)
    };
    let mut batch = [0.0; 40];
    batch[0] = 0.096;
    assert!(window(&batch) >= 40.0 * ACKED.bytes);
    assert!(window(&[0.0024; 1000]) < 20.0 * ACKED.bytes);
}

/// Fault: a link delivers a lump every 10 ms, in which it is busy, and its newest packet has waited for 2 ms: the link seemed to be five times as fast.
#[test]
fn a_link_is_busy_while_the_oldest_packet_of_a_lump_waits() {
    let (path, _) = known();
    let mut link = Link::new(&CONFIG(), 5e6, &path);
    let lump = Acked {
        bytes: 50e3,
        gap: 0.01,
        sent_gap: 0.01,
        wait: 0.002,
        busy_before: 0.012,
        ..ACKED
    };
    for _ in 0..1000 {
        link.learn(&CONFIG(), &lump, &path, MTU);
    }
    assert!((link.rate.usual() / 5e6 - 1.0).abs() < 0.01);
    // What is left is no idle time either.
    assert!(link.target.share() < 1e-3, "{}", link.target.share());
}

/// A window that is too small is acknowledged at once and sent at once, once a round trip. Longer pauses are those of a link that lost all in flight.
#[test]
fn a_full_window_pauses_for_a_round_trip_at_most() {
    for (pause, least, most) in [(0.039, 0.4, 0.5), (1.0, 0.4, 0.51)] {
        let share = target_after(&Acked {
            gap: pause,
            sent_gap: pause,
            ..ACKED
        });
        assert!((least..most).contains(&share), "{share} after {pause} s");
    }
}

/// A quarter of the base and the time of four times two packets are 19 ms. A receiver waits for a second packet for 25 more.
#[test]
fn a_single_packet_is_acknowledged_late() {
    for (bytes, least, most) in [(MTU, 0.3, 0.4), (2.0 * MTU, 0.2, 0.25)] {
        let share = target_after(&Acked {
            bytes,
            gap: 0.03,
            ..ACKED
        });
        assert!((least..most).contains(&share), "{share} of {bytes} bytes");
    }
}

/// The link carries in a fifth of a second what is acknowledged at its end.
#[test]
fn a_batch_gets_back_the_time_that_was_cut_off() {
    let (path, mut link) = known();
    for number in 0..75 {
        let acked = Acked {
            gap: if number == 0 { 0.2 } else { 0.0 },
            wait: 0.2,
            busy_before: 0.2,
            ..ACKED
        };
        link.learn(&CONFIG(), &acked, &path, MTU);
    }
    let rate = link.rate(path.horizon());
    assert!((rate / 1e6 - 1.0).abs() < 0.1, "{rate}");
}

/// Two packets take 2.4 ms: 5.8 ms with what hosts add are no queue.
#[test]
fn time_is_idle_if_the_window_was_full_and_no_packet_waited() {
    let quiet = Acked {
        gap: 0.01,
        wait: 0.0055,
        ..ACKED
    };
    assert!(target_after(&quiet) > 0.05);
    for (wait, full) in [(0.0061, true), (0.0055, false)] {
        let share = target_after(&Acked {
            wait,
            full,
            ..quiet
        });
        assert!(share <= 0.02, "{share} after a wait of {wait} s, {full}");
    }
}

/// Fault: a buffer that holds less than a millisecond lost what hosts may add.
#[test]
fn no_more_waits_for_hosts_than_ever_waited() {
    let (path, mut link) = known();
    // 1 MB/s x 39 ms, a target of 0.02 x 40 ms, three packets.
    let carried = 39e3 + 0.8e3;
    assert!((link.window(&CONFIG(), &path, MTU) - carried - 3.0 * MTU).abs() < 1.0);
    link.recent_wait = 0.01;
    assert!((link.window(&CONFIG(), &path, MTU) - carried - 1e3 - 3.0 * MTU).abs() < 1.0);
}

/// What waited for a link that carried nothing waited in no queue.
#[test]
fn a_silence_is_no_queue() {
    let (path, mut link) = known();
    let acked = Acked {
        gap: 0.5,
        wait: 0.5,
        silenced: true,
        ..ACKED
    };
    link.learn(&CONFIG(), &acked, &path, MTU);
    assert_eq!(link.room(MTU), ROOM_PACKETS * MTU);
    link.learn(
        &CONFIG(),
        &Acked {
            silenced: false,
            ..acked
        },
        &path,
        MTU,
    );
    assert!(link.room(MTU) > 1e5);
}

/// A flight of a thousand packets loses one in nearly every round of a path that loses one in a thousand.
#[test]
fn a_small_loss_says_little_of_the_queue() {
    for (lost, left) in [(1, 1.0 - 0.3 * 0.05), (20, 0.7), (500, 0.7)] {
        let (_, mut link) = known();
        let event = CongestionEvent {
            flight: Some(FlightSample {
                in_flight: Bytes(1_200_000),
                lost: Bytes(1200 * lost),
                app_limited: false,
            }),
            ..congestion(100, 60, CongestionSignal::Loss)
        };
        link.on_congestion(&CONFIG(), &event);
        let share = link.target.share() / 0.02;
        assert!((share - left).abs() < 1e-9, "{share} after {lost}");
    }
}

/// The first packet of a round, at so many seconds.
fn round_of(path: &mut PathRtt, second: u64, millis: u64) {
    let ack = AckEvent {
        round_start: true,
        ..AckEvent::nothing_yet(Timestamp::from_nanos(1_000_000_000 * second))
            .with_rtt(Duration::from_millis(millis))
    };
    path.on_ack(&CONFIG(), &ack, 0.0, false, true, false);
}

/// A path of 100 ms, and rounds of this round-trip time.
fn after_a_round_of(millis: u64) -> PathRtt {
    let mut path = PathRtt::new(&CONFIG(), Timestamp::ZERO);
    for (second, millis) in (1..).zip([100, millis, millis]) {
        round_of(&mut path, second, millis);
        path.take_min_as_base();
    }
    path
}

/// Packets of equal flows wait for more than their own batches. A wait of half of the base may be a longer path, and where packets are lost others may fill
/// the queue.
#[test]
fn flows_that_send_in_turns_keep_the_link_busy() {
    let shared = |path: &PathRtt, lost_in: Option<u64>| {
        let mut link = Link::new(&CONFIG(), 1e6, path);
        if let Some(round) = lost_in {
            link.on_congestion(
                &CONFIG(),
                &CongestionEvent {
                    round,
                    ..congestion(100, 60, CongestionSignal::EcnMark)
                },
            );
        }
        let acked = Acked {
            round: 300,
            ..ACKED
        };
        link.is_shared(&acked, path, 0.0024)
    };
    assert!(!shared(&after_a_round_of(108), None));
    assert!(shared(&after_a_round_of(130), None));
    assert!(!shared(&after_a_round_of(155), None));
    assert!(!shared(&after_a_round_of(130), Some(120)));
    assert!(shared(&after_a_round_of(130), Some(90)));
    let mut others = after_a_round_of(100);
    let found = Drained {
        before: 0.13,
        full: true,
        least: 0.13,
        level: 0.13,
    };
    others.end_drain(
        &CONFIG(),
        Timestamp::from_nanos(5_000_000_000),
        &found,
        false,
    );
    assert!(others.others_queue());
    round_of(&mut others, 6, 160);
    round_of(&mut others, 7, 160);
    assert!(!shared(&others, None));
}

/// Fault: a link became slow, and its path longer. The rate from before both came back with the longer path.
#[test]
fn a_slow_link_is_slow_on_a_longer_path_too() {
    let (path, mut link) = known();
    let silent = Acked {
        gap: 0.1,
        wait: 0.2,
        ..ACKED
    };
    for _ in 0..SLOW_ACKS {
        link.learn(&CONFIG(), &silent, &path, MTU);
    }
    let slow = link.rate.usual();
    assert!((slow - 24e3).abs() < 1.0, "{slow}");
    link.on_drained(&CONFIG(), Length::Longer, 0.15);
    assert!((link.rate.usual() - slow).abs() < 1.0);
}

/// Fault: without it an encoder that goes by the estimate, and never fills the window, takes 72 instead of 77 % of a link that varies.
#[test]
fn what_an_application_delivers_is_a_lower_bound_of_the_rate() {
    let (path, mut link) = known();
    for (bytes, rate) in [(1000.0, 1e6), (4000.0, 4e6)] {
        for _ in 0..1000 {
            let acked = Acked {
                bytes,
                gap: 0.001,
                sent_gap: 0.001,
                window_limited: false,
                ..ACKED
            };
            link.learn(&CONFIG(), &acked, &path, MTU);
        }
        let found = link.rate(path.horizon());
        assert!((found / rate - 1.0).abs() < 0.1, "{found}, {rate}");
    }
}

/// Bytes per second: two packets take 2.4 ms.
const RATE: f64 = 1e6;

/// After so long a silence so many acknowledgements of two packets come, each so long after the one before.
fn silence(silences: &mut Silences, gap: f64, count: u32, each: f64) -> f64 {
    let in_flight = f64::from(count) * ACKED.bytes;
    (0..count)
        .map(|number| {
            let acked = Acked {
                gap: if number == 0 { gap } else { each },
                left: in_flight - f64::from(number + 1) * ACKED.bytes,
                ..ACKED
            };
            silences.carrying_time(&acked, 0.01, RATE)
        })
        .sum()
}

/// Twenty acknowledgements' packets take 48 ms.
#[test]
fn a_batch_is_given_back_the_time_that_it_took_the_link() {
    let time = silence(&mut Silences::default(), 0.1, 20, 0.0);
    assert!((time - (0.01 + 19.0 * 0.0024)).abs() < 1e-9, "{time}");
    // No more than the silence was.
    let time = silence(&mut Silences::default(), 0.03, 20, 0.0);
    assert!((time - 0.03).abs() < 1e-9, "{time}");
    // The link carried nothing.
    let time = silence(&mut Silences::default(), 0.1, 20, 0.0024);
    assert!((time - (0.01 + 19.0 * 0.0024)).abs() < 1e-9, "{time}");
}

#[test]
fn what_comes_at_once_was_held_back() {
    let held = |each: f64, count: u32, times: usize| {
        let mut silences = Silences::default();
        for _ in 0..=times {
            silence(&mut silences, 0.1, count, each);
        }
        silences.holds_back()
    };
    // A flight of a few packets as well as one of many.
    assert!(held(0.0, 20, 2) && held(0.0, 3, 2));
    // One silence is chance.
    assert!(!held(0.0, 20, 1));
    // A link that carries nothing delivers one packet after the other, a cellular one three times as fast as on average.
    assert!(!held(0.0024, 20, 20) && !held(0.0008, 20, 20));
    // Nothing else was in flight: it says nothing.
    assert!(!held(0.0, 1, 20));
}

/// After a share of one, 12 silences of a link that carries nothing: (7/8)^12 is a fifth.
#[test]
fn a_link_that_pauses_is_told_from_what_held_packets_back_before() {
    let mut silences = Silences::default();
    for _ in 0..100 {
        silence(&mut silences, 0.1, 20, 0.0);
    }
    let pauses = (0..100).take_while(|_| {
        silence(&mut silences, 0.1, 20, 0.0024);
        silences.holds_back()
    });
    assert!((8..16).contains(&pauses.count()));
}

proptest! {
    /// No more time is given back than was cut off.
    #[test]
    fn the_link_carries_for_as_long_as_time_passes(
        acks in prop::collection::vec((0.0..0.2f64, 0.0..1e6f64, 0.0..1e7f64), 1..200),
    ) {
        let mut silences = Silences::default();
        let (mut carried, mut passed) = (0.0, 0.0);
        for (gap, bytes, left) in acks {
            let gap = if bytes > 5e5 { 0.0 } else { gap };
            let acked = Acked { bytes, gap, left, ..ACKED };
            carried += silences.carrying_time(&acked, 0.01, RATE);
            passed += gap;
            prop_assert!(carried <= passed + 1e-6, "{carried} of {passed}");
        }
    }
}

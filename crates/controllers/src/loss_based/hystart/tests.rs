use super::*;
use crate::loss_based::round_trips::RoundTrips;
use crate::loss_based::testing::{ack, round};
use crate::units::Bytes;

const PACKET: Bytes = Bytes(1200);

/// A search with its measurements.
struct Search {
    hystart: HyStart,
    trips: RoundTrips,
    window: Window,
    threshold: Option<Bytes>,
}

impl Search {
    fn new(hystart: HyStart) -> Self {
        Self {
            hystart,
            trips: RoundTrips::default(),
            window: Window::new(PACKET * 10),
            threshold: None,
        }
    }

    /// A round of so many acknowledgements of two packets, all with the same round-trip time. Returns whether the search
    /// ended.
    fn round(&mut self, acks: u64, rtt_micros: u64) -> bool {
        let mut over = false;
        for index in 0..acks {
            let event = if index == 0 {
                round(1000, 40)
            } else {
                ack(1000)
            };
            let event = event.with_rtt(Duration::from_micros(rtt_micros));
            let ended = self.trips.on_ack(&event);
            let view = View {
                mtu: PACKET,
                threshold: self.threshold,
                window_limited: true,
                trips: &self.trips,
                ended,
            };
            over |= self.hystart.on_ack(&event, &view, &mut self.window);
        }
        over
    }

    fn is_conservative(&self) -> bool {
        self.hystart.mode() == Mode::ConservativeSlowStart
    }
}

#[test]
fn the_rise_that_counts_is_an_eighth_but_four_to_sixteen_milliseconds() {
    // RTT of the first round, RTT of the second, whether that is a queue; all in microseconds.
    for (first, second, expected) in [
        (10_000, 13_999, false),
        (10_000, 14_000, true),
        (80_000, 89_999, false),
        (80_000, 90_000, true),
        (400_000, 415_999, false),
        (400_000, 416_000, true),
    ] {
        let mut search = Search::new(HyStart::Standard);
        search.round(8, first);
        assert!(!search.is_conservative());
        search.round(8, second);
        assert_eq!(search.is_conservative(), expected, "{first} {second}");
    }
}

#[test]
fn a_round_is_judged_after_eight_samples() {
    let mut search = Search::new(HyStart::Standard);
    search.round(8, 40_000);
    search.round(7, 60_000);
    assert!(!search.is_conservative());
    search.round(8, 80_000);
    assert!(search.is_conservative());
}

#[test]
fn conservative_slow_start_grows_at_a_quarter_and_ends_after_five_rounds() {
    let mut search = Search::new(HyStart::Standard);
    search.round(8, 40_000);
    assert_eq!(search.window.bytes(), PACKET * (10 + 16));
    search.round(8, 50_000);
    assert!(search.is_conservative());
    // The round in which it began counts: four more begin, and the fifth ends it.
    for _ in 0..4 {
        let before = search.window.bytes();
        assert!(!search.round(8, 50_000));
        assert_eq!(search.window.bytes() - before, PACKET * 4);
    }
    let before = search.window.bytes();
    assert!(search.round(1, 50_000));
    assert_eq!(search.window.bytes(), before);
}

#[test]
fn a_shorter_round_trip_resumes_slow_start() {
    let mut search = Search::new(HyStart::Standard);
    search.round(8, 40_000);
    search.round(8, 50_000);
    // As long as before: no change.
    search.round(8, 50_000);
    assert!(search.is_conservative());
    search.round(8, 49_999);
    assert!(!search.is_conservative());
    // And it can begin again, with all its rounds.
    search.round(8, 60_000);
    assert!(search.is_conservative());
    for _ in 0..4 {
        assert!(!search.round(8, 60_000));
    }
    assert!(search.round(1, 60_000));
}

#[test]
fn later_slow_starts_are_plain() {
    let mut search = Search::new(HyStart::Standard);
    search.threshold = Some(PACKET * 1000);
    search.round(8, 40_000);
    search.round(8, 80_000);
    assert!(!search.is_conservative());
    let mut off = Search::new(HyStart::Off);
    off.round(8, 40_000);
    off.round(8, 80_000);
    assert!(!off.is_conservative());
    assert_eq!(off.window.bytes(), PACKET * (10 + 32));
}

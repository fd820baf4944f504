//! A video over a token bucket: a download through BBR fills the queue, one through BBR-Sampled does not.

use kneepoint_lab::controllers::resolve;
use kneepoint_lab::dash::abr::Algorithm;
use kneepoint_lab::dash::{Outcome, Path, Session};

fn session(controller: &str) -> Session {
    Session {
        segments: 10,
        ..Session::new(resolve(controller, 1).expect("a controller of ours"))
    }
}

fn watched(session: &Session) -> Outcome {
    let outcome = session.run().expect("the path is valid");
    assert!(outcome.finished, "{:?}", outcome.closed);
    assert_eq!(outcome.segments.len(), session.segments);
    // All time from the first picture on is playback or stall: ten segments of 5 s.
    let stalled = outcome.stall_rate.expect("a film was shown") * 50.0;
    assert!((outcome.playback_s - 50.0 - stalled).abs() < 1e-6);
    outcome
}

/// BBR-Sampled, sections 5 and 7: the estimate is a multiple of 25 Mb/s, the median round trip a multiple of 100 ms, or
/// neither.
#[test]
fn the_deep_buffer_fills_under_bbr_and_not_under_bbr_sampled() {
    let (fooled, sober) = (watched(&session("bbr")), watched(&session("bbr-sampled")));
    assert!(fooled.estimate_mean_mbps > Some(75.0), "{fooled:?}");
    assert!(fooled.rtt_median_ms > Some(400.0), "{fooled:?}");
    assert!(sober.estimate_median_mbps < Some(28.75), "{sober:?}");
    assert!(sober.rtt_median_ms < Some(200.0), "{sober:?}");
    // The link carries the video in both cases: the queue delays a segment but does not slow it down.
    for outcome in [&fooled, &sober] {
        assert!(outcome.quality > Some(5.0), "{:?}", outcome.segments);
        assert_eq!(outcome.stalls, 0);
    }
    let states = fooled.states.expect("BBR has states");
    let whole = states.startup + states.drain + states.probe_bw + states.probe_rtt;
    assert!((whole - 1.0).abs() < 1e-9, "{states:?}");
}

/// A seed repeats a session packet for packet; a stock controller shows no state; and a video may be too large for the
/// path.
#[test]
fn sessions_repeat_and_a_slow_path_stalls() {
    let mut session = Session {
        path: Path {
            rate: "600kbps".parse().expect("a rate"),
            burst: 8_000,
            ..Path::deep()
        },
        abr: Algorithm::Festive,
        segments: 4,
        ..session("quinn-cubic")
    };
    let outcome = watched_slowly(&session);
    assert_eq!(outcome, watched_slowly(&session));
    assert_eq!((outcome.states, outcome.estimate_mean_mbps), (None, None));
    // A segment of 5 Mb takes 8.3 s and plays for 5 s.
    assert!(outcome.stall_rate > Some(0.4), "{outcome:?}");
    assert_eq!((outcome.stalls, outcome.quality), (3, Some(0.0)));
    // At a tenth of that the session gives up: 83 s for the first segment of a video of 20 s.
    session.path.rate = "60kbps".parse().expect("a rate");
    let outcome = session.run().expect("the path is valid");
    assert!(!outcome.finished);
    assert_eq!((outcome.closed, outcome.startup_s), (None, None));
}

fn watched_slowly(session: &Session) -> Outcome {
    let outcome = session.run().expect("the path is valid");
    assert!(outcome.finished, "{:?}", outcome.closed);
    outcome
}

use super::*;
use crate::driver::{MTU, ack, at, congestion, environment};

/// Fault: the acknowledgement of a packet that was overtaken made the next pause of the sender seem a round trip longer, and a silence of the
/// link the sender's.
#[test]
fn a_packet_that_was_overtaken_is_not_the_newest() {
    let mut knee = Knee::new(KneeConfig::default(), &environment());
    for (now, sent) in [(140, 100), (141, 60)] {
        let mut ack = AckEvent::nothing_yet(at(now));
        ack.newest_sent = at(sent);
        knee.on_ack(&ack);
    }
    assert_eq!(knee.newest_sent, at(100));
}

/// Fault: the last drain, which was long over, seemed to last until the window was full again after persistent congestion. What left in between and was
/// reported later counted as a flight of the whole window.
#[test]
fn persistent_congestion_does_not_prolong_the_last_drain() {
    let mut knee = Knee::new(KneeConfig::default(), &environment());
    for round in 1..4 {
        knee.on_ack(&ack(
            at(40 * round),
            Duration::from_millis(40),
            MTU * 20,
            round,
        ));
    }
    knee.end_startup(at(160), 1e6, None);
    knee.settle(at(400));
    knee.on_congestion(&congestion(
        5000,
        4900,
        CongestionSignal::PersistentCongestion,
    ));
    knee.settle(at(5400));
    assert!(knee.drained.contains(at(300)) && !knee.drained.contains(at(3000)));
}

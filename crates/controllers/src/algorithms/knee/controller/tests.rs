use super::*;

/// Fault: the acknowledgement of a packet that was overtaken made the next pause of the sender seem a round trip longer, and a silence of the
/// link the sender's.
#[test]
fn a_packet_that_was_overtaken_is_not_the_newest() {
    let at = |millis: u64| Timestamp::from_nanos(millis * 1_000_000);
    let mut knee = Knee::new(KneeConfig::default(), &crate::driver::environment());
    for (now, sent) in [(140, 100), (141, 60)] {
        let mut ack = AckEvent::nothing_yet(at(now));
        ack.newest_sent = at(sent);
        knee.on_ack(&ack);
    }
    assert_eq!(knee.newest_sent, at(100));
}

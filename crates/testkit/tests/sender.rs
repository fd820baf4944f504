//! What the sender does, with a window and a rate that never change.

use std::time::Duration;

use kneepoint_emulator::link::{Delay, DelayStep};
use kneepoint_testkit::{
    AckPolicy, Adapter, Application, LinkConfig, Lost, Pacing, Packets, Scenario, Sender,
};

const PLAIN: Scenario = Scenario::PLAIN;

/// A steady controller that writes down what it is told.
#[derive(Debug, Default)]
struct Fixed {
    window: u64,
    rate: Option<u64>,
    sent: Vec<Duration>,
    lost: Vec<(Duration, Lost)>,
    marked: Vec<Duration>,
    spurious: Vec<Duration>,
}

impl Adapter for Fixed {
    fn on_sent(&mut self, now: Duration, _: u64) {
        self.sent.push(now);
    }

    fn on_packet_acked(&mut self, _: Duration, _: Duration, _: u64) {}

    fn on_end_acks(&mut self, _: Duration, _: u64, _: bool) {}

    fn on_lost(&mut self, now: Duration, lost: &Lost) {
        self.lost.push((now, *lost));
    }

    fn on_ecn_mark(&mut self, _: Duration, sent: Duration) {
        self.marked.push(sent);
    }

    fn on_spurious_loss(&mut self, now: Duration) {
        self.spurious.push(now);
    }

    fn window(&self) -> u64 {
        self.window
    }

    fn may_send(&self, in_flight: u64, datagram: u64) -> bool {
        in_flight + datagram <= self.window
    }

    fn pacing_rate(&self) -> Option<u64> {
        self.rate
    }
}

fn sender(packets: u64, scenario: Scenario) -> Sender<Fixed> {
    let fixed = Fixed {
        window: packets * 1200,
        ..Fixed::default()
    };
    Sender::new(fixed, &scenario)
}

const fn millis(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// By Little's law: 40 ms, 0.96 ms on the link, and as much until the second packet has come.
#[test]
fn a_window_is_delivered_in_every_round_trip() {
    for (packets, expected) in [(8, 0.183), (20, 0.457), (100, 1.0)] {
        let mut sender = sender(packets, PLAIN);
        sender.run_for(millis(2_000));
        let used = sender.utilization(millis(10_000));
        assert!((used - expected).abs() < 0.02, "{packets}: {used}");
        assert_eq!(sender.lost, 0);
    }
}

#[test]
fn the_queue_drops_only_the_excess() {
    // One is on the link, and 41 wait.
    for (packets, lost) in [(42, false), (43, true)] {
        let mut sender = sender(packets, Scenario::SHALLOW);
        sender.run_for(millis(5_000));
        assert_eq!(sender.lost > 0, lost, "{packets}");
        assert_eq!(sender.largest_queue, 41 * 1200);
    }
}

#[test]
fn a_missing_packet_is_lost_with_the_third_after_it() {
    let mut sender = sender(
        10,
        Scenario {
            acks: AckPolicy::every(1),
            lose: Packets::Listed(&[4]),
            ..PLAIN
        },
    );
    sender.run_for(millis(200));
    let [(at, lost)] = sender.adapter.lost[..] else {
        panic!("{:?}", sender.adapter.lost);
    };
    assert_eq!(
        (lost.packets, lost.bytes, lost.persistent),
        (1, 1200, false)
    );
    // Packets 0 to 3 and 5 to 7 take 0.96 ms each.
    assert_eq!(at, millis(40) + 7 * Duration::from_micros(960));
}

/// With one packet after it the missing one is lost 9/8 round trips after it left; with none, a probe has to leave first.
#[test]
fn the_tail_of_a_flight_is_lost_late() {
    for (which, from, to) in [(&[8u64] as &'static [u64], 50, 60), (&[9], 90, 250)] {
        let mut sender = sender(
            10,
            Scenario {
                acks: AckPolicy::every(1),
                lose: Packets::Listed(which),
                ..PLAIN
            },
        );
        sender.run_for(millis(1));
        sender.application = Application::Silent;
        sender.run_for(millis(2_000));
        let [(at, lost)] = sender.adapter.lost[..] else {
            panic!("{:?}", sender.adapter.lost);
        };
        assert_eq!(lost.packets, 1);
        assert!((millis(from)..millis(to)).contains(&at), "{at:?}");
        assert_eq!(sender.adapter.sent.len(), if to == 60 { 10 } else { 11 });
        assert_eq!(sender.in_flight(), 0);
    }
}

#[test]
fn an_outage_is_persistent_congestion_and_ends() {
    let mut sender = sender(20, PLAIN);
    sender.run_for(millis(1_000));
    sender.set_fates(Packets::All, Packets::None);
    sender.run_for(millis(3_000));
    assert!(sender.adapter.lost.is_empty());
    sender.set_fates(Packets::None, Packets::None);
    sender.run_for(millis(4_000));
    assert!(sender.adapter.lost.iter().any(|(_, lost)| lost.persistent));
    assert!(sender.utilization(millis(1_000)) > 0.4);
}

#[test]
fn marks_and_losses_that_were_none_are_reported() {
    let mut marked = sender(10, PLAIN);
    marked.set_fates(Packets::None, Packets::Listed(&[3]));
    marked.run_for(millis(500));
    assert_eq!(marked.adapter.marked, [Duration::ZERO]);

    let step = |from: u64, delay: u64| DelayStep {
        from: millis(from).into(),
        delay: millis(delay).into(),
    };
    // What leaves the link in one of the milliseconds overtakes what left it just before.
    let link = LinkConfig {
        delay: Delay::Steps {
            steps: vec![step(0, 0), step(100, 10), step(104, 0)],
            reordering: true,
        },
        ..PLAIN.link()
    };
    let fixed = Fixed {
        window: 40 * 1200,
        ..Fixed::default()
    };
    let mut late = Sender::over(fixed, link, PLAIN.rtt, AckPolicy::every(1));
    late.run_for(millis(500));
    assert!(!late.adapter.lost.is_empty());
    assert_eq!(late.adapter.spurious.len(), 1);
}

#[test]
fn pacers_space_packets_as_transports_do() {
    for (pacing, gaps) in [
        // 1200 bytes at 1.2 MB/s; a bucket holds ten, and the eleventh waits for one or for all.
        (Pacing::Own, [1; 29].to_vec()),
        (Pacing::Even, [1; 29].to_vec()),
        (Pacing::Bucket, [[0; 9].as_slice(), &[1; 20]].concat()),
        (
            Pacing::FullBucket,
            [[0; 9].as_slice(), &[10], &[0; 9], &[10], &[0; 9]].concat(),
        ),
    ] {
        let mut sender = sender(1_000, PLAIN).paced(pacing);
        sender.adapter.rate = Some(1_200_000);
        sender.run_for(millis(60));
        let sent = &sender.adapter.sent[..30];
        let spaced = sent.windows(2).map(|pair| pair[1] - pair[0]);
        let expected: Vec<_> = gaps.into_iter().map(millis).collect();
        assert_eq!(spaced.collect::<Vec<_>>(), expected, "{pacing:?}");
    }
}

#[test]
fn another_link_takes_over_in_order() {
    let mut sender = sender(60, PLAIN);
    sender.run_for(millis(1_000));
    let faster = Scenario {
        rate: 10 * PLAIN.rate,
        ..PLAIN
    };
    sender.set_link(faster.link());
    sender.run_for(millis(1_000));
    assert_eq!(sender.lost, 0);
    // 60 packets of 0.1 ms in 40 ms.
    let used = sender.utilization(millis(1_000));
    assert!((used - 0.14).abs() < 0.02, "{used}");
}

#[test]
fn receivers_acknowledge_by_number_and_by_time() {
    for (every, max_delay, max_wait) in [(1, 25, 41), (2, 25, 42), (1_000, 10, 52)] {
        let acks = AckPolicy {
            every,
            max_delay: millis(max_delay),
        };
        let mut sender = sender(20, Scenario { acks, ..PLAIN });
        sender.application = Application::Rate(1_200_000);
        sender.run_for(millis(1_000));
        let rtts = sender.take_rtts();
        assert!(rtts.len() > 300);
        let max = rtts.into_iter().max().expect("some");
        assert!(max <= millis(max_wait), "{every}: {max:?}");
        assert!(max > millis(max_wait - 2), "{every}: {max:?}");
    }
}

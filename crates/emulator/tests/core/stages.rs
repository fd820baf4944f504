//! Stages in front of the queue and behind it, on whole links.

use kneepoint_emulator::link::{
    Aggregation, Delay, DelayStep, DropCause, EnqueueResult, Impairments, Interval, Jitter, Limit,
    Link, LinkConfig, Loss, Policer, Queue, RateStep, Reordering, Shaper,
};
use kneepoint_emulator::time::Nanos;

use crate::common::{bare, departures, drain, ms, packet};

/// A byte takes a microsecond.
fn line() -> LinkConfig {
    LinkConfig::constant(1_000_000)
}

/// Offers packets of 1000 bytes, numbered from 0, at given times; returns times and numbers of deliveries.
fn deliveries(config: LinkConfig, arrivals: &[u64]) -> Vec<(u64, u8)> {
    let mut link = bare(config);
    for (serial, millis) in arrivals.iter().enumerate() {
        let _ = link.offer(ms(*millis), packet(1000, serial as u8));
    }
    let delivered = drain(&mut link).into_iter();
    delivered
        .map(|(time, packet)| (time.0 / 1_000_000, packet.payload[0]))
        .collect()
}

#[test]
fn a_token_bucket_lets_a_burst_pass_and_queues_the_rest() {
    let mut link = bare(LinkConfig {
        queue: Queue::DropTail(Limit::packets(2)),
        ..LinkConfig::new(Shaper::TokenBucket {
            bytes_per_second: 100_000,
            burst: 3_000,
            peak: None,
        })
    });
    // Three leave at once, one is being sent, two wait, one is dropped; 300 ms later the bucket is full again.
    let arrivals = [[(ms(5), 1000); 7].as_slice(), &[(ms(400), 1000); 4]].concat();
    let expected = [5, 5, 5, 15, 25, 35].map(|millis| Some(ms(millis)));
    let again = [400, 400, 400, 410].map(|millis| Some(ms(millis)));
    let expected = [&expected[..], &[None], &again].concat();
    assert_eq!(departures(&mut link, &arrivals), expected);
}

#[test]
fn a_schedule_changes_the_rate_of_a_packet_being_sent() {
    let step = |millis, bytes_per_second| RateStep {
        from: ms(millis),
        bytes_per_second,
    };
    let steps = vec![step(0, 1_000_000), step(2, 0), step(10, 250_000)];
    let mut link = bare(LinkConfig::new(Shaper::Schedule(steps)));
    let arrivals = [(ms(0), 1500), (ms(0), 1500), (ms(0), 1000), (ms(50), 1000)];
    let expected = [1_500, 14_000, 18_000, 54_000].map(|micros| Some(Nanos::from_micros(micros)));
    assert_eq!(departures(&mut link, &arrivals), expected);
    assert_eq!(link.capacity(ms(0), ms(10)), 2_000);
    assert_eq!(link.capacity(ms(1), ms(14)), 2_000);
}

#[test]
fn a_policer_drops_where_a_shaper_would_queue() {
    let policer = Policer {
        bytes_per_second: 100_000,
        burst: 2_000,
    };
    let mut link = bare(LinkConfig {
        policer: Some(policer),
        ..line()
    });
    let results = [0, 0, 0, 9, 10].map(|millis| link.offer(ms(millis), packet(1000, 0)));
    let policed = EnqueueResult::Dropped(DropCause::Policed);
    let passed = EnqueueResult::Accepted;
    assert_eq!(results, [passed, passed, policed, policed, passed]);
    assert_eq!(link.statistics().policed.packets, 2);
}

#[test]
fn aggregation_releases_batches_before_propagation() {
    let config = |packets| LinkConfig {
        aggregation: Some(Aggregation {
            interval: ms(10),
            packets,
        }),
        delay: ms(100).into(),
        ..line()
    };
    // Departures: 1, 2, 3, 10, 11.
    let arrivals = [0, 1, 2, 9, 10];
    let by_time = [(110, 0), (110, 1), (110, 2), (120, 3), (120, 4)];
    assert_eq!(deliveries(config(None), &arrivals), by_time);
    let by_two = [(102, 0), (102, 1), (110, 2), (111, 3), (111, 4)];
    assert_eq!(deliveries(config(Some(2)), &arrivals), by_two);
}

#[test]
fn a_shorter_delay_may_overtake_or_wait() {
    let step = |from, delay| DelayStep {
        from: ms(from),
        delay: ms(delay),
    };
    let config = |reordering| LinkConfig {
        delay: Delay::Steps {
            steps: vec![step(0, 50), step(3, 10)],
            reordering,
        },
        ..line()
    };
    let arrivals = [0, 1, 2, 60];
    let waiting = [(51, 0), (52, 1), (52, 2), (71, 3)];
    assert_eq!(deliveries(config(false), &arrivals), waiting);
    let overtaking = [(13, 2), (51, 0), (52, 1), (71, 3)];
    assert_eq!(deliveries(config(true), &arrivals), overtaking);
}

#[test]
fn each_impairment_does_its_part_and_is_counted() {
    let run = |impairments: Impairments, loss: Loss| {
        let mut link = bare(LinkConfig {
            impairments,
            loss,
            ..line()
        });
        for (serial, (millis, size)) in [(0, 900), (5, 1001), (10, 900), (20, 1000)]
            .into_iter()
            .enumerate()
        {
            let _ = link.offer(ms(millis), packet(size, serial as u8));
        }
        let delivered: Vec<u8> = drain(&mut link)
            .into_iter()
            .map(|(_, packet)| packet.payload[0])
            .collect();
        (delivered, *link.statistics())
    };
    let none = Impairments::default();
    let keep = Loss::default;

    let mtu = Impairments {
        mtu: Some(1000),
        ..none.clone()
    };
    let (delivered, statistics) = run(mtu, keep());
    assert_eq!(
        (delivered, statistics.too_large.bytes),
        (vec![0, 2, 3], 1001)
    );

    let blackouts = vec![Interval {
        from: ms(5),
        to: ms(20),
    }];
    let dark = Impairments {
        blackouts: blackouts.clone(),
        ..none.clone()
    };
    let (delivered, statistics) = run(dark, Loss::Packets(vec![1]));
    assert_eq!(delivered, [0], "loss counts what reaches it");
    assert_eq!(
        (statistics.blackout.packets, statistics.lost.packets),
        (2, 1)
    );

    let (delivered, statistics) = run(none.clone(), Loss::Intervals(blackouts));
    assert_eq!((delivered, statistics.lost.packets), (vec![0, 3], 2));

    let copied = Impairments {
        duplication: 1.0,
        ..none.clone()
    };
    let (delivered, statistics) = run(copied, keep());
    assert_eq!(delivered, [0, 0, 1, 1, 2, 2, 3, 3]);
    assert_eq!(
        (statistics.duplicated.packets, statistics.delivered.packets),
        (4, 8)
    );

    let corrupted = Impairments {
        corruption: 1.0,
        ..none.clone()
    };
    let (_, statistics) = run(corrupted, keep());
    assert_eq!(
        (statistics.corrupted.packets, statistics.delivered.packets),
        (4, 4)
    );

    let late = Reordering {
        probability: 0.5,
        delay: ms(7),
    };
    let reordered = Impairments {
        reordering: Some(late),
        ..none
    };
    let (delivered, statistics) = run(reordered, keep());
    assert_eq!(delivered.len(), 4);
    assert!((1..4).contains(&statistics.reordered.packets));
}

#[test]
fn delayed_packets_arrive_after_later_ones() {
    let late = Reordering {
        probability: 1.0,
        delay: ms(7),
    };
    let config = LinkConfig {
        impairments: Impairments {
            reordering: Some(late),
            blackouts: vec![Interval {
                from: ms(6),
                to: ms(9),
            }],
            ..Impairments::default()
        },
        ..line()
    };
    let mut link = bare(config);
    assert_eq!(link.offer(ms(1), packet(1000, 0)), EnqueueResult::Accepted);
    assert_eq!((link.queued().packets, link.next_event()), (0, Some(ms(8))));
    // It had arrived before the blackout.
    let delivered = drain(&mut link);
    assert_eq!(delivered[0].0, ms(9));
}

/// Every random stage has a generator of its own: what one draws does not depend on which others there are.
#[test]
fn random_stages_do_not_disturb_each_other() {
    let lost = |config: LinkConfig| -> Vec<bool> {
        let mut link = Link::new(config, 11).unwrap();
        (0..500)
            .map(|_| link.offer(ms(0), packet(100, 0)) == EnqueueResult::Dropped(DropCause::Loss))
            .collect()
    };
    let lossy = LinkConfig {
        loss: Loss::Random(0.3),
        ..line()
    };
    let jitter = Jitter::Uniform {
        from: ms(1),
        to: ms(9),
    };
    let everything = LinkConfig {
        delay: Delay::Jittered {
            jitter,
            reordering: true,
        },
        impairments: Impairments {
            duplication: 0.5,
            corruption: 0.5,
            reordering: Some(Reordering {
                probability: 0.5,
                delay: ms(3),
            }),
            ..Impairments::default()
        },
        queue: Queue::Pie(kneepoint_emulator::link::Pie::default()),
        ..lossy.clone()
    };
    assert_eq!(lost(everything.clone()), lost(lossy));

    let copies = |corruption| {
        let mut link = bare(LinkConfig {
            impairments: Impairments {
                corruption,
                ..everything.impairments.clone()
            },
            ..line()
        });
        for _ in 0..500 {
            let _ = link.offer(ms(0), packet(100, 0));
        }
        let records = link.log().unwrap().records().iter();
        records.map(|record| record.duplicate).collect::<Vec<_>>()
    };
    assert_eq!(copies(0.0), copies(1.0));
}

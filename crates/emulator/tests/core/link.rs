//! Rules 3 to 5, and the other stages of a link.

use kneepoint_emulator::link::{
    Count, DropCause, EnqueueResult, Limit, Link, LinkConfig, PacketOutcome, Queue, Shaper,
};
use kneepoint_emulator::packet::Ecn;
use kneepoint_emulator::time::Nanos;
use kneepoint_emulator::trace::Trace;

use crate::common::{address, bare, departures, drain, ms, packet};

fn trace(text: &str) -> LinkConfig {
    LinkConfig::new(Shaper::Trace(Trace::parse(text, "t").unwrap()))
}

fn rate(bytes_per_second: u64) -> LinkConfig {
    LinkConfig::constant(bytes_per_second)
}

#[test]
fn packets_depart_when_their_last_byte_is_served() {
    struct Case {
        what: &'static str,
        trace: &'static str,
        arrivals: &'static [(u64, usize)],
        departures: &'static [u64],
    }
    for case in [
        Case {
            what: "a partly sent packet carries over: 2, 1, 2, 1 at an opportunity",
            trace: "10",
            arrivals: &[(0, 1000); 9],
            departures: &[10, 20, 20, 30, 40, 40, 50, 60, 60],
        },
        Case {
            what: "an opportunity sends exactly 1504 bytes",
            trace: "10",
            arrivals: &[(0, 752), (0, 752), (0, 1504), (0, 1)],
            departures: &[10, 10, 20, 30],
        },
        Case {
            what: "a large packet takes several",
            trace: "10",
            arrivals: &[(0, 1505), (0, 9024), (0, 1503)],
            departures: &[20, 80, 80],
        },
        Case {
            what: "what an opportunity has left when the queue is empty is wasted",
            trace: "10",
            arrivals: &[(0, 100), (11, 1000), (11, 1000)],
            departures: &[10, 20, 30],
        },
        Case {
            what: "unused opportunities are wasted",
            trace: "1",
            arrivals: &[(0, 1504), (500, 1504), (500, 1504)],
            departures: &[1, 501, 502],
        },
        Case {
            what: "an arrival cannot use an opportunity of its own time",
            trace: "10\n10",
            arrivals: &[(10, 1504), (10, 1504), (10, 1504)],
            departures: &[20, 20, 30],
        },
        Case {
            what: "nor what such an opportunity has left",
            trace: "10",
            arrivals: &[(0, 100), (10, 100), (10, 100)],
            departures: &[10, 20, 20],
        },
        Case {
            what: "nor an opportunity at time 0",
            trace: "0\n10",
            arrivals: &[(0, 1504), (0, 1504), (0, 1504)],
            departures: &[10, 10, 20],
        },
        Case {
            what: "but an arrival during a partly sent packet's wait uses what that leaves",
            trace: "10\n30",
            arrivals: &[(0, 2000), (20, 1000), (20, 9)],
            departures: &[30, 30, 40],
        },
        Case {
            what: "equal lines are separate opportunities",
            trace: "10\n10\n10\n50",
            arrivals: &[(0, 1504); 6],
            departures: &[10, 10, 10, 50, 60, 60],
        },
        Case {
            what: "a leading 0 coincides with the previous cycle's end",
            trace: "0\n1",
            arrivals: &[(44, 1504); 4],
            departures: &[45, 45, 46, 46],
        },
        Case {
            what: "an empty packet takes an opportunity's time",
            trace: "10",
            arrivals: &[(0, 0), (0, 1504), (0, 0), (10, 0)],
            departures: &[10, 10, 20, 20],
        },
    ] {
        let arrivals: Vec<_> = case
            .arrivals
            .iter()
            .map(|(time, size)| (ms(*time), *size))
            .collect();
        let expected: Vec<_> = case.departures.iter().map(|time| Some(ms(*time))).collect();
        assert_eq!(
            departures(&mut bare(trace(case.trace)), &arrivals),
            expected,
            "{}",
            case.what
        );
        // Polling in between, also late and at the time of arrivals, changes nothing.
        let mut polled = bare(trace(case.trace));
        for (now, size) in arrivals {
            polled.poll(now, |_, _| ());
            assert_eq!(polled.offer(now, packet(size, 0)), EnqueueResult::Accepted);
            polled.poll(now, |_, _| ());
        }
        drain(&mut polled);
        let again = polled
            .log()
            .unwrap()
            .records()
            .iter()
            .map(|record| match record.outcome {
                PacketOutcome::Sent { departure, .. } => Some(departure),
                _ => None,
            });
        assert!(again.eq(expected), "{}, polled", case.what);
    }
}

#[test]
fn the_packet_in_transit_does_not_count_for_the_queue() {
    struct Case {
        what: &'static str,
        limit: Limit,
        arrivals: &'static [(u64, usize)],
        accepted: &'static [bool],
    }
    for case in [
        Case {
            what: "exactly full is in order, one byte more is not",
            limit: Limit::bytes(3000),
            arrivals: &[(0, 1500), (0, 1500), (0, 1)],
            accepted: &[true, true, false],
        },
        Case {
            what: "a small packet fits where a large one does not",
            limit: Limit::bytes(3000),
            arrivals: &[(0, 1500), (0, 1501), (0, 1400), (0, 100)],
            accepted: &[true, false, true, true],
        },
        Case {
            what: "packets are counted whatever their size",
            limit: Limit::packets(2),
            arrivals: &[(0, 1), (0, 1500), (0, 1)],
            accepted: &[true, true, false],
        },
        Case {
            what: "the nearer of two limits counts",
            limit: Limit {
                bytes: Some(1000),
                packets: Some(3),
                time: None,
            },
            arrivals: &[(0, 900), (0, 200), (0, 1), (0, 1), (0, 1)],
            accepted: &[true, false, true, true, false],
        },
        Case {
            what: "the packet in transit does not count: 1000 are partly sent at 10",
            limit: Limit::packets(1),
            arrivals: &[(0, 3000), (0, 1), (10, 1), (10, 1)],
            accepted: &[true, false, true, false],
        },
        Case {
            what: "before its first opportunity, the first packet does count",
            limit: Limit::packets(1),
            arrivals: &[(9, 100), (9, 100), (10, 100), (19, 100)],
            accepted: &[true, false, true, false],
        },
    ] {
        let queue = Queue::DropTail(case.limit);
        let mut link = bare(LinkConfig {
            queue,
            ..trace("10")
        });
        let arrivals = case.arrivals.iter();
        let results = arrivals.map(|&(time, size)| link.offer(ms(time), packet(size, 0)));
        let results: Vec<EnqueueResult> = results.collect();
        let expected: Vec<EnqueueResult> = case
            .accepted
            .iter()
            .map(|ok| {
                if *ok {
                    EnqueueResult::Accepted
                } else {
                    EnqueueResult::Dropped(DropCause::QueueFull)
                }
            })
            .collect();
        assert_eq!(results, expected, "{}", case.what);
    }
}

#[test]
fn a_serial_line_sends_the_first_packet_at_once() {
    let queue = Queue::DropTail(Limit::packets(1));
    let mut link = bare(LinkConfig {
        queue,
        ..rate(1_000_000)
    });
    let arrivals = [
        (ms(5), 1000),
        (ms(5), 500),
        (ms(5), 1),
        (ms(6), 500),
        (ms(20), 250),
    ];
    let expected = [
        Some(ms(6)),
        Some(Nanos(6_500_000)),
        None,
        Some(ms(7)),
        Some(Nanos(20_250_000)),
    ];
    assert_eq!(departures(&mut link, &arrivals), expected);
}

#[test]
fn a_serial_line_does_not_drift() {
    // Three bytes a second: each byte takes 333333333.3 ns.
    let mut link = bare(rate(3));
    let arrivals = [(Nanos::ZERO, 1); 4];
    let expected = [333_333_334, 666_666_667, 1_000_000_000, 1_333_333_334];
    assert_eq!(
        departures(&mut link, &arrivals),
        expected.map(|time| Some(Nanos(time)))
    );
    assert_eq!(link.capacity(Nanos::ZERO, ms(1000)), 3);
    assert_eq!(link.capacity(ms(1000), ms(1999)), 2);
    assert_eq!(
        bare(rate(u64::MAX)).capacity(Nanos::ZERO, Nanos::MAX),
        u64::MAX
    );
}

#[test]
fn propagation_comes_after_service() {
    let mut link = bare(LinkConfig {
        delay: ms(30).into(),
        ..trace("10")
    });
    for serial in 0..3 {
        assert_eq!(
            link.offer(ms(1), packet(1504, serial)),
            EnqueueResult::Accepted
        );
    }
    let delivered = drain(&mut link);
    let times: Vec<Nanos> = delivered.iter().map(|(time, _)| *time).collect();
    assert_eq!(times, [40, 50, 60].map(ms));
    let first = link.log().unwrap().records()[0];
    assert_eq!(
        first.outcome,
        PacketOutcome::Sent {
            departure: ms(10),
            delivery: ms(40)
        }
    );
    assert_eq!((first.arrival, first.size), (ms(1), 1504));
}

#[test]
fn an_idle_link_has_no_event_and_a_late_poll_misses_nothing() {
    let mut link = bare(trace("1"));
    assert_eq!(link.next_event(), None);
    assert_eq!(link.offer(ms(3), packet(1504, 0)), EnqueueResult::Accepted);
    assert_eq!(link.offer(ms(3), packet(1504, 1)), EnqueueResult::Accepted);
    assert_eq!(link.next_event(), Some(ms(4)));
    let mut delivered = Vec::new();
    link.poll(ms(1_000_000), |time, packet| {
        delivered.push((time, packet.payload[0]))
    });
    assert_eq!(delivered, [(ms(4), 0), (ms(5), 1)]);
    assert_eq!(link.next_event(), None);
}

#[test]
fn time_never_runs_backwards_and_may_end() {
    let mut link = bare(rate(1_504_000));
    link.poll(ms(10), |_, _| ());
    assert_eq!(departures(&mut link, &[(ms(5), 1504)]), [Some(ms(11))]);
    link.poll(ms(20), |_, _| ());
    assert_eq!(link.offer(ms(3), packet(1504, 0)), EnqueueResult::Accepted);
    assert_eq!(link.offer(ms(22), packet(1504, 0)), EnqueueResult::Accepted);
    for (now, due) in [(0, &[][..]), (21, &[21]), (22, &[]), (23, &[23])] {
        let mut delivered = Vec::new();
        link.poll(ms(now), |time, _| delivered.push(time));
        assert_eq!(
            delivered,
            due.iter().map(|due| ms(*due)).collect::<Vec<_>>()
        );
    }
    for config in [rate(1), trace("1"), trace(&u64::MAX.to_string())] {
        let mut link = bare(LinkConfig {
            delay: Nanos::MAX.into(),
            ..config
        });
        for _ in 0..3 {
            assert_eq!(
                link.offer(Nanos(u64::MAX - 1), packet(9000, 0)),
                EnqueueResult::Accepted
            );
            assert_eq!(link.next_event(), None);
        }
        let mut delivered = 0;
        link.poll(Nanos::MAX, |_, _| delivered += 1);
        assert_eq!(delivered, 3);
    }
}

#[test]
fn loss_is_random_seeded_and_nested() {
    let lost = |loss: f64, seed: u64| -> Vec<bool> {
        let mut link = Link::new(
            LinkConfig {
                loss: loss.into(),
                ..rate(1_000_000)
            },
            seed,
        )
        .unwrap();
        let results = (0..20_000).map(|_| link.offer(ms(1), packet(100, 0)));
        let lost: Vec<bool> = results
            .map(|offer| offer == EnqueueResult::Dropped(DropCause::Loss))
            .collect();
        let packets = lost.iter().filter(|lost| **lost).count() as u64;
        let statistics = *link.statistics();
        assert_eq!(
            statistics.lost,
            Count {
                packets,
                bytes: packets * 128
            }
        );
        assert_eq!(statistics.dropped(DropCause::Loss), statistics.lost);
        assert_eq!(
            statistics.offered,
            Count {
                packets: 20_000,
                bytes: 20_000 * 128
            }
        );
        lost
    };
    let count = |lost: &[bool]| lost.iter().filter(|lost| **lost).count();
    assert_eq!(count(&lost(0.0, 1)), 0);
    assert_eq!(count(&lost(1.0, 1)), 20_000);
    let few = lost(0.05, 1);
    assert!((900..1100).contains(&count(&few)), "{}", count(&few));
    assert_eq!(few, lost(0.05, 1));
    assert_ne!(few, lost(0.05, 2));
    assert!(few.iter().zip(lost(0.1, 1)).all(|(few, more)| more || !few));
}

#[test]
fn flows_share_a_link_and_keep_their_marks() {
    let mut link = bare(trace("10"));
    for (source, ecn) in [
        (1, Some(Ecn::Ect0)),
        (3, None),
        (1, Some(Ecn::Ce)),
        (3, Some(Ecn::Ect1)),
    ] {
        let mut packet = packet(1504, source);
        packet.source = address(source);
        packet.ecn = ecn;
        assert_eq!(link.offer(ms(0), packet), EnqueueResult::Accepted);
    }
    let marks: Vec<_> = drain(&mut link)
        .into_iter()
        .map(|(_, packet)| packet.ecn)
        .collect();
    assert_eq!(
        marks,
        [Some(Ecn::Ect0), None, Some(Ecn::Ce), Some(Ecn::Ect1)]
    );
    let log = link.log().unwrap();
    let sources: Vec<_> = log.flows().iter().map(|flow| flow.source).collect();
    assert_eq!(sources, [address(1), address(3)]);
    let of_records = log
        .records()
        .iter()
        .map(|record| log.flow(record.flow).unwrap().source);
    assert!(of_records.eq([1, 3, 1, 3].map(address)));
}

#[test]
fn without_a_log_only_counters_are_kept() {
    let mut link = Link::new(rate(1_000_000), 1).unwrap();
    assert_eq!(link.offer(ms(0), packet(972, 0)), EnqueueResult::Accepted);
    assert_eq!(link.offer(ms(0), packet(472, 0)), EnqueueResult::Accepted);
    assert!(link.log().is_none());
    assert_eq!(
        link.queued(),
        Count {
            packets: 1,
            bytes: 500
        }
    );
    assert_eq!(link.statistics().delivered, Count::default());
    drain(&mut link);
    assert_eq!(link.queued(), Count::default());
    assert_eq!(
        link.statistics().delivered,
        Count {
            packets: 2,
            bytes: 1500
        }
    );
}

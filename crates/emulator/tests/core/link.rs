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

/// The fields of a case, which are separated by bars.
fn fields<const N: usize>(case: &str) -> [&str; N] {
    let fields: Vec<&str> = case.split('|').map(str::trim).collect();
    fields.try_into().unwrap()
}

/// Reads `time:size` with times in milliseconds, and `*count` behind it for several of a kind.
fn arrivals(text: &str) -> Vec<(Nanos, usize)> {
    let read = |word: &str| {
        let (word, count) = word.split_once('*').unwrap_or((word, "1"));
        let (time, size) = word.split_once(':').unwrap();
        let arrival = (ms(time.parse().unwrap()), size.parse().unwrap());
        std::iter::repeat_n(arrival, count.parse().unwrap())
    };
    text.split_whitespace().flat_map(read).collect()
}

#[test]
fn packets_depart_when_their_last_byte_is_served() {
    // What is tested; the trace; arrivals; departures, ms.
    for case in "
        a partly sent packet carries over: 2, 1, 2, 1 at an opportunity | 10 | 0:1000*9 | 10 20 20 30 40 40 50 60 60
        an opportunity sends exactly 1504 bytes | 10 | 0:752*2 0:1504 0:1 | 10 10 20 30
        a large packet takes several | 10 | 0:1505 0:9024 0:1503 | 20 80 80
        what an opportunity has left when the queue is empty is wasted | 10 | 0:100 11:1000*2 | 10 20 30
        unused opportunities are wasted | 1 | 0:1504 500:1504*2 | 1 501 502
        an arrival cannot use an opportunity of its own time | 10 10 | 10:1504*3 | 20 20 30
        nor what such an opportunity has left | 10 | 0:100 10:100*2 | 10 20 20
        nor an opportunity at time 0 | 0 10 | 0:1504*3 | 10 10 20
        but an arrival during a partly sent packet's wait uses what that leaves | 10 30 | 0:2000 20:1000 20:9 | 30 30 40
        equal lines are separate opportunities | 10 10 10 50 | 0:1504*6 | 10 10 10 50 60 60
        a leading 0 coincides with the previous cycle's end | 0 1 | 44:1504*4 | 45 45 46 46
        an empty packet takes an opportunity's time | 10 | 0:0 0:1504 0:0 10:0 | 10 10 20 20"
        .trim()
        .lines()
    {
        let [what, opportunities, offered, expected] = fields(case);
        let opportunities = opportunities.replace(' ', "\n");
        let arrivals = arrivals(offered);
        let times = expected.split(' ').map(|time| time.parse().unwrap());
        let expected: Vec<_> = times.map(|time| Some(ms(time))).collect();
        let mut link = bare(trace(&opportunities));
        assert_eq!(departures(&mut link, &arrivals), expected, "{what}");
        // Polling in between, also late and at the time of arrivals, changes nothing.
        let mut polled = bare(trace(&opportunities));
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
        assert!(again.eq(expected), "{what}, polled");
    }
}

#[test]
fn the_packet_in_transit_does_not_count_for_the_queue() {
    let two_limits = Limit {
        packets: Some(3),
        ..Limit::bytes(1000)
    };
    let [bytes, two] = [Limit::bytes(3000), Limit::packets(2)];
    let one = Limit::packets(1);
    // What is tested; arrivals; which of them are accepted.
    for (limit, case) in [
        (
            bytes,
            "exactly full is in order, one byte more is not | 0:1500*2 0:1 | ++-",
        ),
        (
            bytes,
            "a small packet fits where a large one does not | 0:1500 0:1501 0:1400 0:100 | +-++",
        ),
        (
            two,
            "packets are counted whatever their size | 0:1 0:1500 0:1 | ++-",
        ),
        (
            two_limits,
            "the nearer of two limits counts | 0:900 0:200 0:1*3 | +-++-",
        ),
        (
            one,
            "the packet in transit does not count: 1000 are partly sent at 10 | 0:3000 0:1 10:1*2 | +-+-",
        ),
        (
            one,
            "before its first opportunity, the first packet does count | 9:100*2 10:100 19:100 | +-+-",
        ),
    ] {
        let [what, offered, accepted] = fields(case);
        let queue = Queue::DropTail(limit);
        let mut link = bare(LinkConfig {
            queue,
            ..trace("10")
        });
        let results = arrivals(offered).into_iter();
        let results = results.map(|(time, size)| link.offer(time, packet(size, 0)));
        let results: Vec<EnqueueResult> = results.collect();
        let expected = accepted.chars().map(|sign| match sign {
            '+' => EnqueueResult::Accepted,
            _ => EnqueueResult::Dropped(DropCause::QueueFull),
        });
        assert_eq!(results, expected.collect::<Vec<_>>(), "{what}");
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

//! Queue disciplines on whole links, under more load than they can carry.

use kneepoint_emulator::link::{
    CoDel, EnqueueResult, FqCoDel, Limit, Link, LinkConfig, PacketOutcome, Pie, Queue, Red,
    StepMark,
};
use kneepoint_emulator::packet::Ecn;
use kneepoint_emulator::time::Nanos;

use crate::common::{address, bare, drain, ms, packet};

/// A packet of 1250 bytes takes 1 ms.
fn line(queue: Queue) -> Link {
    bare(LinkConfig {
        queue,
        ..LinkConfig::constant(1_250_000)
    })
}

/// Offers 20 s of packets of 1250 bytes, one every so many microseconds. Returns the delays of those offered in the
/// second half, in milliseconds.
fn load(link: &mut Link, gap: u64, ecn: Option<Ecn>) -> Vec<f64> {
    for time in (0..20_000_000).step_by(gap as usize) {
        let mut packet = packet(1250, 0);
        packet.ecn = ecn;
        let _ = link.offer(Nanos::from_micros(time), packet);
    }
    drain(link);
    let records = link.log().unwrap().records().iter();
    records
        .filter(|record| record.arrival >= ms(10_000))
        .filter_map(|record| match record.outcome {
            PacketOutcome::Sent { departure, .. } => {
                Some((departure - record.arrival).as_millis_f64())
            }
            _ => None,
        })
        .collect()
}

fn mean(delays: &[f64]) -> f64 {
    delays.iter().sum::<f64>() / delays.len() as f64
}

fn greatest(delays: &[f64]) -> f64 {
    delays.iter().copied().fold(0.0, f64::max)
}

#[test]
fn codel_keeps_the_delay_of_a_constant_overload_low() {
    // 5 % too much: CoDel's drop rate reaches it within a second.
    let mut link = line(Queue::CoDel(CoDel::default()));
    let delays = load(&mut link, 952, None);
    assert!(mean(&delays) < 30.0, "{}", mean(&delays));
    let statistics = link.statistics();
    let share = statistics.aqm.packets as f64 / statistics.offered.packets as f64;
    assert!((share - 0.048).abs() < 0.01, "{share}");
    assert_eq!(statistics.all_dropped(), statistics.aqm);
    let infinite = load(&mut line(Queue::Infinite), 952, None);
    assert!(mean(&infinite) > 700.0, "{}", mean(&infinite));
}

#[test]
fn pie_finds_the_drop_probability_of_a_constant_overload() {
    for derandomized in [false, true] {
        let pie = Pie {
            derandomized,
            ..Pie::default()
        };
        let mut link = line(Queue::Pie(pie));
        let delays = load(&mut link, 900, None);
        let mean = mean(&delays);
        assert!((8.0..25.0).contains(&mean), "{derandomized}: {mean}");
        let statistics = link.statistics();
        let share = statistics.aqm.packets as f64 / statistics.offered.packets as f64;
        assert!((share - 0.1).abs() < 0.02, "{derandomized}: {share}");
    }
}

#[test]
fn marks_replace_drops_where_the_transport_is_capable() {
    let codel = CoDel {
        ecn: true,
        limit: Some(Limit::packets(100)),
        ..CoDel::default()
    };
    let red = Red {
        min: 5_000,
        max: 60_000,
        max_probability: 0.1,
        weight: 0.002,
        packet_time: ms(1),
        limit: Some(Limit::packets(100)),
        ecn: true,
    };
    let step = StepMark {
        threshold: Limit::packets(20),
        drop_not_ect: true,
        limit: Some(Limit::packets(100)),
    };
    for queue in [
        Queue::CoDel(codel),
        Queue::FqCoDel(FqCoDel {
            codel,
            ..FqCoDel::default()
        }),
        Queue::Red(red),
        Queue::StepMark(step),
    ] {
        let mut capable = line(queue);
        load(&mut capable, 952, Some(Ecn::Ect0));
        let statistics = capable.statistics();
        assert_eq!(statistics.aqm.packets, 0, "{queue:?}");
        assert!(statistics.marked.packets > 100, "{queue:?}");
        assert!(
            statistics.queue_full.packets > 0,
            "load that does not react: {queue:?}"
        );
        let mut incapable = line(queue);
        load(&mut incapable, 952, None);
        assert_eq!(incapable.statistics().marked.packets, 0, "{queue:?}");
        assert!(incapable.statistics().aqm.packets > 100, "{queue:?}");
    }
}

#[test]
fn a_sparse_flow_does_not_wait_behind_a_bulky_one() {
    let delay_of_sparse = |queue| {
        let mut link = line(queue);
        for millis in 0..5_000 {
            for _ in 0..2 {
                let _ = link.offer(ms(millis), packet(1250, 0));
            }
            if millis % 20 == 0 {
                let mut sparse = packet(100, 0);
                sparse.source = address(9);
                assert_eq!(link.offer(ms(millis), sparse), EnqueueResult::Accepted);
            }
        }
        drain(&mut link);
        let log = link.log().unwrap();
        let sparse = log.records().iter().filter(|record| record.size == 100);
        let delays: Vec<f64> = sparse
            .map(|record| match record.outcome {
                PacketOutcome::Sent { departure, .. } => {
                    (departure - record.arrival).as_millis_f64()
                }
                outcome => panic!("{outcome:?}"),
            })
            .collect();
        assert_eq!(delays.len(), 250);
        greatest(&delays)
    };
    let fair = delay_of_sparse(Queue::FqCoDel(FqCoDel::default()));
    assert!(fair < 2.5, "{fair}");
    assert!(delay_of_sparse(Queue::Infinite) > 1_000.0);
}

#[test]
fn a_limit_in_time_bounds_the_wait() {
    for limit in [
        Limit::time(ms(10)),
        Limit {
            bytes: Some(100_000),
            ..Limit::time(ms(10))
        },
    ] {
        for queue in [Queue::DropTail(limit), Queue::DropHead(limit)] {
            let mut link = line(queue);
            let delays = load(&mut link, 500, None);
            // The wait, and the packet's own millisecond.
            assert!(greatest(&delays) <= 11.0, "{}", greatest(&delays));
            let statistics = link.statistics();
            assert!(statistics.expired.packets > 9_000);
            assert_eq!(statistics.all_dropped(), statistics.expired);
            assert!(
                statistics.delivered.packets > 19_990,
                "the line was always busy"
            );
        }
    }
}

#[test]
fn drop_head_keeps_the_newest() {
    let mut link = line(Queue::DropHead(Limit::packets(2)));
    for serial in 0..6 {
        assert_eq!(
            link.offer(ms(0), packet(1250, serial)),
            EnqueueResult::Accepted
        );
    }
    assert_eq!(
        (link.queued().packets, link.statistics().queue_full.packets),
        (2, 3)
    );
    let serials: Vec<u8> = drain(&mut link)
        .into_iter()
        .map(|(_, packet)| packet.payload[0])
        .collect();
    assert_eq!(serials, [0, 4, 5]);
}

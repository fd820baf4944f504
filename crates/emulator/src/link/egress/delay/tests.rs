use proptest::prelude::*;

use super::*;
use crate::link::tests::packet;

const fn ms(millis: u64) -> Nanos {
    Nanos::from_millis(millis)
}

fn deliveries(delay: Delay, departures: &[Nanos]) -> Vec<Nanos> {
    let mut line = DelayLine::new(delay, 1);
    let departures = departures.iter();
    departures
        .map(|departure| line.push(*departure, 0, packet(0)))
        .collect()
}

#[test]
fn a_step_holds_for_later_departures() {
    let steps = vec![
        DelayStep {
            from: ms(0),
            delay: ms(100),
        },
        DelayStep {
            from: ms(50),
            delay: ms(20),
        },
        DelayStep {
            from: ms(90),
            delay: ms(60),
        },
    ];
    let departures = [0, 49, 50, 80, 89, 90, 1000].map(ms);
    for (reordering, expected) in [
        (true, [100, 149, 70, 100, 109, 150, 1060]),
        (false, [100, 149, 149, 149, 149, 150, 1060]),
    ] {
        let steps = steps.clone();
        let delay = Delay::Steps { steps, reordering };
        assert_eq!(deliveries(delay, &departures), expected.map(ms));
    }
}

#[test]
fn jitter_has_its_moments() {
    for (jitter, mean, deviation) in [
        (
            Jitter::Uniform {
                from: ms(10),
                to: ms(40),
            },
            25.0,
            30.0 / 12_f64.sqrt(),
        ),
        (
            Jitter::Normal {
                mean: ms(50),
                deviation: ms(10),
            },
            50.0,
            // The truncation takes 1.3 % off.
            9.87,
        ),
        // 1 - 1/e of the packets wait for a slot at least, and for half a slot less than all of theirs.
        (
            Jitter::Wifi {
                from: ms(10),
                mean: ms(1),
            },
            10.684,
            0.862,
        ),
        // One of fifteen waits for twelve retransmissions of 7.5 ms.
        (
            Jitter::Wifi {
                from: ms(10),
                mean: ms(7),
            },
            16.684,
            23.45,
        ),
    ] {
        let delay = Delay::Jittered {
            jitter,
            reordering: true,
        };
        let delays: Vec<f64> = deliveries(delay, &[ms(0); 40_000])
            .into_iter()
            .map(Nanos::as_millis_f64)
            .collect();
        let count = delays.len() as f64;
        let sampled = delays.iter().sum::<f64>() / count;
        let variance = delays.iter().map(|x| (x - sampled).powi(2)).sum::<f64>() / count;
        assert!((sampled - mean).abs() < 0.25, "{jitter:?}: {sampled}");
        assert!(
            (variance.sqrt() - deviation).abs() < 0.25_f64.max(0.02 * deviation),
            "{jitter:?}: {variance}"
        );
    }
}

#[test]
fn extremes_of_jitter_are_within_its_range() {
    let all = Jitter::Uniform {
        from: Nanos::ZERO,
        to: Nanos::MAX,
    };
    let none = Jitter::Uniform {
        from: ms(7),
        to: ms(7),
    };
    let delay = |jitter| Delay::Jittered {
        jitter,
        reordering: true,
    };
    assert_eq!(deliveries(delay(none), &[ms(1); 3]), [ms(8); 3]);
    assert!(
        deliveries(delay(all), &[ms(1); 99])
            .iter()
            .all(|time| *time > ms(1))
    );
    let wide = Jitter::Normal {
        mean: ms(30),
        deviation: ms(10),
    };
    let within = |time: &Nanos| *time <= ms(60);
    assert!(deliveries(delay(wide), &[ms(0); 9_999]).iter().all(within));
}

proptest! {
    #[test]
    fn packets_come_out_when_due_and_in_order_if_asked_for(
        gaps in proptest::collection::vec(0..20_u64, 1..60),
        reordering: bool,
    ) {
        let jitter = Jitter::Uniform { from: ms(5), to: ms(50) };
        let mut line = DelayLine::new(Delay::Jittered { jitter, reordering }, 3);
        let mut departure = Nanos::ZERO;
        let mut due: Vec<(Nanos, u64)> = Vec::new();
        for (serial, gap) in gaps.into_iter().enumerate() {
            departure = departure + ms(gap);
            let delivery = line.push(departure, serial as u64, packet(0));
            prop_assert!(delivery >= departure + ms(5));
            due.push((delivery, serial as u64));
        }
        due.sort_by_key(|(delivery, _)| *delivery);
        prop_assert!(reordering || due.iter().map(|(_, serial)| serial).is_sorted());
        let mut out = Vec::new();
        while let Some(time) = line.next_delivery() {
            prop_assert!(line.pop(Nanos(time.0 - 1)).is_none());
            let (delivery, serial, _) = line.pop(time).unwrap();
            prop_assert_eq!(delivery, time);
            out.push((delivery, serial));
        }
        prop_assert_eq!(out, due);
    }
}

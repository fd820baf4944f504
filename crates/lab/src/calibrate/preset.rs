//! From what was measured to a host of the emulator.

use kneepoint_emulator::host::{
    Distribution, HostConfig, OtherWork, Processor, Receiving, Sending,
};
use kneepoint_emulator::time::Nanos;

use super::counts::CYCLE;
use super::{Measurement, Samples};

/// The host that behaves as this one was measured to.
pub(super) fn host(name: &str, measured: &Measurement) -> HostConfig {
    let others = measured.busy_with_others();
    // A wake-up that meets other work waits for it. The emulator adds that wait by itself, so the wake-ups that met some, which
    // are the longest, are left out: as large a part of them as others have of the time.
    let alone = measured.alone();
    let costs = &measured.costs;
    HostConfig {
        name: name.to_owned(),
        receive: Receiving {
            wakeup: quantiles(&measured.wakeups, alone),
            batch_datagrams: None,
            batch_time: Some(CYCLE.into()),
            buffer_bytes: measured.buffers.receive_bytes.max(1),
        },
        send: Sending {
            burst_datagrams: u32::try_from(measured.bursts.max())
                .unwrap_or(u32::MAX)
                .clamp(1, 64),
            pause: Distribution::ZERO,
            buffer_bytes: measured.buffers.send_bytes.max(1),
        },
        processor: Processor {
            wakeup: nanos(costs.wakeup),
            receive_datagram: nanos(costs.receive_datagram),
            receive_byte_nanos: thousandths(costs.receive_byte),
            send_burst: nanos(costs.send_burst),
            send_datagram: nanos(costs.send_datagram),
            send_byte_nanos: thousandths(costs.send_byte),
            others: others.map(|others| OtherWork {
                gap: quantiles(&others.gaps, 1.0),
                slice: quantiles(&others.slices, 1.0),
            }),
        },
        timer_granularity: measured.timer_granularity().into(),
    }
}

fn quantiles(samples: &Samples, upto: f64) -> Distribution {
    let spans = samples.quantiles(QUANTILES, upto).into_iter();
    // No host of the emulator waits for longer.
    Distribution::Quantiles(spans.map(|span| Nanos::from(span).min(LONGEST)).collect())
}

fn nanos(cost: f64) -> Nanos {
    // Conversions from floating point saturate.
    Nanos(cost.round() as u64).min(LONGEST)
}

/// Enough digits, and within the emulator's range.
fn thousandths(cost: f64) -> f64 {
    ((cost * 1e3).round() / 1e3).min(1000.0)
}

/// One for every half per cent.
const QUANTILES: usize = 201;

const LONGEST: Nanos = Nanos::from_millis(10_000);

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::Interruptions;
    use super::super::tests::{measurement, micros};
    use super::*;

    #[test]
    fn every_part_reaches_the_host() {
        let host = host("mine", &measurement());
        assert_eq!(host.validate().map_err(|error| error.to_string()), Ok(()));
        let Distribution::Quantiles(wakeups) = &host.receive.wakeup else {
            unreachable!("it was measured");
        };
        assert_eq!(wakeups.len(), 201);
        assert_eq!(wakeups.first(), Some(&Nanos::from_micros(10)));
        assert_eq!(wakeups.last(), Some(&Nanos::from_micros(110)));
        assert_eq!(host.receive.batch_time, Some(Nanos::from_micros(50)));
        assert_eq!(host.receive.buffer_bytes, 130_000);
        assert_eq!(host.send.buffer_bytes, 212_992);
        assert_eq!(host.send.burst_datagrams, 10);
        assert_eq!(host.processor.wakeup, Nanos(3001));
        assert_eq!(host.processor.receive_datagram, Nanos(1000));
        assert_eq!(host.processor.send_burst, Nanos(4000));
        assert_eq!(host.processor.send_datagram, Nanos(1200));
        assert_eq!(host.processor.receive_byte_nanos, 0.401);
        assert_eq!(host.processor.send_byte_nanos, 0.5);
        assert_eq!(host.processor.others, None);
        assert_eq!(host.timer_granularity, Nanos::from_millis(1));
    }

    #[test]
    fn what_waits_for_others_is_not_counted_twice() {
        let mut measured = measurement();
        measured.interruptions = Some(Interruptions {
            gaps: micros(&[3000]),
            slices: micros(&[1000]),
        });
        let host = host("mine", &measured);
        // Three quarters of the way from 10 to 110.
        assert_eq!(host.receive.wakeup.max(), Nanos::from_micros(85));
        let others = host.processor.others.as_ref().unwrap();
        assert_eq!(others.gap.max(), Nanos::from_millis(3));
        assert_eq!(others.slice.max(), Nanos::from_millis(1));
        assert!(host.validate().is_ok());
    }

    #[test]
    fn absurd_measurements_still_make_a_valid_host() {
        let mut measured = measurement();
        measured.wakeups = Samples::new(vec![Duration::from_secs(3600)]).unwrap();
        measured.costs.send_byte = 1e9;
        measured.costs.wakeup = 1e30;
        measured.buffers.receive_bytes = 0;
        assert!(host("mine", &measured).validate().is_ok());
    }
}

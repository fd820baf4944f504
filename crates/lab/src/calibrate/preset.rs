//! From what was measured to a host of the emulator.

use std::time::Duration;

use kneepoint_emulator::host::{
    Distribution, HostConfig, OtherWork, Processor, Receiving, Sending,
};
use kneepoint_emulator::time::Nanos;

use super::counts::CYCLE;
use super::{Measurement, Samples};

/// The host that behaves as this one was measured to.
pub(super) fn host(name: &str, measured: &Measurement) -> HostConfig {
    // The emulator adds the waits for other work to its wake-ups, so they are no part of these.
    let (wakeups, waits) = measured.wakeups();
    let costs = &measured.costs;
    HostConfig {
        name: name.to_owned(),
        receive: Receiving {
            wakeup: quantiles(wakeups.table(QUANTILES)),
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
            wakeup: nanos(costs.receive.batch),
            receive_datagram: nanos(costs.receive.datagram),
            receive_byte_nanos: thousandths(costs.receive.byte),
            send_burst: nanos(costs.send.batch),
            send_datagram: nanos(costs.send.datagram),
            send_byte_nanos: thousandths(costs.send.byte),
            others: waits.map(|waits| others(&waits, measured.alone())),
        },
        timer_granularity: measured.timer_granularity().into(),
    }
}

/// Other work that wake-ups meet as often, and wait for as long. A wake-up comes in the middle of a slice, on average.
fn others(waits: &Samples, alone: f64) -> OtherWork {
    let slices: Vec<Duration> = waits
        .table(QUANTILES)
        .into_iter()
        .map(|wait| wait * 2)
        .collect();
    let slice = waits.sum().as_secs_f64() * 2.0 / waits.count() as f64;
    let mean = nanos(slice * 1e9 * alone / (1.0 - alone)).max(MIN_GAP);
    OtherWork {
        gap: Distribution::Exponential {
            mean,
            max: Nanos(mean.0.saturating_mul(10)).min(MAX),
        },
        slice: quantiles(slices),
    }
}

fn quantiles(spans: Vec<Duration>) -> Distribution {
    // No host of the emulator waits for longer.
    let spans = spans.into_iter().map(|span| Nanos::from(span).min(MAX));
    Distribution::Quantiles(spans.collect())
}

fn nanos(cost: f64) -> Nanos {
    // Conversions from floating point saturate.
    Nanos(cost.round() as u64).min(MAX)
}

/// Enough digits, and within the emulator's range.
fn thousandths(cost: f64) -> f64 {
    ((cost * 1e3).round() / 1e3).min(1000.0)
}

/// One for every half per cent.
const QUANTILES: usize = 201;

const MAX: Nanos = Nanos::from_millis(10_000);

const MIN_GAP: Nanos = Nanos::from_micros(1);

#[cfg(test)]
mod tests {
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
    fn waiting_packets_are_counted_once() {
        let mut measured = measurement();
        measured.wakeups = micros(&[10, 60, 110, 3000]);
        let host = host("mine", &measured);
        assert_eq!(host.receive.wakeup.max(), Nanos::from_micros(110));
        let others = host.processor.others.as_ref().unwrap();
        // One of four wake-ups waited for 3 ms.
        let gap = Distribution::Exponential {
            mean: Nanos::from_millis(18),
            max: Nanos::from_millis(180),
        };
        assert_eq!(others.gap, gap);
        assert_eq!(others.slice.max(), Nanos::from_millis(6));
        assert!(host.validate().is_ok());
    }

    #[test]
    fn absurd_measurements_still_make_a_valid_host() {
        let mut measured = measurement();
        let spans = [0, 3600].map(Duration::from_secs).to_vec();
        measured.wakeups = Samples::new(spans).unwrap();
        measured.costs.send.byte = 1e9;
        measured.costs.receive.batch = 1e30;
        measured.buffers.receive_bytes = 0;
        assert!(host("mine", &measured).validate().is_ok());
    }
}

//! How long this machine, as an end host, takes to read, to send and to wake up: measured over its own sockets.
//!
//! [`measure`] runs quinn over tokio and 127.0.0.1, one thread to a side, and counts what quinn asks of its sockets.
//! [`Measurement::host`] makes a host of the emulator of it.

mod buffer;
mod costs;
mod counts;
mod others;
mod preset;
mod samples;
mod timers;
mod transfer;
mod wakeups;

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use kneepoint_emulator::host::HostConfig;
use thiserror::Error;

use self::costs::{Cost, Costs, Work};
use self::counts::Sizes;
use self::others::Load;
use crate::loopback::Machine;

pub use self::buffer::Buffers;
pub use self::others::Interruptions;
pub use self::samples::Samples;
pub use self::timers::Lateness;

/// The measured properties of a host.
#[derive(Debug, Clone)]
pub struct Measurement {
    /// The machine, before it was measured.
    pub machine: Machine,
    /// From the arrival of a datagram until a sleeping application has read it.
    pub wakeups: Samples,
    /// How late tokio's timers are.
    pub timers: Vec<Lateness>,
    /// The interruptions of a thread that never sleeps; `None` for none.
    pub interruptions: Option<Interruptions>,
    /// The socket buffers.
    pub buffers: Buffers,
    /// Datagrams per call that reads.
    reads: Sizes,
    /// Datagrams per wake-up.
    batches: Sizes,
    /// Datagrams per call that sends.
    bursts: Sizes,
    costs: Costs,
}

/// Measures this machine for so long in all, while so many threads compute besides. Calls `progress` with the share that
/// each step had of the whole.
///
/// # Errors
/// The system refuses a socket or a thread, does not tell the processor time of a thread, or the time is too short.
pub fn measure(
    duration: Duration,
    load: u32,
    seed: u64,
    progress: &dyn Fn(f64),
) -> Result<Measurement, CalibrateError> {
    let machine = Machine::now();
    let _load = Load::start(load);
    let wakeups = wakeups::measure(duration.mul_f64(WAKEUPS), seed)?;
    progress(WAKEUPS);
    let timers = timers::measure(duration.mul_f64(TIMERS), seed)?;
    progress(TIMERS);
    let interruptions = others::measure(duration.mul_f64(OTHERS));
    progress(OTHERS);
    let buffers = buffer::measure()?;

    let shapes: Vec<_> = transfer::shapes().collect();
    let share = TRANSFERS / (shapes.len() * ROUNDS) as f64;
    let mut repeated = vec![<[Vec<Work>; 2]>::default(); shapes.len()];
    for _ in 0..ROUNDS {
        for (shape, sides) in shapes.iter().zip(&mut repeated) {
            let work = transfer::measure(*shape, duration.mul_f64(share))?;
            for (side, work) in sides.iter_mut().zip(work) {
                side.push(work);
            }
            progress(share);
        }
    }
    let work: Vec<Work> = repeated
        .into_iter()
        .flatten()
        .filter_map(costs::median)
        .collect();
    let (mut reads, mut batches, mut bursts) = <(Sizes, Sizes, Sizes)>::default();
    for work in &work {
        reads.merge(&work.counts.reads);
        batches.merge(&work.counts.batches);
        bursts.merge(&work.counts.bursts);
    }
    Ok(Measurement {
        machine,
        wakeups,
        timers,
        interruptions,
        buffers,
        reads,
        batches,
        bursts,
        costs: costs::fit(&work).ok_or(CalibrateError::Nothing {
            what: "costs of transfers",
        })?,
    })
}

impl Measurement {
    /// The host of the emulator that behaves as this one was measured to.
    pub fn host(&self, name: &str) -> HostConfig {
        preset::host(name, self)
    }

    /// The granularity of tokio's timers.
    pub fn timer_granularity(&self) -> Duration {
        let wakeup = self.wakeups().0.quantile(0.5);
        timers::granularity(&self.timers, wakeup, self.alone())
    }

    /// Delays of wake-ups that met no other work, and of those that did, if these are more than there are everywhere.
    ///
    /// A thread that sleeps most of the time meets less other work than one that never does: schedulers let it run first. The
    /// wake-ups show how much.
    fn wakeups(&self) -> (Samples, Option<Samples>) {
        match self.wakeups.split(MAX_ALONE) {
            (Some(alone), Some(met)) if share(&met, &self.wakeups) >= NEGLIGIBLE => {
                (alone, Some(met))
            }
            _ => (self.wakeups.clone(), None),
        }
    }

    /// The share of wake-ups that met no other work.
    fn alone(&self) -> f64 {
        share(&self.wakeups().0, &self.wakeups)
    }

    /// Names and values, for people.
    pub fn describe(&self) -> Vec<(&'static str, String)> {
        let micros = |span: Duration| format!("{:.1} us", span.as_secs_f64() * 1e6);
        let spans = |samples: &Samples| {
            let at = |p| micros(samples.quantile(p));
            let (p50, p95, p99, max) = (at(0.5), at(0.95), at(0.99), at(1.0));
            let count = samples.count();
            format!("p50 {p50}, p95 {p95}, p99 {p99}, max {max} ({count} samples)")
        };
        let sizes = |sizes: &Sizes| {
            let [p50, p95] = [0.5, 0.95].map(|p| sizes.percentile(p));
            let (max, times) = (sizes.max(), sizes.times());
            format!("p50 {p50}, p95 {p95}, max {max} ({times} times)")
        };
        let mut entries = vec![("processors", self.machine.processors.to_string())];
        if let Some(load) = self.machine.load_average {
            entries.push(("load average before", load.to_string()));
        }
        entries.push(("wake-up delay", spans(&self.wakeups)));
        for timer in &self.timers {
            let (asked, late) = (micros(timer.asked), spans(&timer.late));
            entries.push(("timer lateness", format!("of {asked}: {late}")));
        }
        let granularity = micros(self.timer_granularity());
        entries.push(("timers rounded up to", granularity));
        let others = match &self.interruptions {
            None => "none".to_owned(),
            Some(others) => {
                let (share, slices) = (others.share() * 100.0, spans(&others.slices));
                format!(
                    "{share:.2} % of the time of a thread that never sleeps, in slices of {slices}"
                )
            }
        };
        entries.push(("work of others", others));
        let cost = |batch: &str, cost: Cost| {
            let (first, datagram, byte) = (cost.batch / 1e3, cost.datagram / 1e3, cost.byte);
            format!(
                "{first:.2} us per {batch}, {datagram:.2} us per datagram, {byte:.3} ns per byte"
            )
        };
        entries.extend([
            ("datagrams per read", sizes(&self.reads)),
            ("datagrams per wake-up", sizes(&self.batches)),
            ("datagrams per burst", sizes(&self.bursts)),
            ("cost of receiving", cost("wake-up", self.costs.receive)),
            ("cost of sending", cost("burst", self.costs.send)),
            (
                "error of the costs",
                format!("{:.1} % (root mean square)", self.costs.error * 100.0),
            ),
            (
                "receive buffer",
                format!("{} bytes of payload", self.buffers.receive_bytes),
            ),
            ("send buffer", format!("{} bytes", self.buffers.send_bytes)),
        ]);
        entries
    }
}

/// Any port of this machine.
const LOOPBACK: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// How the time is divided.
const WAKEUPS: f64 = 0.2;
const TIMERS: f64 = 0.2;
const OTHERS: f64 = 0.1;
const TRANSFERS: f64 = 0.5;

/// How often each transfer is made, in turns with the others: processors are not equally fast at all times.
const ROUNDS: usize = 5;

/// How large a part these are of all.
fn share(part: &Samples, all: &Samples) -> f64 {
    part.count() as f64 / all.count() as f64
}

/// Rarer late wake-ups change nothing: the maximum filters of controllers keep what happens once in ten rounds, and at 20 ms and
/// thousands of wake-ups a second that is one of a thousand. On a virtual machine 1 % are late with nothing else running: a processor
/// that has slept waits to be scheduled again.
const NEGLIGIBLE: f64 = 0.001;

/// No idle processor takes as long to wake up, however deep it sleeps.
const MAX_ALONE: Duration = Duration::from_micros(500);

/// Why a host cannot be measured.
#[derive(Debug, Error)]
pub enum CalibrateError {
    /// The system refuses a socket, a runtime or a thread.
    #[error("cannot {attempt}: {error}")]
    System {
        /// The failed operation.
        attempt: &'static str,
        /// Why it failed.
        error: io::Error,
    },
    /// A QUIC connection over loopback fails.
    #[error("a connection over loopback failed: {0}")]
    Connection(String),
    /// A thread has panicked.
    #[error("a thread of the measurement has panicked")]
    Panicked,
    /// The system does not tell how long a thread has had a processor.
    #[error("this system does not tell the processor time of a thread")]
    NoProcessorTime,
    /// The time was too short for a single sample.
    #[error("{what}: nothing was measured in this time")]
    Nothing {
        /// The quantity to be measured.
        what: &'static str,
    },
}

impl CalibrateError {
    /// For [`Result::map_err`]: what was tried when the system refused.
    fn system(attempt: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::System { attempt, error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spans of so many microseconds.
    pub(super) fn micros(spans: &[u64]) -> Samples {
        Samples::new(
            spans
                .iter()
                .map(|&span| Duration::from_micros(span))
                .collect(),
        )
        .unwrap()
    }

    pub(super) fn measurement() -> Measurement {
        let mut sizes = Sizes::default();
        sizes.add(1);
        sizes.add(10);
        Measurement {
            machine: Machine {
                processors: 2,
                load_average: Some(0.25),
            },
            wakeups: micros(&[10, 110]),
            timers: vec![Lateness {
                asked: Duration::from_millis(1),
                late: micros(&[1040, 1060, 1080]),
            }],
            interruptions: Some(Interruptions {
                gaps: micros(&[999_000]),
                slices: micros(&[1000]),
            }),
            buffers: Buffers {
                receive_bytes: 130_000,
                send_bytes: 212_992,
            },
            reads: sizes.clone(),
            batches: sizes.clone(),
            bursts: sizes,
            costs: Costs {
                receive: Cost::new(3000.6, 1000.0, 0.4007),
                send: Cost::new(4000.0, 1200.0, 0.5),
                error: 0.05,
            },
        }
    }

    #[test]
    fn a_description_names_the_measurements() {
        let text = crate::output::list(&measurement().describe());
        for part in [
            "load average before    0.25\n",
            "wake-up delay          p50 60.0 us, p95 105.0 us, p99 109.0 us, max 110.0 us (2 samples)\n",
            "timers rounded up to   1000.0 us\n",
            "work of others         0.10 % of the time of a thread that never sleeps, in slices of p50 1000.0 us",
            "datagrams per burst    p50 1, p95 10, max 10 (2 times)\n",
            "cost of receiving      3.00 us per wake-up, 1.00 us per datagram, 0.401 ns per byte\n",
            "error of the costs     5.0 % (root mean square)\n",
        ] {
            assert!(text.contains(part), "{part}{text}");
        }
    }
}

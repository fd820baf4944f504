//! How late tokio's timers are.

use std::hint::spin_loop;
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use tokio::runtime::Builder;
use tokio::time::sleep;

use super::{CalibrateError, Samples};
use crate::real_clock::now;

/// How late sleeps of one length were.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lateness {
    /// What was asked for.
    pub asked: Duration,
    /// How much longer it took.
    pub late: Samples,
}

/// Sleeps of several lengths, in turn, from instants that have nothing to do with the timers' ticks.
pub(super) fn measure(duration: Duration, seed: u64) -> Result<Vec<Lateness>, CalibrateError> {
    let runtime = Builder::new_current_thread()
        .enable_time()
        .build()
        .map_err(CalibrateError::system("start a runtime"))?;
    let mut generator = Pcg64::seed_from_u64(seed);
    let mut late = LENGTHS_MICROS.map(|_| Vec::new());
    runtime.block_on(async {
        let begin = now();
        while now().saturating_duration_since(begin) < duration {
            for (length, late) in LENGTHS_MICROS.into_iter().zip(&mut late) {
                let start = now() + Duration::from_nanos(generator.random_range(0..TICK_NANOS));
                while now() < start {
                    spin_loop();
                }
                let length = Duration::from_micros(length);
                let start = now();
                sleep(length).await;
                late.push(
                    now()
                        .saturating_duration_since(start)
                        .saturating_sub(length),
                );
            }
        }
    });
    LENGTHS_MICROS
        .into_iter()
        .zip(late)
        .map(|(length, late)| {
            let late = Samples::new(late).ok_or(CalibrateError::Nothing {
                what: "timer lateness",
            })?;
            Ok(Lateness {
                asked: Duration::from_micros(length),
                late,
            })
        })
        .collect()
}

/// What timers are rounded up to, to [`STEP`]. Where the phase is random, rounding makes them late by anything from nothing to a
/// tick, so the middle half of the lateness is half a tick wide, and what makes all of them late moves it as a whole.
///
/// Timers that meet other work are late by that as well. They are the latest; only as large a part of all as the thread is
/// `alone` with its processor is looked at.
pub(super) fn granularity(timers: &[Lateness], alone: f64) -> Duration {
    let Some(all) = Samples::all(timers.iter().map(|timer| &timer.late)) else {
        return Duration::ZERO;
    };
    let tick = (all.quantile(0.75 * alone) - all.quantile(0.25 * alone)) * 2;
    STEP.mul_f64((tick.as_secs_f64() / STEP.as_secs_f64()).round())
}

const LENGTHS_MICROS: [u64; 6] = [100, 250, 500, 1000, 2000, 5000];

/// As long as tokio's ticks, or longer.
const TICK_NANOS: u64 = 1_000_000;

/// Finer than this, ticks cannot be told from chance.
const STEP: Duration = Duration::from_micros(50);

#[cfg(test)]
mod tests {
    use super::*;

    fn timer(late: impl Iterator<Item = u64>) -> Lateness {
        Lateness {
            asked: Duration::from_millis(1),
            late: Samples::new(late.map(Duration::from_micros).collect()).unwrap(),
        }
    }

    #[test]
    fn ticks_are_found_behind_a_constant_delay_and_a_tail() {
        let rounded = || timer((0..1000).map(|late| 70 + late).chain([9_000; 20]));
        assert_eq!(granularity(&[rounded(), rounded()], 1.0).as_micros(), 1000);
        let exact = timer((0..100).map(|late| 60 + late % 7));
        assert_eq!(granularity(&[exact], 1.0), Duration::ZERO);
        assert_eq!(granularity(&[], 1.0), Duration::ZERO);
    }

    #[test]
    fn ticks_are_found_on_a_busy_machine() {
        // Every other timer waits for others.
        let late = (0..1000).flat_map(|late| [70 + late, 1_100 + 4 * late]);
        assert_eq!(granularity(&[timer(late)], 0.5).as_micros(), 1000);
    }
}

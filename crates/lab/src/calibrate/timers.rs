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
    /// The requested time.
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

/// What timers are rounded up to, to [`STEP`].
///
/// tokio rounds a deadline up to its next tick, and its driver rounds the time until then up to a tick again, because
/// epoll_wait(2) counts milliseconds. So a sleep of whole ticks is late by exactly one, whatever its phase, and by what a
/// wake-up takes. Timers that meet other work are the latest: only as large a part of all as the thread is `alone` with its
/// processor is looked at.
pub(super) fn granularity(timers: &[Lateness], wakeup: Duration, alone: f64) -> Duration {
    let whole = timers
        .iter()
        .filter(|timer| timer.asked.subsec_nanos() % TICK_NANOS as u32 == 0);
    let Some(late) = Samples::all(whole.map(|timer| &timer.late)) else {
        return Duration::ZERO;
    };
    let tick = late.quantile(0.5 * alone).saturating_sub(wakeup);
    STEP.mul_f64((tick.as_secs_f64() / STEP.as_secs_f64()).round())
}

const LENGTHS_MICROS: [u64; 6] = [100, 250, 500, 1000, 2000, 5000];

/// tokio's tick.
const TICK_NANOS: u64 = 1_000_000;

/// Finer than this, ticks cannot be told from chance.
const STEP: Duration = Duration::from_micros(100);

#[cfg(test)]
mod tests {
    use super::*;

    const WAKEUP: Duration = Duration::from_micros(20);

    fn timer(asked: u64, late: impl Iterator<Item = u64>) -> Lateness {
        Lateness {
            asked: Duration::from_micros(asked),
            late: Samples::new(late.map(Duration::from_micros).collect()).unwrap(),
        }
    }

    #[test]
    fn a_sleep_of_whole_ticks_is_late_by_one() {
        let rounded = || (0..100).map(|late| 1_010 + late % 60).chain([9_000; 20]);
        // By 0.9 or 1.9 ticks, which depends on the phase.
        let part = timer(100, (0..100).map(|late| 900 + late % 10 / 9 * 1000));
        let timers = [part, timer(1000, rounded()), timer(5000, rounded())];
        assert_eq!(granularity(&timers, WAKEUP, 1.0).as_micros(), 1000);
        let exact = timer(1000, (0..100).map(|late| 30 + late % 7));
        assert_eq!(granularity(&[exact], WAKEUP, 1.0), Duration::ZERO);
        assert_eq!(granularity(&[], WAKEUP, 1.0), Duration::ZERO);
    }

    #[test]
    fn ticks_are_found_on_a_busy_machine() {
        // Two of three timers wait for others.
        let late = (0..999).map(|late| {
            if late % 3 == 0 {
                1_030
            } else {
                2_000 + 4 * late
            }
        });
        let timers = [timer(2000, late)];
        assert_eq!(granularity(&timers, WAKEUP, 0.33).as_micros(), 1000);
    }
}

//! How busy this machine is with other things.

use std::hint::black_box;
use std::thread;
use std::time::Duration;

use serde::Serialize;

use crate::real_clock::Moment;

/// The machine that was measured on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Machine {
    /// Its processors.
    pub processors: usize,
    /// How many threads wanted a processor during the last minute, on average; `None` where the system does not tell.
    pub load_average: Option<f64>,
}

impl Machine {
    /// This machine now.
    pub fn now() -> Self {
        Self {
            processors: thread::available_parallelism().map_or(1, usize::from),
            load_average: std::fs::read_to_string("/proc/loadavg")
                .ok()
                .and_then(|text| parse_load(&text)),
        }
    }
}

/// The first of the numbers in `/proc/loadavg`.
fn parse_load(text: &str) -> Option<f64> {
    text.split_whitespace().next()?.parse().ok()
}

/// Lets two threads, as many as a transfer has sides, compute for a moment. Returns the share of that time for which they
/// had a processor: 1 on an idle machine with two processors. `None` where the system does not tell.
pub(super) fn processor_share() -> Option<f64> {
    let threads: Vec<_> = (0..SIDES).map(|_| thread::spawn(spin)).collect();
    let shares: Option<Vec<f64>> = threads
        .into_iter()
        .map(|thread| thread.join().ok().flatten())
        .collect();
    shares.map(|shares| shares.iter().sum::<f64>() / shares.len() as f64)
}

fn spin() -> Option<f64> {
    let begin = Moment::now();
    loop {
        for number in 0..1000_u32 {
            black_box(number);
        }
        let passed = begin.passed();
        if passed.wall >= SPIN {
            let processor = passed.processor?;
            return Some((processor.as_secs_f64() / passed.wall.as_secs_f64()).min(1.0));
        }
    }
}

/// Sender and receiver.
const SIDES: usize = 2;

/// Several slices of the scheduler of Linux, which are 3 ms each.
const SPIN: Duration = Duration::from_millis(20);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_load_is_the_first_number() {
        assert_eq!(parse_load("0.68 0.85 0.58 2/96 17431\n"), Some(0.68));
        assert_eq!(parse_load(""), None);
        assert_eq!(parse_load("busy"), None);
    }

    #[test]
    fn a_share_is_a_share() {
        if let Some(share) = processor_share() {
            assert!((0.0..=1.0).contains(&share), "{share}");
        }
    }
}

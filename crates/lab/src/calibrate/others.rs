//! Measures other work on the processors, with a thread that never sleeps.

use std::hint::{black_box, spin_loop};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::Samples;
use crate::real_clock::now;

/// The interruptions of a thread that never sleeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interruptions {
    /// How long it has a processor without interruption.
    pub gaps: Samples,
    /// How long it has none.
    pub slices: Samples,
}

impl Interruptions {
    /// The share of time without a processor.
    pub fn share(&self) -> f64 {
        let (work, others) = (
            self.gaps.sum().as_secs_f64(),
            self.slices.sum().as_secs_f64(),
        );
        if work + others > 0.0 {
            others / (work + others)
        } else {
            0.0
        }
    }
}

/// Reads the clock again and again: where it jumps, others had the processor. `None` without a jump.
pub(super) fn measure(duration: Duration) -> Option<Interruptions> {
    let begin = now();
    let (mut gap, mut last) = (begin, begin);
    let (mut gaps, mut slices) = (Vec::new(), Vec::new());
    while last.saturating_duration_since(begin) < duration {
        let time = now();
        let slice = time.saturating_duration_since(last);
        if slice > SLICE {
            gaps.push(last.saturating_duration_since(gap));
            slices.push(slice);
            gap = time;
        }
        last = time;
    }
    Some(Interruptions {
        gaps: Samples::new(gaps)?,
        slices: Samples::new(slices)?,
    })
}

/// Threads that compute until this is dropped.
#[derive(Debug)]
pub(super) struct Load(Arc<AtomicBool>);

impl Load {
    pub(super) fn start(threads: u32) -> Self {
        let done = Arc::new(AtomicBool::new(false));
        for _ in 0..threads {
            let done = Arc::clone(&done);
            thread::spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    black_box(());
                    spin_loop();
                }
            });
        }
        Self(done)
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A jump of the clock that no interrupt handler explains.
const SLICE: Duration = Duration::from_micros(30);

//! FESTIVE: fair to other players, and steady.

use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::{Abr, Decision, Download, PlayerState};

/// FESTIVE of J. Jiang, V. Sekar, H. Zhang, "Improving Fairness, Efficiency, and Stability in HTTP-based Adaptive Video
/// Streaming with FESTIVE", CoNEXT 2012: a harmonic mean of throughputs, one level at a time and upwards the slower the
/// higher, no change that gains less than it unsettles, and requests at random buffer levels.
///
/// The bandwidth is the harmonic mean over the 20 last segments, requests included; before there are 20, over all.
#[derive(Debug, Clone)]
pub struct Festive {
    random: Pcg64,
    /// The buffer level in seconds up to which the next request waits, once drawn.
    target: Option<f64>,
}

impl Festive {
    /// `seed` is for the buffer levels.
    pub fn new(seed: u64) -> Self {
        Self {
            random: Pcg64::seed_from_u64(seed),
            target: None,
        }
    }
}

impl Abr for Festive {
    fn choose(&mut self, state: &PlayerState<'_>) -> Decision {
        let spread = state.video.segment().as_secs_f64();
        let target = *self
            .target
            .get_or_insert_with(|| TARGET + spread * (2.0 * self.random.random::<f64>() - 1.0));
        let excess = state.buffer.as_secs_f64() - target;
        // Shorter waits would round to nothing.
        if excess > 1e-6 {
            return Decision::Wait(Duration::from_secs_f64(excess));
        }
        self.target = None;
        Decision::Fetch(level(state))
    }
}

/// Section 4.3, "delayed update": the reference level, if it is worth the change.
fn level(state: &PlayerState<'_>) -> usize {
    let Some(bandwidth) = harmonic_mean(state.downloads) else {
        return 0;
    };
    let bandwidth = SAFETY * bandwidth;
    let current = state.last_level();
    let reference = reference_level(state, bandwidth);
    let rate = |level| state.video.bits_per_second(level);
    let inefficiency = |level| (rate(level) / rate(reference).min(bandwidth) - 1.0).abs();
    let changes = 2_f64.powi(recent_changes(state));
    let stay = changes + WEIGHT * inefficiency(current);
    let change = changes + 1.0 + WEIGHT * inefficiency(reference);
    if change < stay { reference } else { current }
}

/// Section 4.3, "gradual switching": a level down if the bandwidth does not carry this one; a level up if it carries that
/// and the k-th level, from 1, has been held for k segments.
fn reference_level(state: &PlayerState<'_>, bandwidth: f64) -> usize {
    let (video, current) = (state.video, state.last_level());
    if video.bits_per_second(current) > bandwidth {
        return current.saturating_sub(1);
    }
    let same = |download: &&Download| download.level == current;
    let held = state.downloads.iter().rev().take_while(same).count();
    let up = (current + 1).min(video.top());
    if held > current && video.bits_per_second(up) <= bandwidth {
        up
    } else {
        current
    }
}

/// In bits per second; `None` before the first segment.
fn harmonic_mean(downloads: &[Download]) -> Option<f64> {
    let last = &downloads[downloads.len().saturating_sub(SAMPLES)..];
    let inverse = |download: &Download| {
        let time = download.finished.saturating_sub(download.requested);
        time.as_secs_f64() / (download.bytes as f64 * 8.0)
    };
    let sum: f64 = last.iter().map(inverse).sum();
    (sum > 0.0).then(|| last.len() as f64 / sum)
}

/// How often the level changed in the last 20 s; no more than an exponent needs.
fn recent_changes(state: &PlayerState<'_>) -> i32 {
    let since = state.now.saturating_sub(MEMORY);
    let changed = |pair: &&[Download]| pair[0].level != pair[1].level && pair[1].requested >= since;
    let changes = state.downloads.windows(2).filter(changed).count();
    i32::try_from(changes).unwrap_or(i32::MAX)
}

/// p (section 4.3).
const SAFETY: f64 = 0.85;

/// Segments whose throughputs count (section 4.2).
const SAMPLES: usize = 20;

/// Alpha: inefficiency against instability (section 4.3).
const WEIGHT: f64 = 12.0;

/// k: how long changes are remembered (section 4.3).
const MEMORY: Duration = Duration::from_secs(20);

/// The mean buffer level at which it requests, in seconds, give or take one segment (section 4.1); 30 s as in ns-3's model
/// of it.
const TARGET: f64 = 30.0;

#[cfg(test)]
mod tests {
    use super::super::testing::{fetched, state, video};
    use super::*;

    fn chosen(downloads: &[Download]) -> usize {
        match Festive::new(1).choose(&state(&video(), 5.0, downloads)) {
            Decision::Fetch(level) => level,
            Decision::Wait(wait) => panic!("{wait:?}"),
        }
    }

    /// 2 / (1 / 10 + 1 / 30) = 15 Mb/s.
    #[test]
    fn the_mean_is_harmonic() {
        assert_eq!(harmonic_mean(&[]), None);
        let downloads = [fetched(3, 10.0, 0.0), fetched(3, 30.0, 0.0)];
        let mean = harmonic_mean(&downloads).unwrap();
        assert!((mean / 1e6 - 15.0).abs() < 1e-4, "{mean}");
    }

    /// At 20 Mb/s, of which 17 count. From level 0 to 1 after one segment: staying costs 1 + 12 (1 - 1 / 2.5) = 8.2, changing
    /// 2. Level 3 is held for four segments: then staying costs 1 + 12 (1 - 7.5 / 10) = 4, changing 2.
    #[test]
    fn up_by_one_level_and_the_slower_the_higher() {
        assert_eq!(chosen(&[fetched(0, 20.0, 0.0)]), 1);
        assert_eq!(chosen(&[fetched(3, 20.0, 0.0); 3]), 3);
        assert_eq!(chosen(&[fetched(3, 20.0, 0.0); 4]), 4);
    }

    /// 0.85 x 20 = 17 Mb/s carries level 6 of 15 Mb/s, not level 7 of 17.5; level 9 of 22.5 goes down by one: staying costs
    /// 1 + 12 x (22.5 / 17 - 1) = 4.9, changing 2 + 12 (20 / 17 - 1) = 4.1.
    #[test]
    fn the_bandwidth_bounds_it() {
        assert_eq!(chosen(&[fetched(6, 20.0, 0.0); 20]), 6);
        assert_eq!(chosen(&[fetched(9, 20.0, 0.0); 20]), 8);
    }

    /// At 22 Mb/s, of which 18.7 count, level 8 of 20 Mb/s goes down: staying costs 2^n + 12 (20 / 17.5 - 1) = 2^n + 1.7
    /// after n changes within 20 s, changing 2^n + 1.
    #[test]
    fn changes_cost_twice_as_much_each_time_but_so_does_staying() {
        let mut downloads = vec![fetched(8, 22.0, 0.0); 20];
        assert_eq!(chosen(&downloads), 7);
        downloads[0].level = 7;
        assert_eq!(recent_changes(&state(&video(), 5.0, &downloads)), 1);
        assert_eq!(chosen(&downloads), 7);
        downloads[19].level = 7;
        assert_eq!(chosen(&downloads), 7);
    }

    #[test]
    fn requests_wait_for_a_random_level_around_thirty_seconds() {
        let (video, downloads) = (video(), [fetched(2, 20.0, 0.1)]);
        let mut festive = Festive::new(7);
        let mut waits = Vec::new();
        for _ in 0..100 {
            let Decision::Wait(wait) = festive.choose(&state(&video, 40.0, &downloads)) else {
                panic!("40 s are beyond every target");
            };
            let left = 40.0 - wait.as_secs_f64();
            assert!((25.0..=35.0).contains(&left), "{left}");
            let decision = festive.choose(&state(&video, left, &downloads));
            assert!(matches!(decision, Decision::Fetch(_)));
            waits.push(left);
        }
        let mean = waits.iter().sum::<f64>() / 100.0;
        assert!((mean - 30.0).abs() < 1.0, "{mean}");
    }
}

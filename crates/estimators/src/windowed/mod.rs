//! Extrema over a sliding window.

mod approximate;
mod exact;

pub use approximate::ApproximateWindow;
pub use exact::ExactWindow;

/// The largest or smallest of the samples of a sliding window.
///
/// The window slides along any key that does not decrease: a time in nanoseconds, a count of round trips. A sample is
/// in the window as long as the newest key exceeds its own by no more than [`window`](Self::window); the bound is
/// inclusive, as in Linux's `win_minmax`.
///
/// A key that goes backwards is taken as the newest key seen so far: the sample counts, and nothing gets younger. A
/// value that does not compare with itself (NaN) is ignored.
///
/// [`ExactWindow`] is exact, and [`ApproximateWindow`] needs three samples of memory. No other type can implement it, so that it
/// may have more methods in a later version.
pub trait WindowedFilter<T>: Sealed {
    /// Adds a sample and slides the window up to its key. Returns the extremum, which is `value` itself if the window
    /// holds nothing else.
    ///
    /// A value that is ignored need not slide the window.
    fn update(&mut self, key: u64, value: T) -> T;

    /// The extremum as of the last update; `None` before the first.
    fn get(&self) -> Option<T>;

    /// Forgets all samples, and the newest key.
    fn clear(&mut self);

    /// How far back the window reaches, in the key's unit.
    fn window(&self) -> u64;
}

/// Which extremum a window keeps: [`Max`] or [`Min`], and no other type.
pub trait Extremum: Sealed {
    /// Whether `candidate` makes `incumbent` irrelevant: it is more extreme or equal, and newer.
    fn supersedes<T: PartialOrd>(candidate: &T, incumbent: &T) -> bool;
}

/// What only this crate implements.
mod sealed {
    pub trait Sealed {}

    impl Sealed for super::Max {}
    impl Sealed for super::Min {}
    impl<T, E> Sealed for super::ApproximateWindow<T, E> {}
    impl<T, E> Sealed for super::ExactWindow<T, E> {}
}

use sealed::Sealed;

/// The largest value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Max;

impl Extremum for Max {
    fn supersedes<T: PartialOrd>(candidate: &T, incumbent: &T) -> bool {
        candidate >= incumbent
    }
}

/// The smallest value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Min;

impl Extremum for Min {
    fn supersedes<T: PartialOrd>(candidate: &T, incumbent: &T) -> bool {
        candidate <= incumbent
    }
}

/// A value and the key it came at.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Sample<T> {
    key: u64,
    value: T,
}

impl<T> Sample<T> {
    /// Whether the window has moved past the sample. `now` is never before the sample's key.
    fn is_older_than(&self, window: u64, now: u64) -> bool {
        now.saturating_sub(self.key) > window
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    /// The definition: of all samples whose clamped key is in the window, the most extreme.
    fn brute_force(samples: &[(u64, f64)], window: u64, pick: fn(f64, f64) -> f64) -> f64 {
        let mut newest = 0;
        let clamped: Vec<_> = samples
            .iter()
            .map(|&(key, value)| {
                newest = newest.max(key);
                (newest, value)
            })
            .collect();
        clamped
            .iter()
            .filter(|(key, _)| newest - key <= window)
            .map(|&(_, value)| value)
            .reduce(pick)
            .unwrap()
    }

    fn steps() -> impl Strategy<Value = Vec<(i8, i8)>> {
        prop::collection::vec((-3i8..20, any::<i8>()), 1..200)
    }

    fn samples(steps: &[(i8, i8)]) -> Vec<(u64, f64)> {
        let mut key = 100u64;
        steps
            .iter()
            .map(|&(step, value)| {
                key = key.saturating_add_signed(i64::from(step));
                (key, f64::from(value))
            })
            .collect()
    }

    proptest! {
        #[test]
        fn the_exact_windows_equal_the_definition(steps in steps(), window in 0u64..60) {
            let samples = samples(&steps);
            let (mut max, mut min) = (ExactWindow::<f64, Max>::new(window), ExactWindow::<f64, Min>::new(window));
            for (index, &(key, value)) in samples.iter().enumerate() {
                let seen = &samples[..=index];
                prop_assert_eq!(max.update(key, value), brute_force(seen, window, f64::max));
                prop_assert_eq!(min.update(key, value), brute_force(seen, window, f64::min));
                prop_assert_eq!(max.get(), Some(brute_force(seen, window, f64::max)));
            }
        }

        #[test]
        fn the_approximation_stays_within_the_exact_extremum(steps in steps(), window in 0u64..60) {
            let (mut exact_max, mut exact_min) = (ExactWindow::<f64, Max>::new(window), ExactWindow::<f64, Min>::new(window));
            let (mut max, mut min) = (ApproximateWindow::<f64, Max>::new(window), ApproximateWindow::<f64, Min>::new(window));
            for (key, value) in samples(&steps) {
                let (highest, lowest) = (max.update(key, value), min.update(key, value));
                prop_assert!(value <= highest && highest <= exact_max.update(key, value));
                prop_assert!(value >= lowest && lowest >= exact_min.update(key, value));
            }
        }

        #[test]
        fn a_constant_is_a_fixed_point(value: i32, keys in prop::collection::vec(any::<u64>(), 1..50), window: u64) {
            let mut exact = ExactWindow::<i32, Max>::new(window);
            let mut approximate = ApproximateWindow::<i32, Min>::new(window);
            for key in keys {
                prop_assert_eq!((exact.update(key, value), approximate.update(key, value)), (value, value));
            }
        }
    }

    #[test]
    fn a_value_that_does_not_compare_is_ignored() {
        let mut exact = ExactWindow::<f64, Max>::new(10);
        let mut approximate = ApproximateWindow::<f64, Max>::new(10);
        for filter in [&mut exact as &mut dyn WindowedFilter<f64>, &mut approximate] {
            assert!(filter.update(0, f64::NAN).is_nan());
            assert_eq!(filter.get(), None);
            assert_eq!(filter.update(1, 5.0), 5.0);
            assert_eq!(filter.update(2, f64::NAN), 5.0);
            filter.clear();
            assert_eq!((filter.get(), filter.window()), (None, 10));
            assert_eq!(filter.update(0, 1.0), 1.0);
        }
    }
}

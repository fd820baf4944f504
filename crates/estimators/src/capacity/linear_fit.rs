//! A straight line through points that come one at a time.

/// The least-squares line `y = intercept + slope x`, in O(1) per point and memory.
///
/// The sums are those of deviations from the running means (B. P. Welford, Technometrics 4(3), 1962), which do not cancel
/// as sums of squares do when the points lie far from the origin.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LinearFit {
    /// A whole number, of which every point needs the inverse.
    count: f64,
    mean_x: f64,
    mean_y: f64,
    sum_xx: f64,
    sum_xy: f64,
    sum_yy: f64,
}

impl LinearFit {
    /// A fit of no points.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            count: 0.0,
            mean_x: 0.0,
            mean_y: 0.0,
            sum_xx: 0.0,
            sum_xy: 0.0,
            sum_yy: 0.0,
        }
    }

    /// Adds a point. One that is not finite is ignored.
    pub fn push(&mut self, x: f64, y: f64) {
        if x.is_finite() && y.is_finite() {
            self.push_finite(x, y);
        }
    }

    pub(super) fn push_finite(&mut self, x: f64, y: f64) {
        self.count += 1.0;
        let weight = 1.0 / self.count;
        let (from_x, from_y) = (x - self.mean_x, y - self.mean_y);
        self.mean_x += from_x * weight;
        self.mean_y += from_y * weight;
        self.sum_xx += from_x * (x - self.mean_x);
        self.sum_xy += from_x * (y - self.mean_y);
        self.sum_yy += from_y * (y - self.mean_y);
    }

    /// How many points there are.
    #[must_use]
    pub const fn count(&self) -> u32 {
        self.count as u32
    }

    /// The slope, in y's unit per x's; `None` unless two points differ in x, or if it is too large for a number.
    #[must_use]
    pub fn slope(&self) -> Option<f64> {
        let slope = (self.sum_xx > 0.0).then(|| self.sum_xy / self.sum_xx);
        slope.filter(|slope| slope.is_finite())
    }

    /// The deviation of the points from the line, in y's unit; `None` for fewer than three points, or as for the slope.
    #[must_use]
    pub fn residual_deviation(&self) -> Option<f64> {
        self.deviation_from(self.slope()?)
    }

    /// The same, with the slope.
    pub(super) fn deviation_from(&self, slope: f64) -> Option<f64> {
        let freedom = self.count - 2.0;
        if freedom <= 0.0 {
            return None;
        }
        let residual_squares = (self.sum_yy - slope * self.sum_xy).max(0.0);
        let deviation = libm::sqrt(residual_squares / freedom);
        deviation.is_finite().then_some(deviation)
    }

    /// The standard error of the slope, in the slope's unit, if the points' errors are independent; `None` for fewer than
    /// three points, or as for the slope.
    #[must_use]
    pub fn slope_error(&self) -> Option<f64> {
        self.slope_error_of(self.residual_deviation()?)
    }

    /// The same, if the points deviate by `deviation` from the line.
    pub(super) fn slope_error_of(&self, deviation: f64) -> Option<f64> {
        let error = deviation / libm::sqrt(self.sum_xx);
        error.is_finite().then_some(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    #[test]
    fn a_line_is_found_without_residuals() {
        let mut fit = LinearFit::new();
        for x in 0..10 {
            fit.push(1e6 + f64::from(x), 3.0 - 2.0 * f64::from(x));
        }
        assert_eq!(fit.slope(), Some(-2.0));
        assert!(fit.residual_deviation().unwrap() < 1e-7 && fit.slope_error().unwrap() < 1e-7);
    }

    #[test]
    fn a_textbook_example() {
        // y = 2.2 + 0.6 x, residual sum of squares 2.4.
        let mut fit = LinearFit::new();
        for (x, y) in [(1.0, 2.0), (2.0, 4.0), (3.0, 5.0), (4.0, 4.0), (5.0, 5.0)] {
            fit.push(x, y);
        }
        assert!((fit.slope().unwrap() - 0.6).abs() < 1e-12);
        assert!((fit.residual_deviation().unwrap() - 0.8f64.sqrt()).abs() < 1e-12);
        assert!((fit.slope_error().unwrap() - 0.08f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn too_few_points_have_no_line() {
        let mut fit = LinearFit::new();
        fit.push(1.0, 1.0);
        fit.push(1.0, 2.0);
        assert_eq!((fit.slope(), fit.residual_deviation()), (None, None));
        let mut fit = LinearFit::new();
        fit.push(1.0, 1.0);
        fit.push(2.0, 2.0);
        assert_eq!((fit.slope(), fit.slope_error()), (Some(1.0), None));
    }

    #[test]
    fn what_is_too_large_for_a_number_is_none() {
        let mut fit = LinearFit::new();
        for point in [(f64::NAN, 1.0), (1.0, f64::INFINITY)] {
            fit.push(point.0, point.1);
        }
        assert_eq!(fit.count(), 0);
        for y in [f64::MAX, f64::MIN, 1.0] {
            fit.push(y / f64::MAX, y);
        }
        let all = [fit.slope(), fit.residual_deviation(), fit.slope_error()];
        assert_eq!(all, [None; 3]);
    }

    proptest! {
        #[test]
        fn equals_the_definition(points in prop::collection::vec((-1e3..1e3, -1e3..1e3), 3..50)) {
            let mut fit = LinearFit::new();
            points.iter().for_each(|&(x, y)| fit.push(x, y));
            let count = points.len() as f64;
            let mean = |part: fn(&(f64, f64)) -> f64| points.iter().map(part).sum::<f64>() / count;
            let (mean_x, mean_y) = (mean(|point| point.0), mean(|point| point.1));
            let deviations: Vec<_> = points.iter().map(|&(x, y)| (x - mean_x, y - mean_y)).collect();
            let sum_xx: f64 = deviations.iter().map(|(x, _)| x * x).sum();
            let sum_xy: f64 = deviations.iter().map(|(x, y)| x * y).sum();
            prop_assume!(sum_xx > 1.0);
            prop_assert!((fit.slope().unwrap() - sum_xy / sum_xx).abs() < 1e-6 * (1.0 + (sum_xy / sum_xx).abs()));
        }
    }
}

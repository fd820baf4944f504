//! A trace over one cycle: its rate.

use kneepoint_emulator::trace::{OPPORTUNITY_BYTES, Trace};
use plotters::prelude::DrawingBackend;
use plotters::style::Color;

use super::canvas::{Area, DrawResult, Drawing};
use super::panel::{Panel, Swatch, heading};
use super::scale::Scale;
use super::style::{CAPACITY, color};
use super::timeline::{ACROSS, HEADROOM};

/// The plot of one trace.
#[derive(Debug)]
pub(super) struct Plot<'a> {
    pub(super) trace: &'a Trace,
    pub(super) name: &'a str,
}

impl Plot<'_> {
    fn seconds(&self) -> f64 {
        self.trace.period().as_secs_f64()
    }

    /// The upper edge of a bar chart of rates in Mb/s, zero where there are no opportunities.
    fn rates(&self, width_millis: u64) -> Vec<(f64, f64)> {
        let width = width_millis as f64 / 1e3;
        let border = |index: u64| (index as f64 * width).min(self.seconds());
        let mut points = vec![(0.0, 0.0)];
        for (index, count) in self.trace.bins(width_millis) {
            let (from, to) = (border(index), border(index + 1));
            let mbps = (count * OPPORTUNITY_BYTES) as f64 * 8.0 / 1e6 / (to - from);
            if let Some(&(end, _)) = points.last()
                && end < from
            {
                points.extend([(end, 0.0), (from, 0.0)]);
            }
            points.extend([(from, mbps), (to, mbps)]);
        }
        points
    }
}

impl Drawing for Plot<'_> {
    fn size(&self) -> (u32, u32) {
        (1200, 500)
    }

    fn title(&self) -> String {
        self.name.to_owned()
    }

    fn description(&self) -> String {
        let statistics = self.trace.statistics();
        format!(
            "{:.1} s, mean {:.2} Mb/s, {} outages, longest gap {:.0} ms",
            self.seconds(),
            statistics.mean_rate * 8.0 / 1e6,
            statistics.outages,
            statistics.max_gap.as_millis_f64()
        )
    }

    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>) -> DrawResult<DB> {
        heading(area, ACROSS.0, self.name, &[self.description()])?;
        let (coarse, fine) = (self.rates(1000), self.rates(100));
        let max = fine.iter().fold(0.0_f64, |max, point| max.max(point.1));
        let panel = Panel {
            across: ACROSS,
            down: (122, 432),
            x: Scale::Linear {
                low: 0.0,
                high: self.seconds(),
            },
            y: Scale::Linear {
                low: 0.0,
                high: max * HEADROOM,
            },
        };
        panel.frame(area, "rate (Mb/s)")?;
        let base = [(self.seconds(), 0.0), (0.0, 0.0)];
        panel.between(area, coarse, base, CAPACITY.filled())?;
        panel.line(area, fine, color(0).stroke_width(1))?;
        panel.outline(area)?;
        panel.x_labels(area, "time (s)")?;
        panel.legend(
            area,
            &[
                (Swatch::Fill(CAPACITY.filled()), "per second".to_owned()),
                (Swatch::Line(color(0)), "per 100 ms".to_owned()),
            ],
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_drawn_at_zero() {
        let trace = Trace::parse("100\n250\n", "t").unwrap();
        let plot = Plot {
            trace: &trace,
            name: "t",
        };
        let rate = |seconds: f64| 1504.0 * 8.0 / 1e6 / seconds;
        let points = plot.rates(100);
        assert_eq!(
            points[..3],
            [(0.0, 0.0), (0.0, rate(0.1)), (0.1, rate(0.1))]
        );
        assert_eq!(points[3..5], [(0.1, 0.0), (0.2, 0.0)]);
        assert!((points[6].1 - rate(0.05)).abs() < 1e-9 && points[6].0 == 0.25);
    }
}

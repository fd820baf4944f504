//! Curves, bars and clouds over two axes.

mod svg;

use super::PlotError;

/// A chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Its title.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The series, the last one on top.
    pub series: Vec<Series>,
}

/// An axis. It covers all values, and zero if it is linear.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// The quantity and its unit.
    pub title: String,
    /// Whether equal distances are equal ratios. Values that are not positive are then not drawn.
    pub logarithmic: bool,
}

/// Some points of one name.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// The name in the legend.
    pub name: String,
    /// The points.
    pub points: Vec<(f64, f64)>,
    /// How they are drawn.
    pub mark: Mark,
}

/// How points are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// A line from one to the next.
    Line,
    /// A line with a dot at each point.
    Dots,
    /// A dashed line in the colour of the text, for what the others are compared with.
    Reference,
}

impl Axis {
    /// A linear axis.
    pub fn linear(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            logarithmic: false,
        }
    }

    /// A logarithmic axis.
    pub fn log(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            logarithmic: true,
        }
    }
}

impl Chart {
    /// A chart without series.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self {
            title: title.into(),
            x,
            y,
            series: Vec::new(),
        }
    }

    /// A chart over a time in seconds, without series.
    pub fn over_time(title: impl Into<String>, unit: &str) -> Self {
        Self::new(title, Axis::linear("time, s"), Axis::linear(unit))
    }

    /// Adds a series.
    #[must_use]
    pub fn series(
        mut self,
        name: impl Into<String>,
        mark: Mark,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> Self {
        self.series.push(Series {
            name: name.into(),
            points: points.into_iter().collect(),
            mark,
        });
        self
    }

    /// The drawing, to be put into a page: letters and axes have the colour of the text around it, the ground is the page's.
    ///
    /// # Errors
    /// When it cannot be drawn.
    pub fn svg(&self) -> Result<String, PlotError> {
        svg::draw(self)
    }
}

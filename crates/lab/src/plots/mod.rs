//! Plots of a comparison, each as SVG and as PNG.

mod canvas;
mod chart;
mod label;
mod log;
mod look;
mod page;
mod panel;
mod scale;
mod scatter;
mod style;
mod svg;
mod timeline;
mod trace;

use std::path::{Path, PathBuf};

use thiserror::Error;

use kneepoint_emulator::log_format::Log;
use kneepoint_emulator::trace::Trace;

use crate::compare::Outcome;
use canvas::save;

pub use chart::{Axis, Chart, Mark, Series};
pub(crate) use page::{Pictures, pictures};
pub use style::register_font;

/// Why a plot could not be drawn.
#[derive(Debug, Error)]
pub enum PlotError {
    /// The embedded font could not be read.
    #[error("cannot read the embedded font")]
    Font,
    /// The plot could not be drawn or written.
    #[error("cannot draw {path}: {reason}", path = path.display())]
    Draw {
        /// The file.
        path: PathBuf,
        /// The error.
        reason: String,
    },
}

/// Draws, into an existing directory, for every link and controller the course of the run, and for every link a
/// throughput/delay scatter of its controllers.
///
/// # Errors
/// When a file cannot be written.
pub fn draw(outcomes: &[Outcome], directory: &Path) -> Result<(), PlotError> {
    style::register_font()?;
    for link in outcomes.chunk_by(|a, b| a.row.trace == b.row.trace) {
        let axes = timeline::Axes::shared(link);
        for outcome in link {
            let name = format!("{}-{}", outcome.row.trace, outcome.row.controller);
            let plot = timeline::Plot { outcome, axes };
            save(&plot, directory, &file_name(&name))?;
        }
        let rows: Vec<_> = link.iter().map(|outcome| &outcome.row).collect();
        if let Some(first) = rows.first() {
            let name = file_name(&format!("{}-scatter", first.trace));
            save(&scatter::Plot { rows: &rows }, directory, &name)?;
        }
    }
    Ok(())
}

/// Draws a log into an existing directory: throughput against capacity, and queueing delay.
///
/// # Errors
/// When a file cannot be written.
pub fn draw_log(log: &Log, name: &str, directory: &Path) -> Result<(), PlotError> {
    style::register_font()?;
    save(&log::Plot::new(log, name), directory, &file_name(name))
}

/// Draws a trace into an existing directory: its rate over one cycle.
///
/// # Errors
/// When a file cannot be written.
pub fn draw_trace(trace: &Trace, name: &str, directory: &Path) -> Result<(), PlotError> {
    style::register_font()?;
    save(&trace::Plot { trace, name }, directory, &file_name(name))
}

/// A name fit for a file on any system: that of a mix of many flows is cut.
pub(crate) fn file_name(name: &str) -> String {
    name.chars()
        .take(MAX_NAME)
        .map(|c| match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '_' | '-' => c,
            _ => '-',
        })
        .collect()
}

/// Names of files may have 255 bytes, of which the extension takes some.
const MAX_NAME: usize = 200;

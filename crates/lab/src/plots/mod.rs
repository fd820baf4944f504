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

use std::hash::{DefaultHasher, Hash, Hasher};
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

/// A name fit for a file on any system, another one for each name: `:` is `+`, and what some systems or shells refuse is `%` and two digits.
/// Long names, such as those of a mix of many flows, end in a digest.
pub(crate) fn file_name(name: &str) -> String {
    let mut file = String::new();
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'_' | b'-' | b',' | b'=' => {
                file.push(char::from(byte));
            }
            b':' => file.push('+'),
            _ => file += &format!("%{byte:02X}"),
        }
    }
    if file.len() > MAX_NAME {
        let mut digest = DefaultHasher::new();
        name.hash(&mut digest);
        file.truncate(MAX_NAME - DIGEST);
        file += &format!("-{:016x}", digest.finish());
    }
    file
}

/// Names of files may have 255 bytes, of which the extension and a process's number take some.
const MAX_NAME: usize = 200;

/// A dash and 64 bits.
const DIGEST: usize = 17;

#[cfg(test)]
mod tests {
    use super::*;

    /// Fault: all but letters and digits became a dash, and long names were cut, so that one run's files took the place of another's.
    #[test]
    fn names_that_differ_are_names_of_files_that_differ() {
        let long = "knee,".repeat(60);
        let names = [
            "10Mbps-noq:bbr3",
            "10Mbps-noq-bbr3",
            "10Mbps-noq+bbr3",
            "10Mbps-noq%3Abbr3",
            "p,q-knee",
            "p q-knee",
            "p/q-knee",
            "p-q-knee",
            "\u{e9}-knee",
            &format!("{long}-scatter"),
            &format!("{long}-seed1"),
        ];
        let files: std::collections::BTreeSet<String> =
            names.iter().map(|name| file_name(name)).collect();
        assert_eq!(files.len(), names.len(), "{files:?}");
        assert!(
            files
                .iter()
                .all(|file| file.len() <= MAX_NAME && file.is_ascii())
        );
        assert_eq!(file_name("10Mbps-bbr:paper"), "10Mbps-bbr+paper");
        assert_eq!(file_name("p q"), "p%20q");
    }
}

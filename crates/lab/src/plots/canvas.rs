//! One drawing, two files.

use std::fs;
use std::path::Path;

use plotters::coord::Shift;
use plotters::drawing::DrawingAreaErrorKind;
use plotters::prelude::{BitMapBackend, DrawingArea, DrawingBackend, IntoDrawingArea, SVGBackend};

use super::PlotError;
use super::style::BACKGROUND;

/// Where a plot is drawn.
pub(super) type Area<DB> = DrawingArea<DB, Shift>;

/// What can go wrong while drawing on a backend.
pub(super) type DrawResult<DB, T = ()> =
    Result<T, DrawingAreaErrorKind<<DB as DrawingBackend>::ErrorType>>;

/// Something that can be drawn on any backend.
pub(super) trait Drawing {
    /// Width and height, in pixels.
    fn size(&self) -> (u32, u32);

    /// Draws on an area of that size.
    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>) -> DrawResult<DB>;
}

/// Writes `name.svg` and `name.png` into a directory.
pub(super) fn save(drawing: &impl Drawing, directory: &Path, name: &str) -> Result<(), PlotError> {
    let path = directory.join(format!("{name}.svg"));
    let mut text = String::new();
    render(
        drawing,
        SVGBackend::with_string(&mut text, drawing.size()),
        &path,
    )?;
    fs::write(&path, text).map_err(|error| failed(&path, &error))?;

    let path = directory.join(format!("{name}.png"));
    render(drawing, BitMapBackend::new(&path, drawing.size()), &path)
}

fn render<DB: DrawingBackend>(
    drawing: &impl Drawing,
    backend: DB,
    path: &Path,
) -> Result<(), PlotError> {
    let area = backend.into_drawing_area();
    area.fill(&BACKGROUND)
        .and_then(|()| drawing.draw(&area))
        .and_then(|()| area.present())
        .map_err(|error| failed(path, &error))
}

fn failed(path: &Path, reason: &dyn std::fmt::Display) -> PlotError {
    PlotError::Draw {
        path: path.to_owned(),
        reason: reason.to_string(),
    }
}

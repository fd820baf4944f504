//! One drawing, two files.

use std::io::{self, Write};
use std::path::Path;

use plotters::backend::{PixelFormat, RGBPixel};
use plotters::coord::Shift;
use plotters::drawing::DrawingAreaErrorKind;
use plotters::prelude::{BitMapBackend, DrawingArea, DrawingBackend, IntoDrawingArea, SVGBackend};

use super::PlotError;
use super::style::BACKGROUND;
use super::svg::described;
use crate::replace::replace;

/// Where a plot is drawn.
pub(super) type Area<DB> = DrawingArea<DB, Shift>;

/// The result of drawing on a backend.
pub(super) type DrawResult<DB, T = ()> =
    Result<T, DrawingAreaErrorKind<<DB as DrawingBackend>::ErrorType>>;

/// Something that can be drawn on any backend.
pub(super) trait Drawing {
    /// Width and height, in pixels.
    fn size(&self) -> (u32, u32);

    /// What it shows, in a few words.
    fn title(&self) -> String;

    /// What a reader who does not see it should know.
    fn description(&self) -> String;

    /// Draws on an area of that size.
    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>) -> DrawResult<DB>;
}

/// Writes `name.svg` and `name.png` into a directory.
pub(super) fn save(drawing: &impl Drawing, directory: &Path, name: &str) -> Result<(), PlotError> {
    let path = directory.join(format!("{name}.svg"));
    let text = draw_svg(drawing, &path)?;
    replace(&path, |file| file.write_all(text.as_bytes()))
        .map_err(|error| failed(&path, &error))?;

    let path = directory.join(format!("{name}.png"));
    let (width, height) = drawing.size();
    let mut pixels = vec![0; width as usize * height as usize * RGBPixel::PIXEL_SIZE];
    render(
        drawing,
        BitMapBackend::with_buffer(&mut pixels, drawing.size()),
        &path,
    )?;
    replace(&path, |file| encode(&pixels, drawing.size(), file))
        .map_err(|error| failed(&path, &error))
}

/// The drawing as SVG, with its title and description.
pub(super) fn draw_svg(drawing: &impl Drawing, path: &Path) -> Result<String, PlotError> {
    let mut text = String::new();
    render(
        drawing,
        SVGBackend::with_string(&mut text, drawing.size()),
        path,
    )?;
    Ok(described(&text, &drawing.title(), &drawing.description()))
}

/// Writes rows of red, green and blue. plotters has an encoder of its own, which brings four image formats along.
fn encode(pixels: &[u8], (width, height): (u32, u32), file: &mut dyn Write) -> io::Result<()> {
    let mut encoder = png::Encoder::new(file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    Ok(writer.finish()?)
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

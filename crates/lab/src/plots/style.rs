//! Colours, fonts and sizes that all plots share.

use plotters::style::{Color, FontStyle, IntoFont, RGBColor, TextStyle, register_font as register};

use super::PlotError;

/// Embeds the font that bitmaps are lettered with: systems without fonts draw the same plots. SVG files name the
/// generic family, and their viewer chooses.
///
/// # Errors
/// When the embedded font cannot be read.
pub fn register_font() -> Result<(), PlotError> {
    register(FAMILY, FontStyle::Normal, dejavu::sans::regular()).map_err(|_| PlotError::Font)
}

/// Text of one size and colour.
pub(super) fn text(size: u32, color: RGBColor) -> TextStyle<'static> {
    let mut style = TextStyle::from((FAMILY, size).into_font());
    style.color = color.to_backend_color();
    style
}

/// The n-th colour; after [`COLORS`] they come again.
pub(super) fn color(index: usize) -> RGBColor {
    PALETTE[index % PALETTE.len()]
}

/// A darker shade, for letters: what reads well as a line is often too pale for text.
pub(super) fn dark(RGBColor(red, green, blue): RGBColor) -> RGBColor {
    RGBColor(red / 4 * 3, green / 4 * 3, blue / 4 * 3)
}

const FAMILY: &str = "sans-serif";

/// How many colours there are.
pub(super) const COLORS: usize = PALETTE.len();

/// Okabe and Ito's palette, which the colour-blind can tell apart too, without its yellow: that is lost on white.
const PALETTE: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
];

/// The paper.
pub(super) const BACKGROUND: RGBColor = RGBColor(255, 255, 255);
/// Titles and labels.
pub(super) const INK: RGBColor = RGBColor(34, 34, 34);
/// Captions and axes.
pub(super) const FAINT_INK: RGBColor = RGBColor(102, 102, 102);
/// Grid lines.
pub(super) const GRID: RGBColor = RGBColor(225, 225, 225);
/// The colour of the link's capacity.
pub(super) const CAPACITY: RGBColor = RGBColor(208, 213, 219);

/// The size of a plot's title, in pixels.
pub(super) const TITLE: u32 = 26;
/// The size of captions, legends and axis titles.
pub(super) const BODY: u32 = 18;
/// The size of tick labels.
pub(super) const SMALL: u32 = 16;

//! A frame with two axes, and lines and areas in it.

use plotters::element::{Circle, PathElement, Polygon, Rectangle, Text};
use plotters::prelude::DrawingBackend;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, RGBColor, ShapeStyle};

use super::canvas::{Area, DrawResult};
use super::scale::{Scale, Tick};
use super::style::{BACKGROUND, BODY, FAINT_INK, GRID, INK, SMALL, TITLE, text};

/// A place on the drawing, in pixels.
pub(super) type Pixel = (i32, i32);

/// A part of a drawing with axes of its own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Panel {
    /// The frame's left and right side.
    pub(super) across: (i32, i32),
    /// The frame's top and bottom.
    pub(super) down: (i32, i32),
    /// The horizontal axis.
    pub(super) x: Scale,
    /// The vertical axis.
    pub(super) y: Scale,
}

impl Panel {
    /// The place of a pair of values; the frame's border if they lie outside.
    pub(super) fn at(&self, x: f64, y: f64) -> Pixel {
        let (left, right) = self.across;
        let (top, bottom) = self.down;
        let across = self.x.fraction(x) * f64::from(right - left);
        let up = self.y.fraction(y) * f64::from(bottom - top);
        (left + across.round() as i32, bottom - up.round() as i32)
    }

    /// Grid, tick labels, and the vertical axis's title above the frame.
    pub(super) fn frame<DB: DrawingBackend>(&self, area: &Area<DB>, title: &str) -> DrawResult<DB> {
        let (left, right) = self.across;
        let (top, bottom) = self.down;
        for Tick { value, label } in self.y.ticks(5) {
            let y = self.at(0.0, value).1;
            area.draw(&PathElement::new([(left, y), (right, y)], GRID))?;
            write(area, &label, (left - 8, y), Align::Right, SMALL, FAINT_INK)?;
        }
        for Tick { value, .. } in self.x.ticks(12) {
            let x = self.at(value, 0.0).0;
            area.draw(&PathElement::new([(x, top), (x, bottom)], GRID))?;
        }
        write(area, title, (left, top - 16), Align::Left, BODY, INK)
    }

    /// The frame's outline, over whatever lies in it.
    pub(super) fn outline<DB: DrawingBackend>(&self, area: &Area<DB>) -> DrawResult<DB> {
        let corners = [(self.across.0, self.down.0), (self.across.1, self.down.1)];
        area.draw(&Rectangle::new(corners, FAINT_INK))
    }

    /// The horizontal axis's tick labels, and its title below them.
    pub(super) fn x_labels<DB: DrawingBackend>(
        &self,
        area: &Area<DB>,
        title: &str,
    ) -> DrawResult<DB> {
        let bottom = self.down.1;
        for Tick { value, label } in self.x.ticks(12) {
            let place = (self.at(value, 0.0).0, bottom + 15);
            write(area, &label, place, Align::Center, SMALL, FAINT_INK)?;
        }
        let middle = i32::midpoint(self.across.0, self.across.1);
        write(area, title, (middle, bottom + 42), Align::Center, BODY, INK)
    }

    /// A line through pairs of values.
    pub(super) fn line<DB: DrawingBackend>(
        &self,
        area: &Area<DB>,
        points: impl IntoIterator<Item = (f64, f64)>,
        style: impl Into<ShapeStyle>,
    ) -> DrawResult<DB> {
        let pixels: Vec<Pixel> = points.into_iter().map(|(x, y)| self.at(x, y)).collect();
        area.draw(&PathElement::new(pixels, style))
    }

    /// The area between two lines, of which `lower` runs backwards.
    pub(super) fn between<DB: DrawingBackend>(
        &self,
        area: &Area<DB>,
        upper: impl IntoIterator<Item = (f64, f64)>,
        lower: impl IntoIterator<Item = (f64, f64)>,
        style: impl Into<ShapeStyle>,
    ) -> DrawResult<DB> {
        let pixels: Vec<Pixel> = upper
            .into_iter()
            .chain(lower)
            .map(|(x, y)| self.at(x, y))
            .collect();
        area.draw(&Polygon::new(pixels, style))
    }

    /// A horizontal dashed line across the frame.
    pub(super) fn level<DB: DrawingBackend>(
        &self,
        area: &Area<DB>,
        y: f64,
        color: RGBColor,
    ) -> DrawResult<DB> {
        let y = self.at(0.0, y).1;
        dashes(area, (self.across.0, y), (self.across.1, y), color)
    }

    /// A vertical dashed line across the frame.
    pub(super) fn plumb<DB: DrawingBackend>(
        &self,
        area: &Area<DB>,
        x: f64,
        color: RGBColor,
    ) -> DrawResult<DB> {
        let x = self.at(x, 0.0).0;
        dashes(area, (x, self.down.0), (x, self.down.1), color)
    }

    /// A legend above the frame, from its right side leftwards, outside of the data.
    pub(super) fn legend<DB: DrawingBackend>(
        &self,
        area: &Area<DB>,
        entries: &[(Swatch, String)],
    ) -> DrawResult<DB> {
        let y = self.down.0 - 16;
        let mut right = self.across.1;
        for (swatch, label) in entries.iter().rev() {
            let (width, _) = area.estimate_text_size(label, &text(SMALL, INK))?;
            let start = right - width as i32;
            write(area, label, (start, y), Align::Left, SMALL, INK)?;
            swatch.draw(area, (start - 38, y), (start - 8, y))?;
            right = start - 62;
        }
        Ok(())
    }
}

/// How a legend shows what it names.
#[derive(Debug, Clone, Copy)]
pub(super) enum Swatch {
    /// A filled area.
    Fill(ShapeStyle),
    /// A line.
    Line(RGBColor),
    /// A dashed line.
    Dashes(RGBColor),
    /// A filled circle.
    Dot(RGBColor),
    /// An empty circle.
    Ring(RGBColor),
}

impl Swatch {
    /// Draws it between two places.
    pub(super) fn draw<DB: DrawingBackend>(
        self,
        area: &Area<DB>,
        from: Pixel,
        to: Pixel,
    ) -> DrawResult<DB> {
        match self {
            Self::Fill(style) => {
                let corners = [(from.0, from.1 - 7), (to.0, to.1 + 7)];
                area.draw(&Rectangle::new(corners, style))
            }
            Self::Line(color) => area.draw(&PathElement::new([from, to], color.stroke_width(3))),
            Self::Dashes(color) => dashes(area, from, to, color),
            Self::Dot(color) => area.draw(&Circle::new(to_left(to), 7, color.filled())),
            Self::Ring(color) => ring(area, to_left(to), 7, color),
        }
    }
}

/// An empty circle. As a disc upon a disc: an outline would be ragged in a bitmap.
pub(super) fn ring<DB: DrawingBackend>(
    area: &Area<DB>,
    center: Pixel,
    radius: i32,
    color: RGBColor,
) -> DrawResult<DB> {
    area.draw(&Circle::new(center, radius, color.filled()))?;
    area.draw(&Circle::new(center, radius - 3, BACKGROUND.filled()))
}

/// The centre of a legend's circle, close to the text.
fn to_left(end: Pixel) -> Pixel {
    (end.0 - 8, end.1)
}

/// Where a text lies relative to its place; vertically it is centred.
#[derive(Debug, Clone, Copy)]
pub(super) enum Align {
    /// To the right of it: the place is the text's left end.
    Left,
    /// On both sides.
    Center,
    /// To the left of it: the place is the text's right end.
    Right,
}

/// Writes a line of text.
pub(super) fn write<DB: DrawingBackend>(
    area: &Area<DB>,
    label: &str,
    place: Pixel,
    align: Align,
    size: u32,
    color: RGBColor,
) -> DrawResult<DB> {
    let across = match align {
        Align::Left => HPos::Left,
        Align::Center => HPos::Center,
        Align::Right => HPos::Right,
    };
    let style = text(size, color).pos(Pos::new(across, VPos::Center));
    area.draw(&Text::new(label, place, style))
}

/// Writes a plot's title, and lines of captions below it.
pub(super) fn heading<DB: DrawingBackend>(
    area: &Area<DB>,
    left: i32,
    title: &str,
    captions: &[String],
) -> DrawResult<DB> {
    write(area, title, (left, 30), Align::Left, TITLE, INK)?;
    for (place, caption) in (0..).zip(captions) {
        let place = (left, 62 + 26 * place);
        write(area, caption, place, Align::Left, BODY, FAINT_INK)?;
    }
    Ok(())
}

/// A dashed line, horizontal or vertical.
fn dashes<DB: DrawingBackend>(
    area: &Area<DB>,
    from: Pixel,
    to: Pixel,
    color: RGBColor,
) -> DrawResult<DB> {
    let length = (to.0 - from.0).max(to.1 - from.1);
    for start in (0..length).step_by(10) {
        let end = (start + 6).min(length);
        let along = |distance| {
            if to.0 > from.0 {
                (from.0 + distance, from.1)
            } else {
                (from.0, from.1 + distance)
            }
        };
        area.draw(&PathElement::new(
            [along(start), along(end)],
            color.stroke_width(2),
        ))?;
    }
    Ok(())
}

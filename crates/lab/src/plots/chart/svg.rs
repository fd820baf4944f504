//! A chart of a report, as SVG for a page of any colour.

use plotters::element::Circle;
use plotters::prelude::{DrawingBackend, IntoDrawingArea, SVGBackend};
use plotters::style::{Color, RGBColor};

use super::super::PlotError;
use super::super::canvas::{Area, DrawResult};
use super::super::panel::{Align, Panel, Swatch, write};
use super::super::scale::Scale;
use super::super::style::{FAINT_INK, GRID, INK, SMALL, color, register_font, text};
use super::{Axis, Chart, Mark};

/// Draws a chart.
///
/// # Errors
/// When the font or the chart cannot be drawn.
pub(super) fn draw(chart: &Chart) -> Result<String, PlotError> {
    register_font()?;
    let mut drawing = String::new();
    {
        let rows = legend_rows(chart);
        let size = (WIDTH, HEIGHT + rows * LINE);
        let area = SVGBackend::with_string(&mut drawing, size).into_drawing_area();
        draw_on(chart, &area, rows)
            .and_then(|()| area.present())
            .map_err(|error| PlotError::Draw {
                path: chart.title.clone().into(),
                reason: error.to_string(),
            })?;
    }
    Ok(adopt(&drawing))
}

/// Takes the page's colours for ink and rules. Series keep theirs, which are legible on white and on black.
fn adopt(drawing: &str) -> String {
    let mut adopted = drawing.to_owned();
    for (ink, opacity) in [(INK, "1"), (FAINT_INK, "0.75"), (GRID, "0.18")] {
        let RGBColor(red, green, blue) = ink;
        let hex = format!("#{red:02X}{green:02X}{blue:02X}");
        for paint in ["fill", "stroke"] {
            adopted = adopted.replace(
                &format!("{paint}=\"{hex}\""),
                &format!("{paint}=\"currentColor\" {paint}-opacity=\"{opacity}\""),
            );
        }
    }
    adopted
}

fn draw_on<DB: DrawingBackend>(chart: &Chart, area: &Area<DB>, rows: u32) -> DrawResult<DB> {
    let panel = Panel {
        across: (62, WIDTH as i32 - 16),
        down: (34, HEIGHT as i32 - 62),
        x: scale(&chart.x, chart, |point| point.0),
        y: scale(&chart.y, chart, |point| point.1),
    };
    panel.frame(area, &chart.y.title)?;
    panel.outline(area)?;
    panel.x_labels(area, &chart.x.title)?;
    let mut place = 0;
    for series in &chart.series {
        let drawable = |&&(x, y): &&(f64, f64)| {
            let fits =
                |axis: &Axis, value: f64| value.is_finite() && (!axis.logarithmic || value > 0.0);
            fits(&chart.x, x) && fits(&chart.y, y)
        };
        let points = series.points.iter().filter(drawable).copied();
        match series.mark {
            Mark::Reference => panel.line(area, points, INK.stroke_width(1))?,
            Mark::Line | Mark::Dots => {
                let color = series_color(place);
                place += 1;
                panel.line(area, points.clone(), color.stroke_width(2))?;
                if series.mark == Mark::Dots {
                    for (x, y) in points {
                        area.draw(&Circle::new(panel.at(x, y), 4, color.filled()))?;
                    }
                }
            }
        }
    }
    legend(chart, area, rows)
}

/// The names below the chart, from left to right, in as many lines as it takes.
fn legend<DB: DrawingBackend>(chart: &Chart, area: &Area<DB>, rows: u32) -> DrawResult<DB> {
    let (mut x, mut y) = (62, (HEIGHT + LINE / 2) as i32);
    let last = y + (rows * LINE) as i32;
    let mut place = 0;
    for series in &chart.series {
        let (width, _) = area.estimate_text_size(&series.name, &text(SMALL, INK))?;
        let width = width as i32 + 62;
        if x > 62 && x + width > WIDTH as i32 && y + (LINE as i32) < last {
            x = 62;
            y += LINE as i32;
        }
        let swatch = match series.mark {
            Mark::Reference => Swatch::Line(INK),
            Mark::Line | Mark::Dots => {
                place += 1;
                Swatch::Line(series_color(place - 1))
            }
        };
        swatch.draw(area, (x, y), (x + 24, y))?;
        write(area, &series.name, (x + 30, y), Align::Left, SMALL, INK)?;
        x += width;
    }
    Ok(())
}

/// About as many lines as the names need.
fn legend_rows(chart: &Chart) -> u32 {
    let width: usize = chart
        .series
        .iter()
        .map(|series| series.name.chars().count() * 9 + 62)
        .sum();
    u32::try_from(width.div_ceil(WIDTH as usize - 160))
        .unwrap_or(1)
        .max(1)
}

/// An axis that holds all values.
fn scale(axis: &Axis, chart: &Chart, value: impl Fn(&(f64, f64)) -> f64) -> Scale {
    let values = || {
        chart
            .series
            .iter()
            .flat_map(|series| series.points.iter().map(&value))
            .filter(|value| value.is_finite())
    };
    if axis.logarithmic {
        let positive = || values().filter(|value| *value > 0.0);
        let low = positive().fold(f64::INFINITY, f64::min);
        let high = positive().fold(0.0, f64::max);
        let (low, high) = if low < high { (low, high) } else { (1.0, 10.0) };
        Scale::Log {
            low: low / 1.1,
            high: high * 1.1,
        }
    } else {
        let low = values().fold(0.0, f64::min);
        let high = values().fold(0.0, f64::max);
        let high = if high > low { high } else { low + 1.0 };
        Scale::Linear {
            low,
            high: low + 1.05 * (high - low),
        }
    }
}

/// The palette's black would be lost on a dark page.
fn series_color(place: usize) -> RGBColor {
    match color(place) {
        RGBColor(0, 0, 0) => RGBColor(128, 128, 128),
        color => color,
    }
}

const WIDTH: u32 = 720;
const HEIGHT: u32 = 420;
/// The height of a line of the legend.
const LINE: u32 = 26;

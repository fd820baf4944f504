//! A chart of a report, as SVG for a page of any colour.

use plotters::prelude::{DrawingBackend, IntoDrawingArea, SVGBackend};
use plotters::style::{Color, RGBColor};

use super::super::PlotError;
use super::super::canvas::{Area, DrawResult};
use super::super::look::Look;
use super::super::panel::{Align, Panel, Swatch, write};
use super::super::scale::Scale;
use super::super::style::{FAINT_INK, GRID, INK, SMALL, register_font, text};
use super::super::svg::described;
use super::{Axis, Chart, Mark, Series};

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
    let drawing = described(&adopt(&drawing), &chart.title, &description(chart));
    Ok(drawing)
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
    for (place, (series, look)) in chart.series.iter().zip(looks(chart)).enumerate() {
        let drawable = |&&(x, y): &&(f64, f64)| {
            let fits =
                |axis: &Axis, value: f64| value.is_finite() && (!axis.logarithmic || value > 0.0);
            fits(&chart.x, x) && fits(&chart.y, y)
        };
        let points = series.points.iter().filter(drawable).copied();
        match series.mark {
            Mark::Reference => panel.line(area, points, INK.stroke_width(1))?,
            Mark::Line | Mark::Dots => {
                panel.line(area, points.clone(), look.color.stroke_width(2))?;
                let points: Vec<_> = points.collect();
                // Of a line only some points are marked, not at the same places as of another line.
                let (first, step) = match series.mark {
                    Mark::Dots => (0, 1),
                    _ => {
                        let step = points.len().div_ceil(MARKED).max(1);
                        (place * step / MARKED + step / 2, step)
                    }
                };
                for (x, y) in points.into_iter().skip(first).step_by(step) {
                    look.dot(area, panel.at(x, y), 4)?;
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
    for (series, look) in chart.series.iter().zip(looks(chart)) {
        let (width, _) = area.estimate_text_size(&series.name, &text(SMALL, INK))?;
        let width = width as i32 + 62;
        if x > 62 && x + width > WIDTH as i32 && y + (LINE as i32) < last {
            x = 62;
            y += LINE as i32;
        }
        match series.mark {
            Mark::Reference => Swatch::Line(INK).draw(area, (x, y), (x + 24, y))?,
            Mark::Line | Mark::Dots => {
                Swatch::Line(look.color).draw(area, (x, y), (x + 24, y))?;
                look.dot(area, (x + 12, y), 5)?;
            }
        }
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

/// How each series is drawn: a controller's as everywhere, others as no other one of the chart.
fn looks(chart: &Chart) -> Vec<Look> {
    let mut looks: Vec<Option<Look>> = Vec::new();
    for series in &chart.series {
        let known = Look::of_series(&series.name).filter(|_| series.mark != Mark::Reference);
        looks.push(known.filter(|look| !looks.contains(&Some(*look))));
    }
    for place in 0..looks.len() {
        // Lines for comparison have no look.
        if looks[place].is_none() && chart.series[place].mark != Mark::Reference {
            let mut free = Look::all().filter(|look| !looks.contains(&Some(*look)));
            looks[place] = free.next();
        }
    }
    let looks = looks.into_iter().enumerate();
    looks
        .map(|(place, look)| on_any_ground(look.unwrap_or(Look::at(place))))
        .collect()
}

/// The palette's black would be lost on a dark page.
fn on_any_ground(look: Look) -> Look {
    match look.color {
        RGBColor(0, 0, 0) => Look {
            color: RGBColor(128, 128, 128),
            ..look
        },
        _ => look,
    }
}

/// The axes and the series.
fn description(chart: &Chart) -> String {
    let names: Vec<&str> = chart
        .series
        .iter()
        .map(|Series { name, .. }| name.as_str())
        .collect();
    let (x, y, names) = (&chart.x.title, &chart.y.title, names.join("; "));
    format!("{y} over {x}: {names}")
}

const WIDTH: u32 = 720;
const HEIGHT: u32 = 420;
/// How many points of a line are marked.
const MARKED: usize = 8;
/// The height of a line of the legend.
const LINE: u32 = 26;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_controller_looks_as_everywhere_and_no_two_series_look_alike() {
        let names = [
            "flow 1",
            "limit",
            "knee, 1 ms",
            "bbr3",
            "knee, 2 ms",
            "flow 2",
        ];
        let chart = names.iter().fold(
            Chart::new("a chart", Axis::linear("x"), Axis::log("y")),
            |chart, name| {
                let mark = if *name == "limit" {
                    Mark::Reference
                } else {
                    Mark::Line
                };
                chart.series(*name, mark, [(1.0, 1.0), (2.0, 3.0)])
            },
        );
        let looks = looks(&chart);
        assert_eq!((looks[2], looks[3]), (Look::of("knee"), Look::of("bbr3")));
        for (place, look) in looks.iter().enumerate().filter(|(place, _)| *place != 1) {
            let others = looks[..place].iter().enumerate();
            let mut others = others.filter(|(other, _)| *other != 1);
            assert!(others.all(|(_, other)| other != look), "{}", names[place]);
        }
        let drawing = draw(&chart).unwrap();
        assert!(drawing.contains("role=\"img\">\n<title>a chart</title>\n<desc>y over x: flow 1;"));
    }
}

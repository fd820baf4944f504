//! The plots of a comparison as parts of a page.

use std::path::Path;

use super::canvas::{Drawing, draw_svg};
use super::panel::Pixel;
use super::{PlotError, scatter, style, timeline};
use crate::compare::Outcome;
use crate::page::escape;

/// The plots of all runs on one link, as SVG elements of an HTML page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pictures {
    /// Throughput over delay, with the values of each point.
    pub(crate) scatter: String,
    /// The course of each run, in order.
    pub(crate) timelines: Vec<String>,
}

/// Draws all runs on one link.
///
/// # Errors
/// When a plot cannot be drawn.
pub(crate) fn pictures(link: &[Outcome]) -> Result<Pictures, PlotError> {
    style::register_font()?;
    let rows: Vec<_> = link.iter().map(|outcome| &outcome.row).collect();
    let plot = scatter::Plot { rows: &rows };
    let drawing = element(&plot)?;
    // The points are images of their own, and the whole is their group.
    let drawing = drawing.replacen(" role=\"img\"", " role=\"group\"", 1);
    let (width, _) = plot.size();
    let marks: String = plot
        .marks()
        .iter()
        .map(|mark| overlay(mark, width))
        .collect();
    let scatter = match drawing.rsplit_once("</svg>") {
        Some((drawing, _)) => format!("{drawing}{marks}</svg>"),
        None => drawing,
    };
    let axes = timeline::Axes::shared(link);
    let timelines = link
        .iter()
        .map(|outcome| element(&timeline::Plot { outcome, axes }));
    Ok(Pictures {
        scatter,
        timelines: timelines.collect::<Result<_, _>>()?,
    })
}

/// A drawing for a page, which knows that it is SVG.
fn element(drawing: &impl Drawing) -> Result<String, PlotError> {
    let svg = draw_svg(drawing, Path::new(&drawing.title()))?;
    let namespace = " xmlns=\"http://www.w3.org/2000/svg\"";
    Ok(svg.replacen(namespace, " class=\"drawing\"", 1))
}

/// What a point shows when it is pointed at or has the focus, and where that is noticed: at both its ends.
fn overlay(mark: &scatter::Mark<'_>, width: u32) -> String {
    let name = escape(&mark.row.controller);
    let values = escape(&mark.values.join(", "));
    let circle = |(x, y): Pixel| {
        format!(
            "<circle class=\"halo\" cx=\"{x}\" cy=\"{y}\" r=\"{RADIUS}\" fill=\"transparent\" stroke=\"none\"/>"
        )
    };
    let (circles, (x, y)) = (circle(mark.middle) + &circle(mark.p95), mark.middle);
    // To the right of the point, or to the left where there is no room.
    let left = if x + GAP + WIDTH > width as i32 {
        x - GAP - WIDTH
    } else {
        x + GAP
    };
    let top = (y - HEIGHT / 2).max(0);
    let line = |(place, text): (i32, &str)| {
        let (x, y) = (left + 14, top + 28 + 24 * place);
        let class = if place == 0 { " class=\"name\"" } else { "" };
        format!("<tspan x=\"{x}\" y=\"{y}\"{class}>{}</tspan>", escape(text))
    };
    let lines = [mark.row.controller.as_str()].into_iter();
    let lines = lines.chain(mark.values.iter().map(String::as_str));
    let lines: String = (0..).zip(lines).map(line).collect();
    format!(
        "<g class=\"mark\" tabindex=\"0\" role=\"img\" aria-label=\"{name}: {values}\">{circles}\
         <g class=\"tip\" aria-hidden=\"true\"><rect x=\"{left}\" y=\"{top}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"6\"/>\
         <text>{lines}</text></g></g>\n"
    )
}

/// How far from its centre a point is noticed, in pixels.
const RADIUS: i32 = 14;
/// From a point to what it shows.
const GAP: i32 = 20;
/// The size of what it shows.
const WIDTH: i32 = 260;
const HEIGHT: i32 = 114;

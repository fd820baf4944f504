//! All controllers on one link: throughput over delay.

use plotters::element::PathElement;
use plotters::prelude::DrawingBackend;
use plotters::style::Color;

use super::canvas::{Area, DrawResult, Drawing};
use super::label::{Box2, place};
use super::look::Look;
use super::panel::{Align, Panel, Pixel, Swatch, heading, write};
use super::scale::Scale;
use super::style::{BODY, FAINT_INK, INK, dark, text};
use crate::metrics::Row;

/// The plot of one link.
#[derive(Debug)]
pub(super) struct Plot<'a> {
    pub(super) rows: &'a [&'a Row],
}

/// The mark of a controller.
#[derive(Debug)]
pub(super) struct Mark<'a> {
    pub(super) row: &'a Row,
    label: String,
    look: Look,
    pub(super) middle: Pixel,
    pub(super) p95: Pixel,
    /// What it shows, line by line.
    pub(super) values: [String; 3],
}

/// Which delay is drawn: the one that the users of the workload wait for.
struct Delay {
    title: &'static str,
    axis: &'static str,
    middle: (&'static str, fn(&Row) -> Option<f64>),
    p95: fn(&Row) -> Option<f64>,
}

impl Delay {
    fn of(row: &Row) -> Self {
        if row.messages.is_some() {
            Self {
                title: "Throughput and message times",
                axis: "time from a request to its response (ms, log scale): to the left is better",
                middle: ("median", |row| row.message_p50_ms),
                p95: |row| row.message_p95_ms,
            }
        } else if row.frames.is_some() {
            Self {
                title: "Throughput and frame delays",
                axis: "time from a frame's beginning to its arrival (ms, log scale): to the left is better",
                middle: ("median", |row| row.frame_delay_p50_ms),
                p95: |row| row.frame_delay_p95_ms,
            }
        } else {
            Self {
                title: "Throughput and delay",
                axis: "round-trip time (ms, log scale): up and to the left is better",
                middle: ("mean RTT", |row| row.rtt_mean_ms),
                p95: |row| row.rtt_p95_ms,
            }
        }
    }
}

impl Drawing for Plot<'_> {
    fn size(&self) -> (u32, u32) {
        (1200, 800)
    }

    fn title(&self) -> String {
        self.rows.first().map_or_else(String::new, |first| {
            format!("{} on {}", Delay::of(first).title, first.trace)
        })
    }

    fn description(&self) -> String {
        let marks = self.marks().into_iter();
        let marks: Vec<String> = marks
            .map(|mark| format!("{}: {}", mark.label, mark.values.join(", ")))
            .collect();
        format!("A point for each controller. {}.", marks.join("; "))
    }

    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>) -> DrawResult<DB> {
        let Some(first) = self.rows.first() else {
            return Ok(());
        };
        let delay = Delay::of(first);
        heading(area, ACROSS.0, &self.title(), &[first.scenario_caption()])?;

        let panel = self.panel(first, &delay);
        let rates = match panel.y {
            Scale::Linear { low: 0.0, .. } => "throughput on the wire (Mb/s)",
            _ => "throughput on the wire (Mb/s, not from zero)",
        };
        panel.frame(area, rates)?;
        // A line that lies beyond an axis is left out.
        let mut drawn = Vec::new();
        if panel.y.has(first.capacity_mbps) {
            panel.level(area, first.capacity_mbps, FAINT_INK)?;
            drawn.push("capacity");
        }
        if panel.x.has(first.rtt_ms) {
            panel.plumb(area, first.rtt_ms, FAINT_INK)?;
            drawn.push("base RTT");
        }
        panel.outline(area)?;
        panel.x_labels(area, delay.axis)?;
        let mut entries = vec![
            (Swatch::Dot(FAINT_INK), delay.middle.0.to_owned()),
            (Swatch::Ring(FAINT_INK), "95th percentile".to_owned()),
        ];
        if !drawn.is_empty() {
            entries.push((Swatch::Dashes(FAINT_INK), drawn.join(", ")));
        }
        panel.legend(area, &entries)?;
        let marks = self.marks();
        for mark in &marks {
            let style = mark.look.color.stroke_width(2);
            area.draw(&PathElement::new([mark.middle, mark.p95], style))?;
        }
        for mark in &marks {
            mark.look.ring(area, mark.p95, RADIUS)?;
            mark.look.dot(area, mark.middle, RADIUS)?;
        }
        let capacity = panel.at(0.0, first.capacity_mbps).1;
        let base_rtt = panel.at(first.rtt_ms, 0.0).0;
        let lines = [
            Box2 {
                min: (ACROSS.0, capacity - 2),
                max: (ACROSS.1, capacity + 2),
            },
            Box2 {
                min: (base_rtt - 2, DOWN.0),
                max: (base_rtt + 2, DOWN.1),
            },
        ];
        labels(area, &panel, &marks, &lines)
    }
}

impl<'a> Plot<'a> {
    /// Axes that fit the data.
    fn panel(&self, first: &Row, delay: &Delay) -> Panel {
        let delays = self
            .rows
            .iter()
            .flat_map(|row| [(delay.middle.1)(row), (delay.p95)(row)]);
        let rates = self.rows.iter().map(|row| throughput(row));
        Panel {
            across: ACROSS,
            down: DOWN,
            x: delay_axis(delays.flatten(), first.rtt_ms),
            y: rate_axis(rates, first.capacity_mbps),
        }
    }

    /// One mark for each controller that got anything through.
    pub(super) fn marks(&self) -> Vec<Mark<'a>> {
        let Some(first) = self.rows.first() else {
            return Vec::new();
        };
        let delay = Delay::of(first);
        let panel = self.panel(first, &delay);
        let mark = |row: &&'a Row| {
            let rate = throughput(row);
            let (middle, p95) = ((delay.middle.1)(row)?, (delay.p95)(row)?);
            Some(Mark {
                row,
                label: match row.closed {
                    Some(_) => format!("{} (closed early)", row.controller),
                    None => row.controller.clone(),
                },
                look: Look::of(&row.controller),
                middle: panel.at(middle, rate),
                p95: panel.at(p95, rate),
                values: [
                    format!("{rate:.2} Mb/s"),
                    format!("{} {middle:.1} ms", delay.middle.0),
                    format!("95th percentile {p95:.1} ms"),
                ],
            })
        };
        self.rows.iter().filter_map(mark).collect()
    }
}

/// The values and some room, and the base RTT unless it is far from them.
fn delay_axis(delays: impl Iterator<Item = f64> + Clone, base_rtt: f64) -> Scale {
    let low = delays.clone().fold(f64::INFINITY, f64::min);
    let high = delays.fold(0.0, f64::max);
    let (low, high) = if low <= high {
        (low, high)
    } else {
        (base_rtt, base_rtt)
    };
    let near = (low / FAR_RTT..high * FAR_RTT).contains(&base_rtt);
    let (low, high) = match near {
        true => (low.min(base_rtt), high.max(base_rtt)),
        false => (low, high),
    };
    // Few milliseconds must not look like many.
    let room = (MIN_RATIO / (high / low)).max(1.0).sqrt();
    Scale::Log {
        low: low * 0.9 / room,
        high: high * 1.2 * room,
    }
}

/// The values and some room, and the capacity unless it is far from them. From zero if that is near.
fn rate_axis(rates: impl Iterator<Item = f64> + Clone, capacity: f64) -> Scale {
    let low = rates.clone().fold(f64::INFINITY, f64::min).min(capacity);
    let most = rates.fold(0.0, f64::max);
    let high = if most <= 0.0 || capacity <= FAR_RATE * most {
        most.max(capacity)
    } else {
        most
    };
    let middle = f64::midpoint(low, high);
    // A hundredth must not look like a half.
    let half = ((high - low) / 2.0).max(MIN_SPAN / 2.0 * high) * 1.15;
    let low = if middle - half < NEAR_ZERO * high {
        0.0
    } else {
        middle - half
    };
    Scale::Linear {
        low,
        high: (middle + half).max(low + f64::MIN_POSITIVE),
    }
}

impl Mark<'_> {
    /// The boxes that a label must not hide.
    fn boxes(&self) -> [Box2; 3] {
        let size = 2 * RADIUS + 4;
        let line = Box2 {
            min: (self.middle.0.min(self.p95.0), self.middle.1 - 3),
            max: (self.middle.0.max(self.p95.0), self.middle.1 + 3),
        };
        [
            Box2::around(self.middle, size, size),
            Box2::around(self.p95, size, size),
            line,
        ]
    }
}

/// Names the marks, each near its mean and, if that is crowded, tied to it by a thin line.
fn labels<DB: DrawingBackend>(
    area: &Area<DB>,
    panel: &Panel,
    marks: &[Mark<'_>],
    lines: &[Box2],
) -> DrawResult<DB> {
    let frame = Box2 {
        min: (panel.across.0 + 4, panel.down.0 + 4),
        max: (panel.across.1 - 4, panel.down.1 - 4),
    };
    let mut taken = lines.to_vec();
    taken.extend(marks.iter().flat_map(Mark::boxes));
    for mark in marks {
        let (width, _) = area.estimate_text_size(&mark.label, &text(BODY, INK))?;
        let label = place(mark.middle, (width as i32 + 6, LINE_HEIGHT), frame, &taken);
        let center = label.center();
        let (dx, dy) = (center.0 - mark.middle.0, center.1 - mark.middle.1);
        if dy.abs() > FAR || dx.abs() > width as i32 / 2 + FAR {
            let end = (
                mark.middle.0.clamp(label.min.0, label.max.0),
                mark.middle.1.clamp(label.min.1, label.max.1),
            );
            let tie = PathElement::new([mark.middle, end], mark.look.color.mix(0.6));
            area.draw(&tie)?;
        }
        write(
            area,
            &mark.label,
            center,
            Align::Center,
            BODY,
            dark(mark.look.color),
        )?;
        taken.push(label);
    }
    Ok(())
}

/// The end of an axis of rates: the capacity, unless the applications need so little of it that differences would not show.
pub(super) fn axis_end(row: &Row, capacity: f64, max: f64) -> f64 {
    let bulk = row.messages.is_none() && row.frames.is_none();
    if bulk || max <= 0.0 || max > LITTLE_USED * capacity {
        capacity.max(max)
    } else {
        2.0 * max
    }
}

/// A controller's throughput, in Mb/s on the wire.
fn throughput(row: &Row) -> f64 {
    row.utilization * row.capacity_mbps
}

/// A base RTT further from all delays than by this factor is left out.
const FAR_RTT: f64 = 4.0;

/// A capacity further above all rates than by this factor is left out.
const FAR_RATE: f64 = 1.5;

/// The end of the axis of delays is at least so far from its start, as a ratio.
const MIN_RATIO: f64 = 1.5;

/// The axis of rates covers at least such a share of the largest one.
const MIN_SPAN: f64 = 0.1;

/// An axis that would start below this share of the largest rate starts at zero.
const NEAR_ZERO: f64 = 0.2;

/// An application that needs less of a link than this leaves most of an axis empty.
const LITTLE_USED: f64 = 0.2;

const ACROSS: (i32, i32) = (90, 1170);
const DOWN: (i32, i32) = (122, 732);

/// The radius of a mark.
const RADIUS: i32 = 8;
/// The height of a label.
const LINE_HEIGHT: i32 = 22;
/// A label further from its mark than this is tied to it.
const FAR: i32 = 34;

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(scale: Scale) -> (f64, f64) {
        match scale {
            Scale::Linear { low, high } | Scale::Log { low, high } => (low, high),
        }
    }

    #[test]
    fn axes_fit_the_data() {
        let (low, high) = ends(rate_axis([15.0, 15.9, 16.2].into_iter(), 16.3));
        assert!(
            (14.0..15.0).contains(&low) && (16.3..17.0).contains(&high),
            "{low} {high}"
        );
        // A capacity that nobody comes near would leave most of the axis empty.
        let (low, high) = ends(rate_axis([1.0, 1.01].into_iter(), 100.0));
        assert!(low > 0.9 && high < 1.1, "{low} {high}");
        let (low, high) = ends(rate_axis([0.0, 0.0].into_iter(), 10.0));
        assert!(low == 0.0 && high >= 10.0, "{low} {high}");

        let (low, high) = ends(delay_axis([78.0, 1185.0].into_iter(), 40.0));
        assert!(
            (30.0..40.0).contains(&low) && (1185.0..1500.0).contains(&high),
            "{low} {high}"
        );
        let (low, high) = ends(delay_axis([500.0, 510.0].into_iter(), 40.0));
        assert!(
            (350.0..450.0).contains(&low) && (600.0..800.0).contains(&high),
            "{low} {high}"
        );
        let (low, high) = ends(delay_axis([].into_iter(), 40.0));
        assert!(
            low < 40.0 && high > 40.0 && high.is_finite(),
            "{low} {high}"
        );
    }
}

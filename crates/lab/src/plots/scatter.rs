//! All controllers on one link: throughput over delay.

use plotters::element::{Circle, PathElement};
use plotters::prelude::DrawingBackend;
use plotters::style::{Color, RGBColor};

use super::canvas::{Area, DrawResult, Drawing};
use super::label::{Box2, place};
use super::panel::{Align, Panel, Pixel, Swatch, heading, ring, write};
use super::scale::Scale;
use super::style::{BODY, FAINT_INK, INK, color, dark, text};
use crate::metrics::Row;

/// The plot of one link.
#[derive(Debug)]
pub(super) struct Plot<'a> {
    pub(super) rows: &'a [&'a Row],
}

/// The mark of a controller.
struct Mark {
    label: String,
    color: RGBColor,
    middle: Pixel,
    p95: Pixel,
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
                axis: "time from a request to its response (ms): to the left is better",
                middle: ("median", |row| row.message_p50_ms),
                p95: |row| row.message_p95_ms,
            }
        } else if row.frames.is_some() {
            Self {
                title: "Throughput and frame delays",
                axis: "time from a frame's beginning to its arrival (ms): to the left is better",
                middle: ("median", |row| row.frame_delay_p50_ms),
                p95: |row| row.frame_delay_p95_ms,
            }
        } else {
            Self {
                title: "Throughput and delay",
                axis: "round-trip time (ms): up and to the left is better",
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

    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>) -> DrawResult<DB> {
        let Some(first) = self.rows.first() else {
            return Ok(());
        };
        let delay = Delay::of(first);
        let title = format!("{} on {}", delay.title, first.trace);
        heading(area, ACROSS.0, &title, &[first.scenario_caption()])?;

        let panel = self.panel(first, &delay);
        panel.frame(area, "throughput on the wire (Mb/s)")?;
        let drawn = match panel.y {
            // It lies beyond the axis's end.
            Scale::Linear { high, .. } if first.capacity_mbps > high => "base RTT",
            _ => {
                panel.level(area, first.capacity_mbps, FAINT_INK)?;
                "capacity, base RTT"
            }
        };
        panel.plumb(area, first.rtt_ms, FAINT_INK)?;
        panel.outline(area)?;
        panel.x_labels(area, delay.axis)?;
        panel.legend(
            area,
            &[
                (Swatch::Dot(FAINT_INK), delay.middle.0.to_owned()),
                (Swatch::Ring(FAINT_INK), "95th percentile".to_owned()),
                (Swatch::Dashes(FAINT_INK), drawn.to_owned()),
            ],
        )?;
        let marks = self.marks(&panel, &delay);
        for mark in &marks {
            let style = mark.color.stroke_width(2);
            area.draw(&PathElement::new([mark.middle, mark.p95], style))?;
        }
        for mark in &marks {
            ring(area, mark.p95, RADIUS, mark.color)?;
            area.draw(&Circle::new(mark.middle, RADIUS, mark.color.filled()))?;
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

impl Plot<'_> {
    fn panel(&self, first: &Row, delay: &Delay) -> Panel {
        let delays = || {
            self.rows
                .iter()
                .flat_map(|row| [(delay.middle.1)(row), (delay.p95)(row)])
                .flatten()
        };
        let min = delays().fold(first.rtt_ms, f64::min);
        let largest = delays().fold(2.0 * first.rtt_ms, f64::max);
        let rates = || self.rows.iter().map(|row| throughput(row));
        let high = axis_end(first, first.capacity_mbps, rates().fold(0.0, f64::max));
        Panel {
            across: ACROSS,
            down: DOWN,
            x: Scale::Log {
                low: min * 0.85,
                high: largest * 1.25,
            },
            y: Scale::Linear {
                // From zero, so that a share of the throughput looks like one.
                low: 0.0,
                high: 1.06 * high,
            },
        }
    }

    /// One mark for each controller that got anything through.
    fn marks(&self, panel: &Panel, delay: &Delay) -> Vec<Mark> {
        self.rows
            .iter()
            .enumerate()
            .filter_map(|(index, row)| {
                let rate = throughput(row);
                Some(Mark {
                    label: match row.closed {
                        Some(_) => format!("{} (closed early)", row.controller),
                        None => row.controller.clone(),
                    },
                    color: color(index),
                    middle: panel.at((delay.middle.1)(row)?, rate),
                    p95: panel.at((delay.p95)(row)?, rate),
                })
            })
            .collect()
    }
}

impl Mark {
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
    marks: &[Mark],
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
            area.draw(&PathElement::new([mark.middle, end], mark.color.mix(0.6)))?;
        }
        write(
            area,
            &mark.label,
            center,
            Align::Center,
            BODY,
            dark(mark.color),
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

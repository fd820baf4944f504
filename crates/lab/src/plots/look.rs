//! The colour and the marker of each controller, the same in all plots.

use plotters::element::{Circle, Polygon};
use plotters::prelude::DrawingBackend;
use plotters::style::{Color, RGBColor};

use super::canvas::{Area, DrawResult};
use super::panel::Pixel;
use super::style::{BACKGROUND, COLORS, color};

/// How a controller is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) color: RGBColor,
    pub(super) marker: Marker,
}

/// The shape of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marker {
    Circle,
    Square,
    Triangle,
    Diamond,
    Inverted,
    Star,
}

impl Look {
    /// The look of a controller. A preset, values of one's own, and noq have another colour and marker than the controller: their
    /// lines are drawn beside its line.
    pub(super) fn of(name: &str) -> Self {
        if let Some(place) = CONTROLLERS.iter().position(|known| *known == name) {
            return Self::at(place);
        }
        let base = CONTROLLERS.iter().position(|known| *known == base(name));
        let number = number(name);
        let apart = 1 + number % (COLORS - 1);
        Self {
            color: color(base.map_or(number, |place| place + apart)),
            marker: VARIANTS[number / COLORS % VARIANTS.len()],
        }
    }

    /// The look of the n-th of some things that are no controllers.
    pub(super) fn at(place: usize) -> Self {
        let marker = MARKERS[place / COLORS % MARKERS.len()];
        Self {
            color: color(place),
            marker,
        }
    }

    /// All looks but those of variants.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        (0..COLORS * MARKERS.len()).map(Self::at)
    }

    /// The look of a series, if its name begins with a controller's: `knee, 97 % held`.
    pub(super) fn of_series(name: &str) -> Option<Self> {
        let name = name.split([',', ' ']).next().unwrap_or(name);
        CONTROLLERS.contains(&base(name)).then(|| Self::of(name))
    }

    /// A filled point.
    pub(super) fn dot<DB: DrawingBackend>(
        self,
        area: &Area<DB>,
        center: Pixel,
        radius: i32,
    ) -> DrawResult<DB> {
        self.marker.draw(area, center, radius, self.color)
    }

    /// An empty point. As a shape upon a shape: an outline would be ragged in a bitmap.
    pub(super) fn ring<DB: DrawingBackend>(
        self,
        area: &Area<DB>,
        center: Pixel,
        radius: i32,
    ) -> DrawResult<DB> {
        self.dot(area, center, radius)?;
        self.marker.draw(area, center, radius - 3, BACKGROUND)
    }
}

impl Marker {
    fn draw<DB: DrawingBackend>(
        self,
        area: &Area<DB>,
        (x, y): Pixel,
        radius: i32,
        color: RGBColor,
    ) -> DrawResult<DB> {
        let corners: Vec<(f64, f64)> = match self {
            Self::Circle => return area.draw(&Circle::new((x, y), radius, color.filled())),
            Self::Square => vec![(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
            Self::Triangle => vec![(0.0, -1.15), (1.1, 0.85), (-1.1, 0.85)],
            Self::Inverted => vec![(0.0, 1.15), (1.1, -0.85), (-1.1, -0.85)],
            Self::Diamond => vec![(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)],
            Self::Star => (0..8).map(corner_of_star).collect(),
        };
        let size = f64::from(radius);
        let corners = corners.into_iter();
        let corners: Vec<Pixel> = corners
            .map(|(dx, dy)| {
                (
                    x + (dx * size).round() as i32,
                    y + (dy * size).round() as i32,
                )
            })
            .collect();
        area.draw(&Polygon::new(corners, color.filled()))
    }
}

/// The controller that a name is a variant of.
fn base(name: &str) -> &str {
    let base = name.strip_prefix("noq:").unwrap_or(name);
    base.split(':').next().unwrap_or(base)
}

/// Four points, and four corners between them.
fn corner_of_star(place: u32) -> (f64, f64) {
    let angle = f64::from(place) * std::f64::consts::FRAC_PI_4;
    let size = if place.is_multiple_of(2) { 1.4 } else { 0.65 };
    (angle.sin() * size, -angle.cos() * size)
}

/// A number that only depends on the text (FNV-1a).
fn number(text: &str) -> usize {
    let hash = text.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    hash as usize
}

/// Each has its place for good: new ones come last. Those that are compared most have colours of their own.
const CONTROLLERS: [&str; 22] = [
    "knee",
    "bbr-s",
    "bbr",
    "bbr3",
    "cubic",
    "vegas",
    "quinn-cubic",
    "noq:knee",
    "bbr2",
    "compound",
    "bbr-fair",
    "quinn-new-reno",
    "bbr-x",
    "quinn-bbr",
    "ebcc",
    "bbr-sampled",
    "bbr3-s",
    "bbr2-sampled",
    "noq-cubic",
    "new-reno",
    "noq-new-reno",
    "noq-bbr3",
];

/// For every so many controllers as there are colours.
const MARKERS: [Marker; 4] = [
    Marker::Circle,
    Marker::Square,
    Marker::Triangle,
    Marker::Diamond,
];

/// For what is not in the list.
const VARIANTS: [Marker; 3] = [Marker::Diamond, Marker::Inverted, Marker::Star];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controllers::names;

    #[test]
    fn no_two_controllers_look_alike() {
        for name in names() {
            assert!(CONTROLLERS.contains(&name), "{name} has no place");
        }
        for (place, name) in CONTROLLERS.iter().enumerate() {
            for other in &CONTROLLERS[..place] {
                assert_ne!(Look::of(name), Look::of(other), "{name} and {other}");
            }
        }
    }

    #[test]
    fn variants_differ_from_their_controller_and_have_one_look() {
        for name in [
            "bbr:tuned",
            "bbr3:paper",
            "knee:queue_target=1ms",
            "noq:bbr3",
        ] {
            let (look, base) = (Look::of(name), Look::of(base(name)));
            assert_ne!(look.color, base.color, "{name}");
            assert!(VARIANTS.contains(&look.marker), "{name}");
            assert_eq!(Look::of_series(&format!("{name}, 97 % held")), Some(look));
        }
        assert_eq!(Look::of_series("flow 1"), None);
    }
}

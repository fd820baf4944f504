//! Where to put labels so that they hide neither each other nor the data.

use super::panel::Pixel;

/// A rectangle of pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Box2 {
    /// The upper left corner.
    pub(super) min: Pixel,
    /// The lower right corner.
    pub(super) max: Pixel,
}

impl Box2 {
    /// A rectangle of this size around its centre.
    pub(super) fn around(center: Pixel, width: i32, height: i32) -> Self {
        let min = (center.0 - width / 2, center.1 - height / 2);
        Self {
            min,
            max: (min.0 + width, min.1 + height),
        }
    }

    /// The middle.
    pub(super) fn center(self) -> Pixel {
        (
            i32::midpoint(self.min.0, self.max.0),
            i32::midpoint(self.min.1, self.max.1),
        )
    }

    /// How many pixels both rectangles cover.
    fn overlap(self, other: Self) -> i64 {
        let side = |min: i32, max: i32| i64::from((max - min).max(0));
        side(self.min.0.max(other.min.0), self.max.0.min(other.max.0))
            * side(self.min.1.max(other.min.1), self.max.1.min(other.max.1))
    }

    /// How many of its pixels lie outside of `frame`.
    fn outside(self, frame: Self) -> i64 {
        let size = i64::from(self.max.0 - self.min.0) * i64::from(self.max.1 - self.min.1);
        size - self.overlap(frame)
    }
}

/// A place for a label of this size near `anchor`: the nearest one inside `frame` that overlaps nothing, or else the one
/// that overlaps least.
pub(super) fn place(
    anchor: Pixel,
    (width, height): (i32, i32),
    frame: Box2,
    taken: &[Box2],
) -> Box2 {
    let cost = |label: Box2| {
        let overlaps: i64 = taken.iter().map(|&other| label.overlap(other)).sum();
        overlaps + label.outside(frame)
    };
    let candidates = (0..RINGS).flat_map(|ring| {
        let (dx, dy) = (width / 2 + 14 + 8 * ring, height / 2 + 12 + 12 * ring);
        [
            (0, -dy),
            (0, dy),
            (dx, 0),
            (-dx, 0),
            (dx, -dy),
            (-dx, -dy),
            (dx, dy),
            (-dx, dy),
        ]
        .map(|(x, y)| Box2::around((anchor.0 + x, anchor.1 + y), width, height))
    });
    candidates
        .min_by_key(|&label| cost(label))
        .unwrap_or_else(|| Box2::around(anchor, width, height))
}

/// How far to look around an anchor, in steps of a few pixels.
const RINGS: i32 = 24;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_one_point_avoid_each_other_and_the_border() {
        let frame = Box2 {
            min: (0, 0),
            max: (400, 300),
        };
        let mut taken = vec![Box2::around((200, 10), 14, 14)];
        for _ in 0..8 {
            let label = place((200, 10), (90, 20), frame, &taken);
            assert_eq!(label.outside(frame), 0, "{label:?}");
            assert!(
                taken.iter().all(|&other| label.overlap(other) == 0),
                "{label:?} {taken:?}"
            );
            taken.push(label);
        }
    }

    #[test]
    fn without_room_the_least_overlap_wins() {
        let frame = Box2 {
            min: (0, 0),
            max: (20, 20),
        };
        let label = place((10, 10), (90, 20), frame, &[frame]);
        assert_eq!(
            (label.max.0 - label.min.0, label.max.1 - label.min.1),
            (90, 20)
        );
    }
}

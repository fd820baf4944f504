//! Whether a claim holds.

/// A claim of the paper, and what was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The claim, in a few words.
    pub claim: String,
    /// The paper's figure.
    pub paper: String,
    /// Ours.
    pub ours: String,
    /// What follows.
    pub finding: Finding,
}

/// What follows from two figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// Ours is inside the paper's stated range, or within 10 % of its number.
    Reproduced,
    /// Ours is on the paper's side of what the paper compares with or, where it compares with nothing, within a factor of two
    /// of its number.
    Direction,
    /// Ours does not, for this reason.
    NotReproduced(String),
}

impl Verdict {
    /// A verdict on a claim, of which the paper and we have a figure each. It is reproduced if `holds`; if not, it goes in the
    /// paper's direction if `leans`, and otherwise fails because of the mechanism.
    pub fn new(
        claim: impl Into<String>,
        paper: impl Into<String>,
        ours: impl Into<String>,
        (holds, leans): (bool, bool),
        mechanism: impl Into<String>,
    ) -> Self {
        Self {
            claim: claim.into(),
            paper: paper.into(),
            ours: ours.into(),
            finding: if holds {
                Finding::Reproduced
            } else if leans {
                Finding::Direction
            } else {
                Finding::NotReproduced(mechanism.into())
            },
        }
    }
}

/// Whether our figure is within 10 % of the paper's number.
pub(crate) fn near(ours: f64, paper: f64) -> bool {
    (ours - paper).abs() <= TOLERANCE * paper.abs()
}

/// What a figure says of a number that the paper compares with nothing: whether ours is near it, and whether it is within a
/// factor of two.
pub(crate) fn number_alone(ours: f64, paper: f64) -> (bool, bool) {
    let ratio = ours / paper;
    (near(ours, paper), (0.5..=2.0).contains(&ratio))
}

const TOLERANCE: f64 = 0.1;

impl Finding {
    /// In one word or two.
    pub const fn label(&self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::Direction => "in direction",
            Self::NotReproduced(_) => "not reproduced",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_reproduced_within_a_tenth_on_either_side() {
        for (ours, finding) in [
            (0.91, (true, true)),
            (1.09, (true, true)),
            (0.89, (false, true)),
            (1.2, (false, true)),
            (2.1, (false, false)),
            (0.4, (false, false)),
            (f64::NAN, (false, false)),
        ] {
            assert_eq!(number_alone(ours, 1.0), finding, "{ours}");
        }
    }
}

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
    /// Ours is as good as the paper's.
    Reproduced,
    /// Ours goes the same way, but not as far.
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

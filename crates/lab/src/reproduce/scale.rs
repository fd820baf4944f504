//! How much to run.

/// How much to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scale {
    /// Fewer cases, and shorter ones where the experiment allows it: to see that it works, not to quote.
    pub quick: bool,
    /// How many seeds there are, from 1 on, wherever anything is random. At least 1.
    pub seeds: u64,
}

impl Scale {
    /// The seeds.
    pub fn seeds(self) -> impl Iterator<Item = u64> + Clone {
        1..=self.seeds.max(1)
    }

    /// One of two values.
    pub fn pick<T>(self, quick: T, full: T) -> T {
        if self.quick { quick } else { full }
    }
}

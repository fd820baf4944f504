//! A part of the work, for several machines or processes.

use std::str::FromStr;

use thiserror::Error;

/// One of several equal parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Which one, from 0.
    index: usize,
    /// How many there are.
    count: usize,
}

/// The text is not of the form `i/n` with `i` from 1 to `n`.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("'{text}' is not of the form I/N with I from 1 to N, such as 1/4")]
pub struct ShardError {
    /// What was written.
    pub text: String,
}

impl Shard {
    /// Everything.
    pub const ALL: Self = Self { index: 0, count: 1 };

    /// Whether the item at this place belongs to the part.
    pub fn has(self, place: usize) -> bool {
        place % self.count == self.index
    }
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        let parts = text.split_once('/');
        let numbers = parts.and_then(|(index, count)| {
            Some((index.parse::<usize>().ok()?, count.parse::<usize>().ok()?))
        });
        match numbers {
            Some((index, count)) if (1..=count).contains(&index) => Ok(Self {
                index: index - 1,
                count,
            }),
            _ => Err(ShardError {
                text: text.to_owned(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_belongs_to_one_part() {
        let shards: Vec<Shard> = ["1/3", "2/3", "3/3"]
            .map(|text| text.parse().unwrap())
            .into();
        for place in 0..10 {
            let owners = shards.iter().filter(|shard| shard.has(place)).count();
            assert_eq!(owners, 1, "{place}");
            assert!(Shard::ALL.has(place));
        }
        for text in ["", "1", "0/3", "4/3", "1/0", "a/b", "1/2/3"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}

//! A part of a sweep, for several machines or processes.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::key::Key;

/// One of several parts of a sweep, about equally large. It has the same runs whatever else the sweep has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shard {
    /// How many there are.
    count: u64,
    /// Which one, from 0.
    index: u64,
}

/// The text is not of the form `i/n` with `i` from 1 to `n`, and `n` no more than a million.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("'{text}' is not of the form I/N with I from 1 to N and N up to 1000000, such as 1/4")]
pub struct ShardError {
    /// What was written.
    pub text: String,
}

impl Shard {
    /// Everything.
    pub const ALL: Self = Self { index: 0, count: 1 };

    /// Whether the run belongs to the part.
    pub fn has(self, key: &Key) -> bool {
        key.number() % self.count == self.index
    }

    /// The name of the file that it writes.
    pub(super) fn file_name(self) -> String {
        match self {
            Self::ALL => ALL_RUNS.to_owned(),
            Self { index, count } => format!("runs-{}-of-{count}.jsonl", index + 1),
        }
    }

    /// The part that writes the file of this name.
    pub(super) fn of_file(name: &str) -> Option<Self> {
        if name == ALL_RUNS {
            return Some(Self::ALL);
        }
        let parts = name.strip_prefix("runs-")?.strip_suffix(".jsonl")?;
        let (index, count) = parts.split_once("-of-")?;
        format!("{index}/{count}").parse().ok()
    }

    /// All parts beside which there is this one.
    pub(super) fn siblings(self) -> impl Iterator<Item = Self> {
        (0..self.count).map(move |index| Self { index, ..self })
    }
}

/// As [`FromStr`] reads it.
impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index + 1, self.count)
    }
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        let parts = text.split_once('/');
        let numbers = parts.and_then(|(index, count)| {
            Some((index.parse::<u64>().ok()?, count.parse::<u64>().ok()?))
        });
        match numbers {
            Some((index, count)) if (1..=count).contains(&index) && count <= MAX_SHARDS => {
                Ok(Self {
                    index: index - 1,
                    count,
                })
            }
            _ => Err(ShardError {
                text: text.to_owned(),
            }),
        }
    }
}

/// The file of a sweep that is whole.
pub(super) const ALL_RUNS: &str = "runs.jsonl";

/// More than any cluster starts.
const MAX_SHARDS: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_belongs_to_one_part() {
        let shards: Vec<Shard> = ["1/3", "2/3", "3/3"]
            .map(|text| text.parse().unwrap())
            .into();
        let mut sizes = [0; 3];
        for seed in 0..300_u64 {
            let key = Key::new("compare", [seed.into()], &seed).unwrap();
            let owners: Vec<usize> = (0..3).filter(|index| shards[*index].has(&key)).collect();
            assert_eq!(owners.len(), 1, "{seed}");
            sizes[owners[0]] += 1;
            assert!(Shard::ALL.has(&key));
        }
        assert!(
            sizes.iter().all(|size| (70..130).contains(size)),
            "{sizes:?}"
        );
    }

    #[test]
    fn only_parts_are_read_and_their_files_name_them() {
        for text in [
            "",
            "1",
            "0/3",
            "4/3",
            "1/0",
            "a/b",
            "1/2/3",
            "-1/3",
            "1/9999999",
        ] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
        let shard: Shard = "3/16".parse().unwrap();
        assert_eq!(shard.to_string(), "3/16");
        assert_eq!(shard.file_name(), "runs-3-of-16.jsonl");
        assert_eq!(Shard::ALL.file_name(), "runs.jsonl");
        for shard in shard.siblings().chain([Shard::ALL]) {
            assert_eq!(Shard::of_file(&shard.file_name()), Some(shard));
        }
        for name in ["runs-3.jsonl", "runs-0-of-2.jsonl", "notes.jsonl", "runs"] {
            assert_eq!(Shard::of_file(name), None, "{name}");
        }
    }
}

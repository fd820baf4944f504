//! The files of a sweep joined.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::ResultsError;
use super::lines::{self, Line, failure};
use super::locked::Locked;
use super::results::{Kept, Known};
use super::shard::{ALL_RUNS, Shard};

/// What [`merge()`] has joined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The file with all results.
    pub path: PathBuf,
    /// How many runs it has.
    pub runs: usize,
    /// The files that were read.
    pub files: usize,
    /// How many results were there more than once, and equal.
    pub repeated: usize,
    /// The files whose last line lacks its end: a process was killed while it wrote them, or is writing them.
    pub torn: Vec<PathBuf>,
    /// The shards that have no file, where others of as many have one.
    pub absent: Vec<String>,
    /// Whether runs may be missing: of no number of shards, all have a file.
    pub incomplete: bool,
}

/// Joins all results in a directory in the file `runs.jsonl`, in the order of the runs' names. The same results give the same
/// bytes, whichever shards have made them. The shards' files stay.
///
/// # Errors
/// A directory without results; a file that cannot be read or written, or that another process writes; a line that is no
/// result; two results of one run.
pub fn merge(directory: &Path) -> Result<Merged, ResultsError> {
    let files = lines::files(directory)?;
    let path = directory.join(ALL_RUNS);
    if files.is_empty() {
        let reason = "there are no files of results, such as runs-1-of-4.jsonl";
        let source = std::io::Error::new(std::io::ErrorKind::NotFound, reason);
        return Err(failure("merge", directory, source));
    }
    // Until the end, so that no process adds to it what would be lost.
    let _lock = files
        .iter()
        .any(|(file, _)| *file == path)
        .then(|| Locked::open(&path))
        .transpose()?;
    let (mut known, mut lines, mut torn) = (Known::default(), 0, Vec::new());
    for (file, _) in &files {
        let content = known.add(file)?;
        lines += content.lines;
        if content.torn {
            torn.push(file.clone());
        }
    }
    let mut results: Vec<_> = known.results.into_iter().collect();
    results.sort_by(|a, b| a.0.cmp(&b.0));
    let there: BTreeSet<Shard> = files.iter().map(|(_, shard)| *shard).collect();
    let absent = absent(&there);
    let merged = Merged {
        incomplete: !absent.is_empty() && !there.iter().any(|shard| all_of(shard, &there)),
        path: path.clone(),
        runs: results.len(),
        files: files.len(),
        repeated: lines - results.len(),
        torn,
        absent,
    };
    // A process that is killed here leaves the old file.
    let part = directory.join(PART);
    let written = |source| failure("write", &part, source);
    let mut file = BufWriter::new(File::create(&part).map_err(written)?);
    for (run, Kept { result, .. }) in results {
        let line = Line { run, result }.text();
        let line = line.map_err(|error| written(error.into()))?;
        file.write_all(&line).map_err(written)?;
    }
    let file = file
        .into_inner()
        .map_err(|error| written(error.into_error()))?;
    file.sync_all().map_err(written)?;
    fs::rename(&part, &path).map_err(|source| failure("write", &path, source))?;
    Ok(merged)
}

/// The shards that are not there, beside those that are.
fn absent(there: &BTreeSet<Shard>) -> Vec<String> {
    let siblings: BTreeSet<Shard> = there.iter().flat_map(|shard| shard.siblings()).collect();
    siblings
        .difference(there)
        .filter(|shard| **shard != Shard::ALL)
        .map(Shard::to_string)
        .collect()
}

/// Whether a shard and all beside it are there. The file of all runs may be of an earlier join.
fn all_of(shard: &Shard, there: &BTreeSet<Shard>) -> bool {
    *shard != Shard::ALL && shard.siblings().all(|sibling| there.contains(&sibling))
}

/// The name of the file while it is written.
const PART: &str = "runs.jsonl.part";

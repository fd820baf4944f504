//! Finished runs, kept in a directory.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::de::DeserializeOwned;
use serde_json::value::{RawValue, to_raw_value};

use super::key::Key;
use super::lines::{self, Content, Line, failure};
use super::locked::Locked;
use super::shard::Shard;
use super::{ResultsError, Run, SweepError};

/// The results of finished runs: all that a directory has, and those that this process adds to the file of its shard.
#[derive(Debug)]
pub struct Results {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    known: Known,
    file: Locked,
    /// The bytes of the file's whole lines.
    length: u64,
}

/// Results by their runs, of several files.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) results: HashMap<Key, Kept>,
    files: Vec<PathBuf>,
}

/// A result, and where it was first read.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) result: Box<RawValue>,
    /// Its file and line, unless this process has made it.
    place: Option<(usize, usize)>,
}

/// How much a file has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    /// The whole lines.
    pub(super) lines: usize,
    /// Their bytes.
    length: u64,
    /// Whether a line without an end follows.
    pub(super) torn: bool,
}

impl Results {
    /// Reads all results in a directory that exists, and opens the shard's file there, which only one process may do. With
    /// `fresh` the results are removed first.
    ///
    /// The last line of a file may lack its end: a process was killed while it wrote it. That run counts as not made.
    ///
    /// # Errors
    /// A file that cannot be read or written, or that another process writes; a line that is no result; two results of one run.
    pub fn open(directory: &Path, shard: Shard, fresh: bool) -> Result<Self, ResultsError> {
        let path = directory.join(shard.file_name());
        let file = Locked::open(&path)?;
        let written = |source| failure("write", &path, source);
        let mut others = lines::files(directory)?;
        others.retain(|(other, _)| *other != path);
        if fresh {
            remove(&others)?;
            others.clear();
            file.0.set_len(0).map_err(written)?;
        }
        let mut known = Known::default();
        for (other, _) in &others {
            known.add(other)?;
        }
        let Extent { length, torn, .. } = known.add(&path)?;
        if torn {
            file.0.set_len(length).map_err(written)?;
        }
        let state = State {
            known,
            file,
            length,
        };
        Ok(Self {
            path,
            state: Mutex::new(state),
        })
    }

    /// The file to which results are added.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether there is a result of the run.
    pub fn has(&self, key: &Key) -> bool {
        self.lock().known.results.contains_key(key)
    }

    /// The result of a run.
    pub(super) fn read<R: Run>(&self, key: &Key) -> Result<R::Result, SweepError<R::Error>> {
        let state = self.lock();
        let run = || key.to_string();
        let kept = state.known.results.get(key);
        let kept = kept.ok_or_else(|| SweepError::Missing { run: run() })?;
        let text = kept.result.get();
        serde_json::from_str(text).map_err(|source| match kept.place {
            Some((file, line)) => {
                let path = state.known.files.get(file).cloned().unwrap_or_default();
                lines::no_result(path, line, text, source).into()
            }
            None => SweepError::Json { run: run(), source },
        })
    }

    /// Keeps the result of a run. It is in the file when this returns.
    pub(super) fn keep<R: Run>(
        &self,
        key: &Key,
        result: &R::Result,
    ) -> Result<(), SweepError<R::Error>> {
        let json = |source| SweepError::Json {
            run: key.to_string(),
            source,
        };
        let result = to_raw_value(result).map_err(json)?;
        // What cannot be read again, such as a number that is none, must not be kept.
        serde_json::from_str::<R::Result>(result.get()).map_err(json)?;
        let run = key.clone();
        let line = Line { run, result };
        let text = line.text().map_err(json)?;
        let mut state = self.lock();
        if let Err(source) = state.file.0.write_all(&text) {
            // A part of the line may be there, and another thread may go on: the next line must not be added to it.
            let _ = state.file.0.set_len(state.length);
            return Err(failure("write", &self.path, source).into());
        }
        state.length += text.len() as u64;
        let kept = Kept {
            result: line.result,
            place: None,
        };
        state.known.results.insert(line.run, kept);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The results of all runs of a command in a file, or in the files of a directory, in the order of the runs' names.
///
/// # Errors
/// A file that cannot be read, a line that is no result of the command, or two results of one run.
pub fn read<T: DeserializeOwned>(path: &Path, command: &str) -> Result<Vec<T>, ResultsError> {
    let files = if path.is_dir() {
        let files = lines::files(path)?.into_iter();
        files.map(|(path, _)| path).collect()
    } else {
        vec![path.to_owned()]
    };
    let mut known = Known::default();
    for file in &files {
        known.add(file)?;
    }
    let mut results: Vec<(Key, Kept)> = known.results.into_iter().collect();
    results.retain(|(key, _)| key.command() == command);
    results.sort_by(|a, b| a.0.cmp(&b.0));
    let read = |(_, kept): (Key, Kept)| {
        let text = kept.result.get();
        serde_json::from_str(text).map_err(|source| {
            let (file, line) = kept.place.unwrap_or_default();
            let path = files.get(file).cloned().unwrap_or_default();
            lines::no_result(path, line, text, source)
        })
    };
    results.into_iter().map(read).collect()
}

impl Known {
    /// Adds what a file holds.
    pub(super) fn add(&mut self, path: &Path) -> Result<Extent, ResultsError> {
        let Content {
            lines,
            length,
            torn,
        } = lines::read(path)?;
        let extent = Extent {
            lines: lines.len(),
            length,
            torn,
        };
        let file = self.files.len();
        self.files.push(path.to_owned());
        for (number, line) in (1..).zip(lines) {
            match self.results.entry(line.run) {
                Entry::Vacant(entry) => {
                    entry.insert(Kept {
                        result: line.result,
                        place: Some((file, number)),
                    });
                }
                Entry::Occupied(entry) if entry.get().result.get() == line.result.get() => {}
                Entry::Occupied(entry) => {
                    let (other, other_line) = entry.get().place.unwrap_or_default();
                    return Err(ResultsError::Conflict {
                        path: path.to_owned(),
                        line: number,
                        run: entry.key().to_string(),
                        other: self.files.get(other).cloned().unwrap_or_default(),
                        other_line,
                    });
                }
            }
        }
        Ok(extent)
    }
}

/// Removes files, unless another process writes one of them.
fn remove(files: &[(PathBuf, Shard)]) -> Result<(), ResultsError> {
    let locks: Result<Vec<Locked>, ResultsError> =
        files.iter().map(|(path, _)| Locked::open(path)).collect();
    drop(locks?);
    let remove = |(path, _): &(PathBuf, Shard)| {
        fs::remove_file(path).map_err(|source| failure("remove", path, source))
    };
    files.iter().try_for_each(remove)
}

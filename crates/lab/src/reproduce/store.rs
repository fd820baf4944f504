//! Finished runs, kept in a file.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

/// The results of runs by their keys, in memory and as lines of JSON in a file.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    content: Mutex<Content>,
}

#[derive(Debug)]
struct Content {
    results: BTreeMap<String, Value>,
    file: File,
}

/// One line of the file.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    key: String,
    result: Value,
}

/// Why results cannot be kept.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The file cannot be read or written.
    #[error("cannot keep results in {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A line of it, which is not the last one, holds something else.
    #[error("{}:{line}: not a result: {source}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line's number, from 1.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

impl Store {
    /// Opens the file, which is made if there is none. With `fresh` what it holds is forgotten.
    ///
    /// The last line may be broken: an interrupted run leaves it so. It is cut off.
    ///
    /// # Errors
    /// The file cannot be read or written, or holds something else than results.
    pub fn open(path: &Path, fresh: bool) -> Result<Self, StoreError> {
        let failed = |source| StoreError::File {
            path: path.to_owned(),
            source,
        };
        let (results, length) = if fresh || !path.exists() {
            (BTreeMap::new(), 0)
        } else {
            read(path)?
        };
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .map_err(failed)?;
        file.set_len(length).map_err(failed)?;
        Ok(Self {
            path: path.to_owned(),
            content: Mutex::new(Content { results, file }),
        })
    }

    /// Whether there is a result of this key.
    pub fn has(&self, key: &str) -> bool {
        self.lock().results.contains_key(key)
    }

    /// The result of this key.
    pub fn get(&self, key: &str) -> Option<Value> {
        self.lock().results.get(key).cloned()
    }

    /// Keeps a result. It is in the file when this returns.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn keep(&self, key: &str, result: Value) -> Result<(), StoreError> {
        let failed = |source| StoreError::File {
            path: self.path.clone(),
            source,
        };
        let line = Line {
            key: key.to_owned(),
            result,
        };
        let mut text = serde_json::to_vec(&line).map_err(|error| failed(error.into()))?;
        text.push(b'\n');
        let mut content = self.lock();
        content.file.write_all(&text).map_err(failed)?;
        content.results.insert(line.key, line.result);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The results of a file, and the length of the lines that are whole.
fn read(path: &Path) -> Result<(BTreeMap<String, Value>, u64), StoreError> {
    let failed = |source| StoreError::File {
        path: path.to_owned(),
        source,
    };
    let total = fs::metadata(path).map_err(failed)?.len();
    let mut reader = BufReader::new(File::open(path).map_err(failed)?);
    let (mut results, mut length, mut number, mut text) = (BTreeMap::new(), 0, 0, Vec::new());
    loop {
        text.clear();
        let read = reader.read_until(b'\n', &mut text).map_err(failed)? as u64;
        if read == 0 {
            return Ok((results, length));
        }
        number += 1;
        match serde_json::from_slice::<Line>(&text) {
            Ok(line) if text.ends_with(b"\n") => {
                results.insert(line.key, line.result);
                length += read;
            }
            Err(source) if length + read < total => {
                let path = path.to_owned();
                return Err(StoreError::Line {
                    path,
                    line: number,
                    source,
                });
            }
            _ => return Ok((results, length)),
        }
    }
}

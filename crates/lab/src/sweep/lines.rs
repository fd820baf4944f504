//! The lines of a file of results.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::ResultsError;
use super::key::Key;
use super::shard::Shard;

/// What a line has. The result stays the text that was written.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Line {
    pub(super) run: Key,
    pub(super) result: Box<RawValue>,
}

impl Line {
    /// The line as it is in a file, its end included.
    pub(super) fn text(&self) -> Result<Vec<u8>, serde_json::Error> {
        let mut text = serde_json::to_vec(self)?;
        text.push(b'\n');
        Ok(text)
    }
}

/// What a file holds.
#[derive(Debug, Default)]
pub(super) struct Content {
    /// The whole lines.
    pub(super) lines: Vec<Line>,
    /// How many bytes they have. What follows is a line without an end: the process was killed while it wrote it.
    pub(super) length: u64,
    /// Whether anything follows.
    pub(super) torn: bool,
}

/// Reads a file up to its last whole line.
pub(super) fn read(path: &Path) -> Result<Content, ResultsError> {
    let failed = |source| failure("read", path, source);
    let file = File::open(path).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(failed(io::Error::other("it is no regular file")));
    }
    let mut reader = BufReader::new(file);
    let (mut content, mut text) = (Content::default(), Vec::new());
    loop {
        text.clear();
        let read = reader.read_until(b'\n', &mut text).map_err(failed)?;
        if read == 0 {
            return Ok(content);
        }
        if !text.ends_with(b"\n") {
            content.torn = true;
            return Ok(content);
        }
        let line = serde_json::from_slice(&text).map_err(|source| {
            let (number, text) = (content.lines.len() + 1, String::from_utf8_lossy(&text));
            no_result(path.to_owned(), number, &text, source)
        })?;
        content.lines.push(line);
        content.length += read as u64;
    }
}

/// The files of results in a directory, and which shards write them, in the order of their names.
pub(super) fn files(directory: &Path) -> Result<Vec<(PathBuf, Shard)>, ResultsError> {
    let failed = |source| failure("read", directory, source);
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        if let Some(shard) = name.to_str().and_then(Shard::of_file) {
            files.push((entry.path(), shard));
        }
    }
    files.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(files)
}

/// Blames a line.
pub(super) fn no_result(
    path: PathBuf,
    line: usize,
    text: &str,
    source: serde_json::Error,
) -> ResultsError {
    ResultsError::Line {
        path,
        line,
        start: text.trim_end().chars().take(QUOTED).collect(),
        source,
    }
}

pub(super) fn failure(action: &'static str, path: &Path, source: io::Error) -> ResultsError {
    let path = path.to_owned();
    ResultsError::File {
        action,
        path,
        source,
    }
}

/// How many characters of a line an error quotes.
const QUOTED: usize = 40;

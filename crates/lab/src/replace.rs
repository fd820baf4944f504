//! Files that are written whole, or not at all.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process;

/// Writes a file beside `path`, and gives it that name once it is complete. Until then an old file stays as it is.
///
/// What is no regular file, such as a pipe, cannot be replaced and is written to.
pub(crate) fn replace(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let (file, replacement) = Replacement::begin(path)?;
    let file = fill(file, write)?;
    if replacement.part.is_some() {
        file.sync_all()?;
    }
    replacement.keep()
}

/// A file that is to take the place of another one. It is removed unless it is kept.
#[derive(Debug)]
pub(crate) struct Replacement {
    /// The file while it is written; `None` if there is nothing to replace.
    part: Option<PathBuf>,
    path: PathBuf,
}

impl Replacement {
    /// Makes the file beside `path`, or opens what is there and no regular file.
    pub(crate) fn begin(path: &Path) -> io::Result<(File, Self)> {
        let path = match OpenOptions::new().write(true).open(path) {
            Ok(file) if !file.metadata()?.is_file() => {
                let (part, path) = (None, path.to_owned());
                return Ok((file, Self { part, path }));
            }
            // A link stays one.
            Ok(_) => path.canonicalize()?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
            Err(error) => return Err(error),
        };
        let part = part(&path);
        let file = File::create(&part)?;
        let part = Some(part);
        Ok((file, Self { part, path }))
    }

    /// Gives the file its name. It may still be open.
    pub(crate) fn keep(mut self) -> io::Result<()> {
        if let Some(part) = &self.part {
            fs::rename(part, &self.path)?;
            self.part = None;
        }
        Ok(())
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if let Some(part) = &self.part {
            // What has failed before says more.
            let _ = fs::remove_file(part);
        }
    }
}

fn fill(file: File, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<File> {
    let mut file = BufWriter::new(file);
    write(&mut file)?;
    file.into_inner().map_err(io::IntoInnerError::into_error)
}

/// The file while it is written, a name of this process's own.
fn part(path: &Path) -> PathBuf {
    let mut name = path.file_name().map(OsString::from).unwrap_or_default();
    name.push(format!(".{}.part", process::id()));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("kneepoint-{name}-{}", process::id()));
        fs::create_dir_all(&path).unwrap();
        path
    }

    #[test]
    fn an_old_file_stays_if_the_new_one_cannot_be_completed() {
        let directory = directory("replace");
        let path = directory.join("a.trace");
        fs::write(&path, "1\n").unwrap();
        let failed = replace(&path, |file| {
            file.write_all(&[b'2'; 100_000])?;
            Err(io::Error::other("on purpose"))
        });
        assert_eq!(failed.unwrap_err().to_string(), "on purpose");
        assert_eq!(fs::read(&path).unwrap(), b"1\n");
        replace(&path, |file| file.write_all(b"2\n")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"2\n");
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
        fs::remove_dir_all(directory).unwrap();
    }
}

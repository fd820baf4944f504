//! A file that one process writes.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::Path;

use super::ResultsError;
use super::lines::failure;

/// A file to add to, which no other process may open like this meanwhile.
#[derive(Debug)]
pub(super) struct Locked(pub(super) File);

impl Locked {
    /// Opens the file, and makes it if there is none.
    pub(super) fn open(path: &Path) -> Result<Self, ResultsError> {
        let failed = |source| failure("write", path, source);
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Self(file)),
            // Some network file systems have no locks.
            Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {
                Ok(Self(file))
            }
            Err(TryLockError::Error(error)) => Err(failed(error)),
            Err(TryLockError::WouldBlock) => Err(ResultsError::Busy {
                path: path.to_owned(),
            }),
        }
    }
}

impl Drop for Locked {
    /// A process that another thread is about to start has the file too, until it runs its program. Closing would leave the lock to it.
    fn drop(&mut self) {
        // The lock ends with the last file at the latest.
        let _ = self.0.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_ends_with_its_owner_though_others_have_the_file_too() {
        let path = std::env::temp_dir().join(format!("kneepoint-locked-{}", std::process::id()));
        let first = Locked::open(&path).expect("nobody has it");
        assert!(matches!(
            Locked::open(&path),
            Err(ResultsError::Busy { .. })
        ));
        let inherited = first.0.try_clone().expect("a second descriptor");
        drop(first);
        assert!(Locked::open(&path).is_ok());
        drop(inherited);
        std::fs::remove_file(&path).expect("it is there");
    }
}

//! The client that a relay is for.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::process::{Child, Command, ExitStatus, Stdio};

use crate::cli::error::CliError;

/// A command that runs while the relay does.
pub(super) struct Client {
    name: String,
    child: Child,
}

impl Client {
    /// Starts a command, which finds where to send to in its environment.
    pub(super) fn start(
        command: &[OsString],
        listen: SocketAddr,
    ) -> Result<Option<Self>, CliError> {
        let Some((program, arguments)) = command.split_first() else {
            return Ok(None);
        };
        let name = program.to_string_lossy().into_owned();
        let child = Command::new(program)
            .args(arguments)
            .env(ADDRESS, listen.to_string())
            .stdin(Stdio::inherit())
            .spawn();
        let child = child.map_err(|error| {
            CliError::input("COMMAND", format_args!("cannot start '{name}': {error}"))
        })?;
        Ok(Some(Self { name, child }))
    }

    /// Whether it has ended, or can no longer be asked.
    pub(super) fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// What the relay makes of its end. One that still runs is ended.
    pub(super) fn end(mut self) -> Result<(), CliError> {
        let status = match self.child.try_wait() {
            Ok(Some(status)) => status,
            Ok(None) => {
                // It may have ended by itself meanwhile.
                let _ = self.child.kill();
                let _ = self.child.wait();
                return Err(CliError::Client {
                    reason: format!("'{}' was ended with the relay", self.name),
                    code: ENDED,
                });
            }
            Err(error) => return Err(CliError::failure(error)),
        };
        if status.success() {
            return Ok(());
        }
        Err(CliError::Client {
            reason: format!("'{}' failed: {status}", self.name),
            code: code(status),
        })
    }
}

/// The code that a shell would report.
fn code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return u8::try_from(128_i32.saturating_add(signal)).unwrap_or(u8::MAX);
    }
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.unwrap_or(1)
}

/// Where the client sends to.
pub(super) const ADDRESS: &str = "KNEEPOINT_RELAY";

/// As of timeout(1), for a command whose time was up.
const ENDED: u8 = 124;

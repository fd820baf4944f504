//! The client that a relay is for.

use std::ffi::OsString;
use std::io::{IsTerminal, stdin};
use std::net::SocketAddr;
use std::process::{Child, Command, ExitStatus, Stdio};

#[cfg(unix)]
use nix::sys::signal::{Signal, killpg};
#[cfg(unix)]
use nix::unistd::Pid;

use crate::cli::error::CliError;

/// A command that runs while the relay does.
pub(super) struct Client {
    name: String,
    child: Child,
    /// Whether it leads a process group of its own.
    in_group: bool,
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
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env(ADDRESS, listen.to_string())
            .stdin(Stdio::inherit());
        // With what it starts it can be ended together. Only a terminal's own group may read from it, and Ctrl-C reaches that one.
        let in_group = cfg!(unix) && !stdin().is_terminal();
        #[cfg(unix)]
        if in_group {
            std::os::unix::process::CommandExt::process_group(&mut command, 0);
        }
        let child = command.spawn();
        let child = child
            .map_err(|error| CliError::argument(format_args!("cannot start '{name}': {error}")))?;
        Ok(Some(Self {
            name,
            child,
            in_group,
        }))
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
                self.kill();
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

    /// Ends it, and what it has started if that is in its group.
    fn kill(&mut self) {
        // It may have ended by itself meanwhile.
        if self.in_group {
            #[cfg(unix)]
            let _ = killpg(
                Pid::from_raw(self.child.id().cast_signed()),
                Signal::SIGKILL,
            );
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
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

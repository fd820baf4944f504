//! The command's errors: always one line.

use std::fmt::Display;
use std::io;

use clap::error::ErrorKind;
use thiserror::Error;

/// Why the command did not succeed.
#[derive(Debug, Error)]
pub enum CliError {
    /// The input is at fault: an option, a file, a value.
    #[error("{0}")]
    Input(String),
    /// The input was good, but something else failed.
    #[error("{0}")]
    Failure(String),
    /// A signal came before the end, and what was done until then is there.
    #[error("{0}")]
    Interrupted(String),
    /// A command that was started did not succeed.
    #[error("{reason}")]
    Client {
        /// What became of it.
        reason: String,
        /// Its exit code, which becomes the process's.
        code: u8,
    },
}

impl CliError {
    /// Blames an option's value, or a file named by it.
    pub fn input(option: &str, reason: impl Display) -> Self {
        Self::Input(one_line(&format!("{option}: {reason}")))
    }

    /// Blames an argument that has no name, so that the reason has to say which.
    pub fn argument(reason: impl Display) -> Self {
        Self::Input(one_line(&reason.to_string()))
    }

    /// Blames what the user wrote if the system says that there cannot be such a file, and the system otherwise.
    pub fn of_file(error: &io::Error, reason: impl Display) -> Self {
        let is_the_paths = matches!(
            error.kind(),
            io::ErrorKind::NotFound
                | io::ErrorKind::PermissionDenied
                | io::ErrorKind::AlreadyExists
                | io::ErrorKind::NotADirectory
                | io::ErrorKind::IsADirectory
                | io::ErrorKind::ReadOnlyFilesystem
                | io::ErrorKind::InvalidInput
                | io::ErrorKind::InvalidFilename
        );
        if is_the_paths {
            Self::argument(reason)
        } else {
            Self::failure(reason)
        }
    }

    /// Blames nothing the user wrote.
    pub fn failure(reason: impl Display) -> Self {
        Self::Failure(one_line(&reason.to_string()))
    }

    /// Condenses clap's paragraphs, without the usage and the pointer to the help.
    pub fn from_clap(error: &clap::Error) -> Self {
        if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
            return Self::Input("a command is missing: see --help".to_owned());
        }
        let text = error.to_string();
        let paragraphs: Vec<String> = text
            .split("\n\n")
            .map(|paragraph| {
                paragraph
                    .lines()
                    .map(str::trim)
                    .collect::<Vec<_>>()
                    .join(" ")
            })
            .filter(|paragraph| {
                !paragraph.is_empty()
                    && !paragraph.starts_with("Usage:")
                    && !paragraph.starts_with("For more information")
            })
            .collect();
        let message = paragraphs.join(" (") + &")".repeat(paragraphs.len().saturating_sub(1));
        Self::Input(one_line(message.trim_start_matches("error: ")))
    }

    /// The process's exit code: 2 for bad input, 130 after a signal, that of a command that was started, 1 for everything else.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Input(_) => 2,
            Self::Failure(_) => 1,
            // As a shell reports Ctrl-C.
            Self::Interrupted(_) => 130,
            Self::Client { code, .. } => *code,
        }
    }
}

impl From<io::Error> for CliError {
    fn from(error: io::Error) -> Self {
        Self::failure(format_args!("cannot write the results: {error}"))
    }
}

/// The text with its control characters escaped, so that it stays on one line whatever was quoted in it.
fn one_line(text: &str) -> String {
    text.trim()
        .chars()
        .flat_map(|c| {
            let escaped = c.is_control().then(|| c.escape_default());
            let plain = (!c.is_control()).then_some(c);
            escaped.into_iter().flatten().chain(plain)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_cannot_break_the_line() {
        let error = CliError::input("--trace", "a\nb\u{1b}[31m");
        assert_eq!(error.to_string(), "--trace: a\\nb\\u{1b}[31m");
        assert_eq!(error.exit_code(), 2);
        assert_eq!(CliError::failure("x").exit_code(), 1);
        let of_file = |kind| CliError::of_file(&io::Error::from(kind), "x").exit_code();
        assert_eq!(of_file(io::ErrorKind::NotFound), 2);
        assert_eq!(of_file(io::ErrorKind::StorageFull), 1);
    }
}

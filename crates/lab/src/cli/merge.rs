//! `kneepoint merge`.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use super::error::CliError;
use super::write_all;
use crate::sweep::{Merged, ResultsError, merge};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The directory that --out named, or one with the files of several such
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

/// Joins the files, and says what was in them. That some are missing is an error: the others are joined all the same.
pub(super) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<(), CliError> {
    let merged = merge(&arguments.directory).map_err(|error| match error {
        ResultsError::File { ref source, .. } => CliError::of_file(source, &error),
        ResultsError::Busy { .. } => CliError::failure(error),
        error => CliError::argument(error),
    })?;
    write_all(out, &text(&merged))?;
    if !merged.incomplete {
        return Ok(());
    }
    let (directory, absent) = (arguments.directory.display(), merged.absent.join(", "));
    Err(CliError::failure(format_args!(
        "no file of shard {absent} in {directory}"
    )))
}

fn text(merged: &Merged) -> String {
    let Merged {
        path,
        runs,
        files,
        repeated,
        torn,
        absent,
        incomplete,
    } = merged;
    let plural = |count: &usize| if *count == 1 { "" } else { "s" };
    let mut text = format!(
        "{runs} run{} of {files} file{} in {}\n",
        plural(runs),
        plural(files),
        path.display()
    );
    if *repeated > 0 {
        text += &format!("{repeated} equal result{} left out\n", plural(repeated));
    }
    for file in torn {
        text += &format!(
            "the last line of {} has no end, and is left out\n",
            file.display()
        );
    }
    if !absent.is_empty() && !incomplete {
        text += &format!("no file of shard {}\n", absent.join(", "));
    }
    text
}

//! The `kneepoint` command: see `kneepoint --help`.

use std::io::{Write, stderr, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    match kneepoint_lab::cli::run(std::env::args_os(), &mut stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // An error on stderr cannot be reported.
            let _ = writeln!(stderr(), "kneepoint: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

//! `kneepoint qlog`.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::PathBuf;

use clap::Args;

use super::error::CliError;
use super::options::cannot_write;
use crate::qlog::ForQvis;
use crate::replace::replace;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The file that quinn has written
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The file to write; it may be the same
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), CliError> {
    let path = arguments.file.display();
    let unreadable = |error| CliError::argument(format_args!("cannot read {path}: {error}"));
    let mut file = File::open(&arguments.file)
        .map(BufReader::new)
        .map_err(unreadable)?;
    if !begins_as_qlog(&mut file).map_err(unreadable)? {
        let reason = format_args!("{path}:1: expected the header of a qlog, qlog_version in it");
        return Err(CliError::argument(reason));
    }
    replace(&arguments.out, |out| mend(&mut file, out))
        .map_err(|error| cannot_write("--out", &arguments.out, error))
}

/// Whether the first bytes are those of a header. They are left to be read.
fn begins_as_qlog(file: &mut BufReader<File>) -> io::Result<bool> {
    let first = file.fill_buf()?;
    Ok(first.windows(KEY.len()).any(|bytes| bytes == KEY))
}

fn mend(file: &mut impl Read, out: &mut dyn Write) -> io::Result<()> {
    let mut mended = ForQvis::new(out);
    io::copy(file, &mut mended)?;
    mended.flush()
}

const KEY: &[u8] = b"\"qlog_version\"";

//! Runs that are kept in a directory: `--out`, `--shard` and `--fresh`.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;

use super::error::CliError;
use super::options::create_directory;
use super::progress::{Progress, say};
use super::write_all;
use crate::sweep::{
    Results, ResultsError, Run, Shard, SweepError, collect, make_all, make_missing, merge,
};

#[derive(Debug, Args)]
pub(super) struct SweepOptions {
    /// Keep the result of each run in this directory, one JSON object per line, and make no run again that it has
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,

    #[command(flatten)]
    pub(super) part: PartOptions,
}

#[derive(Debug, Args)]
pub(super) struct PartOptions {
    /// Make only one of N parts of the runs, such as 1/4, and print no results: `kneepoint merge` joins the parts
    #[arg(long, value_name = "I/N")]
    pub(super) shard: Option<Shard>,

    /// Remove the results that the directory has, instead of going on where an earlier command was interrupted
    #[arg(long, conflicts_with = "shard")]
    pub(super) fresh: bool,
}

impl SweepOptions {
    /// Where results are kept, if they are.
    ///
    /// # Errors
    /// An option that needs `--out`, or results that cannot be read.
    pub(super) fn open(&self) -> Result<Option<Sweep>, CliError> {
        let Some(directory) = &self.out else {
            let option = match &self.part {
                PartOptions { shard: Some(_), .. } => "--shard",
                PartOptions { fresh: true, .. } => "--fresh",
                _ => return Ok(None),
            };
            let reason = "needs --out, which says where results are kept";
            return Err(CliError::input(option, reason));
        };
        Sweep::open(directory, &self.part).map(Some)
    }

    /// The results of all runs, in their order: those that are missing are made. `None` of a shard, of which it prints how many
    /// runs there were.
    pub(super) fn results<R: Run>(
        &self,
        runs: &[R],
        out: &mut dyn Write,
    ) -> Result<Option<Vec<R::Result>>, CliError>
    where
        R::Result: Send,
    {
        match self.open()? {
            Some(sweep) => sweep.results(runs, out),
            None => make_under(runs, Progress::of_shares()).map(Some),
        }
    }
}

/// A directory of results, and the part of the runs to make.
#[derive(Debug)]
pub(super) struct Sweep {
    directory: PathBuf,
    shard: Shard,
    kept: Results,
}

impl Sweep {
    /// Opens the directory, which is made if it is not there.
    pub(super) fn open(directory: &Path, part: &PartOptions) -> Result<Self, CliError> {
        create_directory("--out", directory)?;
        let shard = part.shard.unwrap_or(Shard::ALL);
        let kept = Results::open(directory, shard, part.fresh);
        Ok(Self {
            directory: directory.to_owned(),
            shard,
            kept: kept.map_err(|error| CliError::input("--out", error))?,
        })
    }

    /// Opens the directory to make all runs.
    pub(super) fn of_all(directory: &Path) -> Result<Self, CliError> {
        let (shard, fresh) = (None, false);
        Self::open(directory, &PartOptions { shard, fresh })
    }

    /// What the directory has.
    pub(super) fn kept(&self) -> &Results {
        &self.kept
    }

    /// Makes the runs that are missing. Of a shard it prints how many there were. Says whether all runs now have results.
    pub(super) fn make<R: Run>(&self, runs: &[R], out: &mut dyn Write) -> Result<bool, CliError> {
        let progress = Progress::of_shares();
        let advance = |share| progress.advance_share(share);
        let made = make_missing(runs, self.shard, &self.kept, &advance);
        progress.finish();
        let made = made.map_err(blamed)?;
        if self.shard == Shard::ALL {
            return Ok(true);
        }
        let text = format!(
            "shard {}: {} of {} runs, {} of them made now, in {}\n",
            self.shard,
            made.runs,
            runs.len(),
            made.new,
            self.kept.path().display()
        );
        write_all(out, &text)?;
        Ok(false)
    }

    /// The results of all runs, in their order, after the missing ones have been made and the files joined. `None` of a shard.
    pub(super) fn results<R: Run>(
        self,
        runs: &[R],
        out: &mut dyn Write,
    ) -> Result<Option<Vec<R::Result>>, CliError> {
        let path = self.kept.path().display();
        say(&format!(
            "Finished runs are kept in {path}: after Ctrl-C the same command goes on from there."
        ));
        if !self.make(runs, out)? {
            return Ok(None);
        }
        let results = collect(runs, &self.kept).map_err(blamed)?;
        self.merge()?;
        Ok(Some(results))
    }

    /// The results of some of the runs of a command, in their order, after the missing ones have been made.
    pub(super) fn results_of_part<R: Run>(
        &self,
        runs: &[R],
        progress: Progress,
    ) -> Result<Vec<R::Result>, CliError> {
        let advance = |share| progress.advance_share(share);
        let made = make_missing(runs, self.shard, &self.kept, &advance);
        progress.finish();
        made.map_err(blamed)?;
        collect(runs, &self.kept).map_err(blamed)
    }

    /// Joins the files of the directory.
    pub(super) fn merge(self) -> Result<(), CliError> {
        // It takes over the file that is open here.
        drop(self.kept);
        merge(&self.directory).map_err(CliError::failure)?;
        Ok(())
    }
}

/// What the directory holds is the user's, what cannot be written to it is not.
fn blamed<E: std::error::Error>(error: SweepError<E>) -> CliError {
    match error {
        SweepError::Results(error @ ResultsError::Line { .. }) => CliError::input("--out", error),
        SweepError::Results(error) => CliError::failure(format_args!("--out: {error}")),
        error => CliError::failure(error),
    }
}

/// Makes all runs under a progress bar, and keeps them nowhere.
pub(super) fn make_under<R: Run>(runs: &[R], progress: Progress) -> Result<Vec<R::Result>, CliError>
where
    R::Result: Send,
{
    let results = make_all(runs, &|share| progress.advance_share(share));
    progress.finish();
    results.map_err(CliError::failure)
}

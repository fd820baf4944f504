//! `kneepoint reproduce`.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};

use super::error::CliError;
use super::options::{create_directory, whole, write_file};
use super::sweep::{PartOptions, Sweep};
use super::write_all;
use crate::reproduce::report::{Section, claims_page, html, paper_page};
use crate::reproduce::{Experiment, Job, Paper, Scale, experiments, jobs, sections};
use crate::sweep::{Results, Run as _};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Whose experiments to run
    #[arg(value_enum, default_value_t = Papers::All)]
    papers: Papers,

    /// Fewer and shorter cases: to see that it works, not to quote
    #[arg(long)]
    quick: bool,

    /// How many seeds, wherever anything is random [default: 3, or 1 with --quick]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = whole::<u64>(1..=100))]
    seeds: Option<u64>,

    /// Where the report and the finished runs go
    #[arg(long, value_name = "DIR", default_value = "target/reproduce")]
    out: PathBuf,

    #[command(flatten)]
    part: PartOptions,
}

/// A paper, or all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Papers {
    All,
    One(Paper),
}

impl ValueEnum for Papers {
    fn value_variants<'a>() -> &'a [Self] {
        const VARIANTS: [Papers; 7] = {
            let papers = Paper::ALL;
            let mut variants = [Papers::All; 7];
            let mut index = 0;
            while index < papers.len() {
                variants[index + 1] = Papers::One(papers[index]);
                index += 1;
            }
            variants
        };
        &VARIANTS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::All => PossibleValue::new("all"),
            Self::One(paper) => PossibleValue::new(paper.name()).help(paper.title()),
        })
    }
}

/// Runs the experiments that are not finished, and writes the report.
pub(super) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<(), CliError> {
    let scale = Scale {
        quick: arguments.quick,
        seeds: arguments
            .seeds
            .unwrap_or(if arguments.quick { 1 } else { 3 }),
    };
    let directory = &arguments.out;
    let chosen: Vec<&dyn Experiment> = Paper::ALL
        .into_iter()
        .filter(|paper| {
            matches!(arguments.papers, Papers::All) || arguments.papers == Papers::One(*paper)
        })
        .flat_map(experiments)
        .collect();
    let sweep = Sweep::open(directory, &arguments.part)?;
    let jobs = jobs(&chosen, scale);
    write_all(out, &announcement(chosen.len(), &jobs, sweep.kept())?)?;
    if !sweep.make(&jobs, out)? {
        // Of a shard there is no report.
        return Ok(());
    }
    let sections = sections(&chosen, scale, sweep.kept()).map_err(CliError::failure)?;
    sweep.merge()?;

    let command = command(arguments);
    let page = html(&sections, scale, &command).map_err(CliError::failure)?;
    write_file("--out", &directory.join(PAGE), &page)?;
    let pages = directory.join(PAGES);
    create_directory("--out", &pages)?;
    let made = |paper: &Paper| sections.iter().any(|section| section.about.paper == *paper);
    for paper in Paper::ALL.into_iter().filter(made) {
        write_file(
            "--out",
            &pages.join(paper.name()).with_extension("md"),
            &paper_page(paper, &sections, scale, &command),
        )?;
    }
    write_file(
        "--out",
        &directory.join(TEXT),
        &claims_page(&sections, scale, &command),
    )?;
    write_all(out, &verdicts(&sections, directory))?;
    Ok(())
}

/// What there is to do, how long that takes, and what is kept of it.
fn announcement(
    experiments: usize,
    jobs: &[Job<'_>],
    results: &Results,
) -> Result<String, CliError> {
    let (mut kept, mut megabits) = (0, 0.0);
    for job in jobs {
        if results.has(&job.key().map_err(CliError::failure)?) {
            kept += 1;
        } else {
            megabits += job.weight();
        }
    }
    let kept = match kept {
        0 => String::new(),
        kept => format!(", of which {kept} are finished"),
    };
    let cores = rayon::current_num_threads();
    let seconds = megabits / MEGABITS_PER_SECOND / cores as f64;
    let length = if seconds < 90.0 {
        format!("about {:.0} s", seconds.max(1.0))
    } else {
        format!("about {:.0} min", seconds / 60.0)
    };
    Ok(format!(
        "experiments: {experiments}, runs: {}{kept}. {length} on {cores} cores, if built with --release.\nFinished runs are kept in {}: after \
         Ctrl-C the same command goes on from there.\n",
        jobs.len(),
        results.path().display()
    ))
}

/// The verdicts, one per line, and where to read more.
fn verdicts(sections: &[Section], directory: &Path) -> String {
    let mut text = String::new();
    for section in sections {
        for verdict in &section.verdicts {
            text.push_str(&format!(
                "{:<3} {:<14}  {}: {} (paper: {})\n",
                section.about.id,
                verdict.finding.label(),
                verdict.claim,
                verdict.ours,
                verdict.paper
            ));
        }
    }
    let (page, runs) = (directory.join(PAGE), directory.join(TEXT));
    text + &format!("report: {} and {}\n", page.display(), runs.display())
}

/// The command that makes the same report.
fn command(arguments: &Arguments) -> String {
    let papers = match arguments.papers {
        Papers::All => "all",
        Papers::One(paper) => paper.name(),
    };
    let quick = if arguments.quick { " --quick" } else { "" };
    let seeds = arguments
        .seeds
        .map_or_else(String::new, |seeds| format!(" --seeds {seeds}"));
    format!("cargo run --release -- reproduce {papers}{quick}{seeds}")
}

/// What a core computes in a second in a program built with --release, in megabits that flows transfer: `reproduce all --quick`.
const MEGABITS_PER_SECOND: f64 = 3000.0;

/// The report with its curves.
const PAGE: &str = "report.html";
/// The key claims.
const TEXT: &str = "RESULTS.md";
/// The papers' pages: everything but the curves.
const PAGES: &str = "results";

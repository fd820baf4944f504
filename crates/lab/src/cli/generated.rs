//! `kneepoint completions` and `kneepoint man`: what is made of the command's own description.

use std::io::Write;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::error::CliError;
use super::{Cli, write_all};

#[derive(Debug, Args)]
pub(super) struct CompletionsArguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints a script that completes the command's words.
pub(super) fn completions(
    arguments: &CompletionsArguments,
    out: &mut dyn Write,
) -> Result<(), CliError> {
    let mut script = Vec::new();
    let mut command = Cli::command();
    clap_complete::generate(arguments.shell, &mut command, NAME, &mut script);
    Ok(write_all(out, &String::from_utf8_lossy(&script))?)
}

#[derive(Debug, Args)]
pub(super) struct ManArguments {
    /// The command whose page it is, such as compare or trace generate [default: kneepoint]
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
}

/// Prints a page of the manual.
pub(super) fn man(arguments: &ManArguments, out: &mut dyn Write) -> Result<(), CliError> {
    let mut root = Cli::command();
    root.build();
    let mut command = &root;
    for name in &arguments.command {
        let inner = command.find_subcommand(name);
        command = inner.filter(|inner| !inner.is_hide_set()).ok_or_else(|| {
            let known: Vec<&str> = command
                .get_subcommands()
                .filter(|inner| !inner.is_hide_set())
                .map(clap::Command::get_name)
                .collect();
            let expected = match known.is_empty() {
                true => format!("{} has no commands", command.get_name()),
                false => format!("expected one of {}", known.join(", ")),
            };
            CliError::argument(format_args!("unknown command '{name}': {expected}"))
        })?;
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    Ok(write_all(out, &String::from_utf8_lossy(&page))?)
}

/// As it is called.
const NAME: &str = "kneepoint";

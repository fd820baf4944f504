//! `kneepoint controllers`.

use std::io::Write;

use clap::Args;
use comfy_table::{CellAlignment, ContentArrangement};
use serde::Serialize;

use super::error::CliError;
use super::inspect::Format;
use super::write_all;
use crate::controllers::{Entry, entries};
use crate::output::{json_lines, table::table};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// How to print the list; json prints one object per line
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// A controller as a line of JSON. The field names are a contract.
#[derive(Serialize)]
struct Object {
    name: &'static str,
    /// The QUIC stack that it runs in unless the name says another.
    stack: &'static str,
    /// The one that the bare name means first; none if it has none.
    presets: Vec<String>,
    description: &'static str,
    source: &'static str,
}

impl From<Entry> for Object {
    fn from(entry: Entry) -> Self {
        Self {
            name: entry.name,
            stack: entry.stack.name(),
            presets: entry.presets.iter().map(ToString::to_string).collect(),
            description: entry.description,
            source: entry.source,
        }
    }
}

/// Prints every controller that --controllers takes.
pub(super) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<(), CliError> {
    let objects = entries().map(Object::from);
    let text = match arguments.format {
        Format::Json => json_lines(objects).map_err(CliError::failure)?,
        Format::Table => {
            let rows = objects.map(|object| {
                let text = format!("{}\n{}", object.description, object.source);
                vec![object.name.to_owned(), object.presets.join(", "), text]
            });
            let mut table = table(["name", "presets", "what it is, and its source"], rows);
            table
                .set_content_arrangement(ContentArrangement::Dynamic)
                .set_width(MAX_WIDTH);
            for column in table.column_iter_mut() {
                column.set_cell_alignment(CellAlignment::Left);
            }
            format!("{table}\n{NOTE}")
        }
    };
    Ok(write_all(out, &text)?)
}

/// As wide as the other tables may be.
const MAX_WIDTH: u16 = 120;

const NOTE: &str = "\
A name alone means its first preset; NAME:PRESET another, NAME:FIELD=VALUE other values (docs/TUNING.md).
noq:NAME runs one of ours on noq instead of quinn.
";

//! The report as Markdown.

use std::fmt::{self, Write};

use super::{Finding, Section, Table};
use crate::reproduce::{Paper, Scale};

/// The report of these sections. `command` is what made it.
pub fn markdown(sections: &[Section], scale: Scale, command: &str) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    _ = write_report(&mut text, sections, scale, command);
    text
}

fn write_report(
    out: &mut String,
    sections: &[Section],
    scale: Scale,
    command: &str,
) -> fmt::Result {
    writeln!(out, "# Results\n")?;
    writeln!(
        out,
        "The papers' experiments over real QUIC connections, in virtual time. Made by\n\n```sh\n{command}\n```\n"
    )?;
    if scale.quick {
        writeln!(
            out,
            "With `--quick`: fewer and shorter cases, not to be quoted.\n"
        )?;
    }
    writeln!(
        out,
        "The same command prints the same figures on every machine, and draws the curves into an HTML page beside them. Where \
         anything is random the figures are means over seeds 1 to {}, with the least and the largest where they differ.\n",
        scale.seeds
    )?;
    writeln!(out, "| | claim | paper | here | |\n|---|---|---|---|---|")?;
    for section in sections {
        for verdict in &section.verdicts {
            writeln!(
                out,
                "| {} | {} | {} | {} | {} |",
                section.about.id,
                cell(&verdict.claim),
                cell(&verdict.paper),
                cell(&verdict.ours),
                verdict.finding.label()
            )?;
        }
    }
    for paper in Paper::ALL {
        let mut sections = sections
            .iter()
            .filter(|section| section.about.paper == paper)
            .peekable();
        if sections.peek().is_some() {
            writeln!(out, "\n## {}", paper.title())?;
        }
        for section in sections {
            write_section(out, section)?;
        }
    }
    Ok(())
}

fn write_section(out: &mut String, section: &Section) -> fmt::Result {
    let about = &section.about;
    writeln!(
        out,
        "\n### {}. {} ({})\n",
        about.id, about.title, about.figure
    )?;
    writeln!(out, "{}\n\nThe paper: {}", about.setup, about.claim)?;
    for verdict in &section.verdicts {
        writeln!(
            out,
            "\n- **{}**: {}. Paper: {}; here: {}.",
            verdict.finding.label(),
            verdict.claim,
            verdict.paper,
            verdict.ours
        )?;
        if let Finding::NotReproduced(mechanism) = &verdict.finding {
            writeln!(out, "  {mechanism}")?;
        }
    }
    for table in &section.tables {
        write_table(out, table)?;
    }
    for note in &section.notes {
        writeln!(out, "\n{note}")?;
    }
    Ok(())
}

fn write_table(out: &mut String, table: &Table) -> fmt::Result {
    writeln!(out, "\n{}\n", table.caption)?;
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|text| cell(text)).collect();
        format!("| {} |", cells.join(" | "))
    };
    writeln!(out, "{}", line(&table.header))?;
    writeln!(
        out,
        "|---|{}",
        "---:|".repeat(table.header.len().saturating_sub(1))
    )?;
    for row in &table.rows {
        writeln!(out, "{}", line(row))?;
    }
    Ok(())
}

/// Text that does not end its cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

//! The report as one HTML file, charts included.

use std::fmt::{self, Write};

use super::{Finding, Section, Table};
use crate::page;
use crate::plots::{Chart, PlotError};
use crate::reproduce::{Paper, Scale};

/// The report of these sections, in one file that needs no other. `command` is what made it.
///
/// # Errors
/// When a chart cannot be drawn.
pub fn html(sections: &[Section], scale: Scale, command: &str) -> Result<String, PlotError> {
    let mut drawings = Vec::new();
    for section in sections {
        let charts: Result<Vec<String>, PlotError> =
            section.charts.iter().map(Chart::svg).collect();
        drawings.push(charts?);
    }
    let mut text = String::new();
    // Writing to a string cannot fail.
    _ = write_content(&mut text, sections, &drawings, scale, command);
    Ok(page::page("Kneepoint: results", &text, None))
}

fn write_content(
    out: &mut String,
    sections: &[Section],
    drawings: &[Vec<String>],
    scale: Scale,
    command: &str,
) -> fmt::Result {
    writeln!(
        out,
        "<h1>Kneepoint: the papers' experiments</h1>\n\
         <p>Real QUIC connections over emulated links, in virtual time. Made by <code>{}</code>; {} per case where anything is random.{}</p>",
        escape(command),
        match scale.seeds {
            1 => "one seed".to_owned(),
            seeds => format!("seeds 1 to {seeds}"),
        },
        if scale.quick {
            " Fewer and shorter cases: not to be quoted."
        } else {
            ""
        }
    )?;
    writeln!(
        out,
        "<h2>Claims</h2>\n<div class=\"wide\"><table class=\"claims\"><thead><tr><th></th><th>claim</th><th>paper</th><th>here</th><th></th></tr></thead><tbody>"
    )?;
    for section in sections {
        for verdict in &section.verdicts {
            let id = section.about.id;
            writeln!(
                out,
                "<tr><td><a href=\"#{id}\">{id}</a></td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
                escape(&verdict.claim),
                escape(&verdict.paper),
                escape(&verdict.ours),
                badge(&verdict.finding)
            )?;
        }
    }
    writeln!(out, "</tbody></table></div>")?;
    for paper in Paper::ALL {
        let mut sections = sections
            .iter()
            .zip(drawings)
            .filter(|(section, _)| section.about.paper == paper)
            .peekable();
        if sections.peek().is_some() {
            writeln!(out, "<h2>{}</h2>", escape(paper.title()))?;
        }
        for (section, drawings) in sections {
            write_section(out, section, drawings)?;
        }
    }
    Ok(())
}

fn write_section(out: &mut String, section: &Section, drawings: &[String]) -> fmt::Result {
    let about = &section.about;
    writeln!(
        out,
        "<section id=\"{id}\">\n<h3>{id}. {} <small>({})</small></h3>\n<p>{}</p>\n<p>The paper: {}</p>",
        escape(about.title),
        escape(about.figure),
        escape(about.setup),
        escape(about.claim),
        id = about.id,
    )?;
    if !section.verdicts.is_empty() {
        writeln!(out, "<ul>")?;
        for verdict in &section.verdicts {
            write!(
                out,
                "<li>{} {}: {} in the paper, {} here.",
                badge(&verdict.finding),
                escape(&verdict.claim),
                escape(&verdict.paper),
                escape(&verdict.ours)
            )?;
            if let Finding::NotReproduced(mechanism) = &verdict.finding {
                write!(out, " {}", escape(mechanism))?;
            }
            writeln!(out, "</li>")?;
        }
        writeln!(out, "</ul>")?;
    }
    for (chart, drawing) in section.charts.iter().zip(drawings) {
        out.write_str(&page::figure(None, drawing, &chart.title))?;
    }
    for table in &section.tables {
        write_table(out, table)?;
    }
    for note in &section.notes {
        writeln!(out, "<p>{}</p>", escape(note))?;
    }
    writeln!(out, "</section>")
}

fn write_table(out: &mut String, table: &Table) -> fmt::Result {
    writeln!(
        out,
        "<div class=\"wide\"><table><caption>{}</caption><thead><tr>",
        escape(&table.caption)
    )?;
    for title in &table.header {
        write!(out, "<th>{}</th>", escape(title))?;
    }
    writeln!(out, "</tr></thead><tbody>")?;
    for row in &table.rows {
        write!(out, "<tr>")?;
        for text in row {
            write!(out, "<td>{}</td>", escape(text))?;
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</tbody></table></div>")
}

fn badge(finding: &Finding) -> String {
    let class = match finding {
        Finding::Reproduced => "yes",
        Finding::Direction => "partly",
        Finding::NotReproduced(_) => "no",
    };
    format!("<span class=\"{class}\">{}</span>", finding.label())
}

/// Text that is no markup. Backquotes make code, as in Markdown.
fn escape(text: &str) -> String {
    let text = page::escape(text);
    let mut out = String::with_capacity(text.len());
    for (index, part) in text.split('`').enumerate() {
        if index > 0 {
            out.push_str(if index % 2 == 1 { "<code>" } else { "</code>" });
        }
        out.push_str(part);
    }
    if text.matches('`').count() % 2 == 1 {
        out.push_str("</code>");
    }
    out
}

//! A comparison as one page: tables, scatter plots, and the course of every run.

use crate::compare::Outcome;
use crate::metrics::Row;
use crate::output::table::columns;
use crate::page::{escape, figure, page};
use crate::plots::{Pictures, PlotError, pictures};

/// A page with a table, a scatter plot and the timelines of all runs, link by link. The tables can be sorted; the plot shows the
/// values of a point that is pointed at or has the focus.
///
/// # Errors
/// When a plot cannot be drawn.
pub fn comparison(outcomes: &[Outcome]) -> Result<String, PlotError> {
    let links: Vec<&[Outcome]> = outcomes
        .chunk_by(|a, b| a.row.trace == b.row.trace)
        .collect();
    let mut content = String::from(
        "<h1>Kneepoint: a comparison</h1>\n<p>Real QUIC connections over emulated links, in virtual time. A column's title \
         sorts the table by it. A controller's name leads to its run.</p>\n",
    );
    if links.len() > 1 {
        let entry = |(number, link): (usize, &&[Outcome])| {
            let name = link.first().map_or("", |outcome| &outcome.row.trace);
            format!("<li><a href=\"#link-{number}\">{}</a></li>\n", escape(name))
        };
        let entries: String = (1..).zip(&links).map(entry).collect();
        content += &format!("<nav aria-label=\"links\"><ul>\n{entries}</ul></nav>\n");
    }
    for (number, link) in (1..).zip(&links) {
        content += &section(number, link)?;
    }
    Ok(page("Kneepoint: a comparison", &content, Some(SORT)))
}

/// What there is of a link.
fn section(number: usize, link: &[Outcome]) -> Result<String, PlotError> {
    let Some(first) = link.first() else {
        return Ok(String::new());
    };
    let (name, caption) = (escape(&first.row.trace), first.row.scenario_caption());
    let Pictures { scatter, timelines } = pictures(link)?;
    let rows: Vec<&Row> = link.iter().map(|outcome| &outcome.row).collect();
    let mut out = format!("<section id=\"link-{number}\">\n<h2>{name}</h2>\n");
    out += &table(number, &rows, &caption);
    out += &figure(
        None,
        &scatter,
        "Throughput over delay: a point for each controller.",
    );
    for (place, (outcome, drawing)) in (1..).zip(link.iter().zip(&timelines)) {
        let id = format!("run-{number}-{place}");
        let caption = format!("{} on {}", outcome.row.controller, outcome.row.trace);
        out += &figure(Some(&id), drawing, &caption);
    }
    Ok(out + "</section>\n")
}

/// The table that is printed, with titles that sort it.
fn table(number: usize, rows: &[&Row], caption: &str) -> String {
    let marked = rows.iter().any(|row| row.marks > 0);
    let columns = rows
        .first()
        .map_or_else(Vec::new, |row| columns(row, marked));
    let titles: String = columns
        .iter()
        .map(|column| {
            let title = escape(&column.title.replace("-\n", ""));
            format!("<th scope=\"col\" aria-sort=\"none\"><button type=\"button\">{title}</button></th>\n")
        })
        .collect();
    let line = |(place, row): (usize, &&Row)| {
        let cells: String = columns
            .iter()
            .skip(1)
            .map(|column| format!("<td>{}</td>", escape(&(column.text)(row))))
            .collect();
        let closed = row.closed.as_ref().map_or_else(String::new, |reason| {
            format!("<br/><small>connection closed: {}</small>", escape(reason))
        });
        let name = escape(&row.controller);
        format!(
            "<tr><th scope=\"row\"><a href=\"#run-{number}-{place}\">{name}</a>{closed}</th>{cells}</tr>\n"
        )
    };
    let lines: String = (1..).zip(rows).map(line).collect();
    format!(
        "<div class=\"wide\"><table>\n<caption>{}</caption>\n<thead><tr>\n{titles}</tr></thead>\n<tbody>\n{lines}</tbody>\n\
         </table></div>\n",
        escape(caption)
    )
}

const SORT: &str = include_str!("sort.js");

//! A table for each link, to be read on a terminal.

use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle, presets};

use crate::metrics::Row;

/// Prints one table per link, in the order of the rows, each under a caption with the scenario. Below it are the flows of
/// mixes.
pub fn render(rows: &[Row]) -> String {
    rows.chunk_by(|a, b| a.trace == b.trace)
        .map(link)
        .collect::<Vec<_>>()
        .join("\n")
}

fn link(rows: &[Row]) -> String {
    let Some(first) = rows.first() else {
        return String::new();
    };
    let columns = columns(first, rows.iter().any(|row| row.marks > 0));
    let table = table(
        columns.iter().map(|column| column.title),
        rows.iter()
            .map(|row| columns.iter().map(|column| (column.text)(row)).collect()),
    );
    let closed: String = rows
        .iter()
        .filter_map(|row| {
            let reason = row.closed.as_ref()?;
            Some(format!(
                "  {}: connection closed: {reason}\n",
                row.controller
            ))
        })
        .collect();
    let mixes: String = rows.iter().filter_map(mix).collect();
    format!(
        "{}: {}\n{table}\n{closed}{mixes}",
        first.trace,
        first.scenario_caption()
    )
}

/// The flows of a row, if they differ in their controllers and are not too many to be read.
fn mix(row: &Row) -> Option<String> {
    let (first, others) = row.flows.split_first()?;
    let differ = others
        .iter()
        .any(|flow| flow.controller != first.controller);
    if !differ || row.flows.len() > MAX_FLOWS {
        return None;
    }
    let flows = table(
        ["flow", "goodput\nMb/s", "RTT\nmean ms", "loss\n%"],
        (1..).zip(&row.flows).map(|(number, flow)| {
            vec![
                format!("{number}: {}", flow.controller),
                format!("{:.2}", flow.goodput_mbps),
                millis(flow.rtt_mean_ms),
                percent(flow.loss_rate),
            ]
        }),
    );
    Some(format!("{flows}\n"))
}

/// A table with these titles, its columns aligned to the right but for the first.
pub(crate) fn table(
    titles: impl IntoIterator<Item = impl ToString>,
    rows: impl IntoIterator<Item = Vec<String>>,
) -> Table {
    let mut table = Table::new();
    table
        .load_style(STYLE)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(titles.into_iter().map(Cell::new));
    for row in rows {
        table.add_row(row.into_iter().map(Cell::new));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// The same as Markdown, for a document.
pub(crate) fn markdown(
    titles: impl IntoIterator<Item = impl ToString>,
    rows: impl IntoIterator<Item = Vec<String>>,
) -> String {
    let mut table = table(titles, rows);
    table.load_style(presets::ASCII_MARKDOWN);
    format!("{table}\n")
}

/// A column.
pub(crate) struct Column {
    /// Its title, on one line or two.
    pub(crate) title: &'static str,
    /// What it has of a row.
    pub(crate) text: fn(&Row) -> String,
}

const fn column(title: &'static str, text: fn(&Row) -> String) -> Column {
    Column { title, text }
}

/// The columns for rows like this one. Those with marks have a column for them.
pub(crate) fn columns(row: &Row, marked: bool) -> Vec<Column> {
    let mut columns = vec![
        column("controller", |row| row.controller.clone()),
        column("goodput\nMb/s", |row| format!("{:.2}", row.goodput_mbps)),
        column("util.\n%", |row| format!("{:.1}", row.utilization * 100.0)),
        column("RTT\nmean ms", |row| millis(row.rtt_mean_ms)),
        column("RTT\np95 ms", |row| millis(row.rtt_p95_ms)),
    ];
    if row.messages.is_some() {
        columns.extend([
            column("loss\n%", |row| percent(row.loss_rate)),
            column("message\np50 ms", |row| millis(row.message_p50_ms)),
            column("message\np95 ms", |row| millis(row.message_p95_ms)),
            column("message\np99 ms", |row| millis(row.message_p99_ms)),
            column("un-\nfinished", |row| {
                row.messages_unfinished
                    .map_or_else(none, |unfinished| unfinished.to_string())
            }),
        ]);
    } else if row.frames.is_some() {
        columns.extend([
            column("loss\n%", |row| percent(row.loss_rate)),
            column("frame\np50 ms", |row| millis(row.frame_delay_p50_ms)),
            column("frame\np95 ms", |row| millis(row.frame_delay_p95_ms)),
            column("frame\np99 ms", |row| millis(row.frame_delay_p99_ms)),
            column("late\n%", |row| {
                row.frame_loss_rate.map_or_else(none, percent)
            }),
        ]);
    } else {
        columns.extend([
            column("RTT\np99 ms", |row| millis(row.rtt_p99_ms)),
            column("queue\nmean ms", |row| millis(row.queue_delay_mean_ms)),
            column("queue\np95 ms", |row| millis(row.queue_delay_p95_ms)),
            column("queue\np99 ms", |row| millis(row.queue_delay_p99_ms)),
            column("loss\n%", |row| percent(row.loss_rate)),
            column("power", |row| format!("{:.3}", row.power)),
        ]);
    }
    if marked {
        columns.push(column("marks", |row| row.marks.to_string()));
    }
    if row.against.is_some() {
        columns.push(column("others\nMb/s", |row| {
            let others = row.against_goodput_mbps;
            others.map_or_else(none, |mbps| format!("{mbps:.2}"))
        }));
    }
    if row.flow_count > 1 {
        columns.push(column("Jain", |row| {
            row.jain.map_or_else(none, |jain| format!("{jain:.3}"))
        }));
    }
    columns
}

fn percent(fraction: f64) -> String {
    format!("{:.2}", fraction * 100.0)
}

/// Three significant digits or whole milliseconds: more would only hide the differences that matter.
fn millis(value: Option<f64>) -> String {
    match value {
        None => none(),
        Some(value) if value < 9.995 => format!("{value:.2}"),
        Some(value) if value < 99.95 => format!("{value:.1}"),
        Some(value) => format!("{value:.0}"),
    }
}

fn none() -> String {
    "-".to_owned()
}

/// More flows than this are for the JSON output.
const MAX_FLOWS: usize = 20;

const RULE: LineStyle = LineStyle::none().fill('─').junction('─');

/// Rules above, below, and under the titles.
const STYLE: TableStyle = TableStyle::new()
    .top_border(RULE)
    .header_separator(RULE)
    .bottom_border(RULE);

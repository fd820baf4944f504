//! A table for each link, to be read on a terminal.

use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

use crate::metrics::Row;

/// Prints one table per link, in the order of the rows, each under a caption with the scenario.
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
    let several_flows = first.flows > 1;
    let mut table = Table::new();
    table
        .load_style(STYLE)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(header(several_flows));
    for row in rows {
        table.add_row(cells(row, several_flows));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
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
    format!(
        "{}: {}\n{table}\n{closed}",
        first.trace,
        first.scenario_caption()
    )
}

fn header(several_flows: bool) -> Vec<Cell> {
    let mut titles = vec![
        "controller",
        "goodput\nMb/s",
        "util.\n%",
        "RTT\nmean ms",
        "RTT\np95 ms",
        "RTT\np99 ms",
        "queue\nmean ms",
        "queue\np95 ms",
        "queue\np99 ms",
        "loss\n%",
        "power",
    ];
    if several_flows {
        titles.push("Jain");
    }
    titles.into_iter().map(Cell::new).collect()
}

fn cells(row: &Row, several_flows: bool) -> Vec<Cell> {
    let mut texts = vec![
        row.controller.clone(),
        format!("{:.2}", row.goodput_mbps),
        format!("{:.1}", row.utilization * 100.0),
        millis(row.rtt_mean_ms),
        millis(row.rtt_p95_ms),
        millis(row.rtt_p99_ms),
        millis(row.queue_delay_mean_ms),
        millis(row.queue_delay_p95_ms),
        millis(row.queue_delay_p99_ms),
        format!("{:.2}", row.loss_rate * 100.0),
        format!("{:.3}", row.power),
    ];
    if several_flows {
        texts.push(row.jain.map_or_else(none, |jain| format!("{jain:.3}")));
    }
    texts.into_iter().map(Cell::new).collect()
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

const RULE: LineStyle = LineStyle::none().fill('─').junction('─');

/// Rules above, below, and under the titles.
pub(crate) const STYLE: TableStyle = TableStyle::new()
    .top_border(RULE)
    .header_separator(RULE)
    .bottom_border(RULE);

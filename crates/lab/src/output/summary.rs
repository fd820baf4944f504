//! Summaries over several seeds, as people and programs read them.

use serde::Serialize;

use super::{json_lines, table::table};
use crate::metrics::{Estimate, FlowRow, Row, Summary};

/// A summary, and its runs as an array.
#[derive(Serialize)]
struct Object<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    runs: Vec<Run<'a>>,
}

#[derive(Serialize)]
struct Run<'a> {
    #[serde(flatten)]
    row: &'a Row,
    flows: &'a [FlowRow],
}

/// Prints every summary as one JSON object on a line of its own. Each number is an object with `mean`, `min`, `max` and `ci95`, and the
/// array `runs` has the rows.
///
/// # Errors
/// Never for rows made by [`Row::new`].
pub fn json(summaries: &[Summary]) -> Result<String, serde_json::Error> {
    json_lines(summaries.iter().map(|summary| {
        let runs = summary.runs.iter();
        let runs = runs.map(|row| Run {
            row,
            flows: &row.flows,
        });
        Object {
            summary,
            runs: runs.collect(),
        }
    }))
}

/// Prints a header and one record per summary: each number in four columns that end in `_mean`, `_min`, `_max` and `_ci95`.
///
/// # Errors
/// Never, since a vector takes all that is written.
pub fn csv(summaries: &[Summary]) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut header: Vec<String> = ["trace", "controller", "seeds"].map(str::to_owned).into();
    for (name, _) in summaries.iter().take(1).flat_map(Summary::numbers) {
        header.extend(PARTS.map(|(part, _)| format!("{name}_{part}")));
    }
    writer.write_record(&header)?;
    for summary in summaries {
        let seeds: Vec<String> = summary.seeds.iter().map(u64::to_string).collect();
        let mut record = vec![
            summary.trace.clone(),
            summary.controller.clone(),
            seeds.join(" "),
        ];
        for (_, number) in summary.numbers() {
            record.extend(PARTS.map(|(_, part)| {
                let value = number.as_ref().and_then(part);
                value.map_or_else(String::new, |value| value.to_string())
            }));
        }
        writer.write_record(&record)?;
    }
    super::finish(writer)
}

/// Prints one table per link: means with the halves of their 95 % confidence intervals, and below them from the least run to the
/// largest.
pub fn render(summaries: &[Summary]) -> String {
    summaries
        .chunk_by(|a, b| a.trace == b.trace)
        .map(link)
        .collect::<Vec<_>>()
        .join("\n")
}

fn link(summaries: &[Summary]) -> String {
    let Some(first) = summaries.first() else {
        return String::new();
    };
    // Not all runs have messages, frames and competitors.
    let any = |column: &usize| {
        let mut numbers = summaries.iter().map(Summary::numbers);
        *column < ALWAYS || numbers.any(|numbers| numbers[*column].1.is_some())
    };
    let columns: Vec<usize> = (0..COLUMNS.len()).filter(any).collect();
    let table = table(
        std::iter::once("controller").chain(columns.iter().map(|column| COLUMNS[*column].0)),
        summaries.iter().map(|summary| {
            let numbers = summary.numbers();
            let cells = columns.iter().map(|&column| {
                let (_, scale, decimals) = COLUMNS[column];
                cell(numbers[column].1, scale, decimals)
            });
            std::iter::once(summary.controller.clone())
                .chain(cells)
                .collect()
        }),
    );
    let closed: String = summaries
        .iter()
        .flat_map(|summary| &summary.runs)
        .filter_map(|run| {
            let reason = run.closed.as_ref()?;
            let (controller, seed) = (&run.controller, run.seed);
            Some(format!(
                "  {controller}, seed {seed}: connection closed: {reason}\n"
            ))
        })
        .collect();
    let conditions = first.runs.first().map(Row::conditions).unwrap_or_default();
    let (from, to) = (first.seeds.first(), first.seeds.last());
    let [from, to] = [from, to].map(|seed| seed.copied().unwrap_or_default());
    format!(
        "{}: {conditions}, seeds {from} to {to}\nmean ± 95 % confidence interval, and from the least run to the largest\n{table}\n{closed}",
        first.trace
    )
}

fn cell(number: Option<Estimate>, scale: f64, decimals: usize) -> String {
    let Some(Estimate {
        mean,
        min,
        max,
        ci95,
    }) = number
    else {
        return "-".to_owned();
    };
    let text = |value: f64| format!("{:.decimals$}", value * scale);
    let ci95 = ci95.map_or_else(String::new, |ci95| format!(" ± {}", text(ci95)));
    format!("{}{ci95}\n{} to {}", text(mean), text(min), text(max))
}

/// The parts of a number.
type Part = fn(&Estimate) -> Option<f64>;

const PARTS: [(&str, Part); 4] = [
    ("mean", |number| Some(number.mean)),
    ("min", |number| Some(number.min)),
    ("max", |number| Some(number.max)),
    ("ci95", |number| number.ci95),
];

/// The title of each number, by what it is multiplied, and how many decimals it has then.
const COLUMNS: [(&str, f64, usize); 10] = [
    ("goodput\nMb/s", 1.0, 2),
    ("util.\n%", 100.0, 1),
    ("RTT\nmean ms", 1.0, 1),
    ("RTT\np95 ms", 1.0, 1),
    ("loss\n%", 100.0, 2),
    ("message\np50 ms", 1.0, 1),
    ("message\np95 ms", 1.0, 1),
    ("frame\np50 ms", 1.0, 1),
    ("frame\np95 ms", 1.0, 1),
    ("others\nMb/s", 1.0, 2),
];

/// So many of them are in every table.
const ALWAYS: usize = 5;

//! Which buffer the paper had: it does not say.

use super::dumbbell::{Case, Run};
use super::grid::Setting;
use crate::plots::{Axis, Chart, Mark};
use crate::reproduce::report::{Section, Table, Verdict, number, percent};

/// Packets in every link's queue. With so many, `bbr`'s losses are nearest to those of the paper's BBR, over one flow and
/// several; one size for all rates and delays, as a network device has it.
pub(super) const CHOSEN: u64 = 60;

/// A quarter to eight times the bandwidth-delay product of 15 Mb/s and 100 ms.
pub(super) const SWEPT: [u64; 11] = [32, 45, CHOSEN, 65, 70, 80, 100, 127, 254, 508, 1016];

/// The controllers that lose so much that the buffer shows.
pub(super) const SENSITIVE: [&str; 2] = ["bbr", "ebcc:paper"];

/// The one to go by: BBR is published elsewhere, while eBCC is partly this project's reading of the paper.
const BASELINE: &str = "bbr";

/// How far, on average, a buffer's losses of the baseline are from the paper's, as a factor.
fn distance(settings: &[Setting], results: &[(Case, Run)], buffer: u64) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for setting in settings {
        let Some(paper) = setting.paper(BASELINE) else {
            continue;
        };
        for loss in setting.figures(results, BASELINE, buffer, |run| run.loss) {
            sum += (loss.max(LEAST_LOSS) / paper.loss.max(LEAST_LOSS))
                .ln()
                .abs();
            count += 1.0;
        }
    }
    f64::exp(sum / f64::max(count, 1.0))
}

/// The size nearest to the paper's losses.
pub(super) fn nearest(settings: &[Setting], results: &[(Case, Run)], swept: &[u64]) -> u64 {
    let by_distance = |a: &&u64, b: &&u64| {
        let distance = |buffer: u64| distance(settings, results, buffer);
        distance(**a).total_cmp(&distance(**b))
    };
    swept.iter().min_by(by_distance).copied().unwrap_or(CHOSEN)
}

/// The losses with every size, the paper's in the last row.
pub(super) fn table(settings: &[Setting], results: &[(Case, Run)], swept: &[u64]) -> Table {
    let columns: Vec<(&Setting, &str)> = settings
        .iter()
        .flat_map(|setting| SENSITIVE.map(|controller| (setting, controller)))
        .collect();
    let mut header = vec!["buffer, packets".to_owned(), "BDP".to_owned()];
    let titles = columns.iter();
    header.extend(titles.map(|(setting, name)| format!("`{name}`, {}", setting.label)));
    header.push("`bbr` off by a factor of".to_owned());
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut table = Table::new(
        "Loss by buffer, seed 1: the paper does not give its size",
        &header,
    );
    for &buffer in swept {
        let bdp = |setting: &Setting| setting.network(buffer).buffer_in_bdp();
        let range = settings.iter().map(bdp);
        let least = range.clone().fold(f64::INFINITY, f64::min);
        let largest = range.fold(0.0, f64::max);
        let mut row = vec![
            buffer.to_string(),
            format!("{} to {}", number(least), number(largest)),
        ];
        row.extend(columns.iter().map(|(setting, name)| {
            let losses = setting.figures(results, name, buffer, |run| run.loss);
            percent(losses.first().copied().unwrap_or(f64::NAN))
        }));
        row.push(number(distance(settings, results, buffer)));
        table.row(row);
    }
    let mut row = vec!["paper".to_owned(), "-".to_owned()];
    row.extend(
        columns.iter().map(|(setting, name)| {
            percent(setting.paper(name).map_or(f64::NAN, |paper| paper.loss))
        }),
    );
    row.push("-".to_owned());
    table.row(row);
    table
}

/// The rates received with every size, and what they say of the paper's, in one setting.
pub(super) fn rates(
    section: Section,
    settings: &[Setting],
    results: &[(Case, Run)],
    swept: &[u64],
    label: &str,
) -> Section {
    let Some(setting) = settings.iter().find(|setting| setting.label == label) else {
        return section;
    };
    let mut table = Table::new(
        format!("Mb/s received by buffer, {label}, seed 1"),
        &["buffer, packets", "`bbr`", "`ebcc`"],
    );
    let mut chart = Chart::new(
        format!("{label}: rate received by buffer"),
        Axis::log("buffer, packets"),
        Axis::linear("Mb/s"),
    );
    let mut curves = SENSITIVE.map(|name| (name, Vec::new()));
    for &buffer in swept {
        let mut row = vec![buffer.to_string()];
        for (name, points) in &mut curves {
            let rates = setting.figures(results, name, buffer, |run| run.received);
            let rate = rates.first().copied().unwrap_or(f64::NAN);
            points.push((buffer as f64, rate));
            row.push(number(rate));
        }
        table.row(row);
    }
    let mut row = vec!["paper".to_owned()];
    let ends = [swept.first(), swept.last()].map(|end| end.copied().unwrap_or(CHOSEN) as f64);
    let mut best = f64::NAN;
    for (name, points) in curves {
        let paper = setting.paper(name).map_or(f64::NAN, |paper| paper.received);
        row.push(number(paper));
        if name == "ebcc:paper" {
            best = points.iter().map(|(_, rate)| *rate).fold(best, f64::max) / paper;
        }
        let reference = ends.map(|end| (end, paper));
        chart = chart.series(name, Mark::Dots, points).series(
            format!("{name}, paper"),
            Mark::Reference,
            reference,
        );
    }
    table.row(row);
    section
        .verdict(Verdict::new(
            format!("rate received by `ebcc` with the best buffer, {label}"),
            setting
                .paper("ebcc:paper")
                .map_or_else(String::new, |paper| {
                    format!("{} Mb/s", number(paper.received))
                }),
            format!("{} of it", percent(best)),
            (best >= 0.98, best >= 0.9),
            "See the table.",
        ))
        .table(table)
        .chart(chart)
}

/// Less than this is none: one packet in a thousand.
const LEAST_LOSS: f64 = 0.001;

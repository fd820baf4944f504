//! Which buffer the paper had: it does not say.

use super::dumbbell::{Case, Run};
use super::grid::Setting;
use crate::reproduce::report::{Table, number, percent};

/// Packets in every link's queue. With so many, `bbr`'s losses are nearest to those of the paper's BBR, over one flow and
/// several; one size for all rates and delays, as a network device has it.
pub(super) const CHOSEN: u64 = 60;

/// A quarter to eight times the bandwidth-delay product of 15 Mb/s and 100 ms.
pub(super) const SWEPT: [u64; 9] = [32, 45, CHOSEN, 80, 100, 127, 254, 508, 1016];

/// The controllers that lose so much that the buffer shows.
pub(super) const SENSITIVE: [&str; 2] = ["bbr", "ebcc"];

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

/// Less than this is none: one packet in a thousand.
const LEAST_LOSS: f64 = 0.001;

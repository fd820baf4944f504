//! Which buffer the paper had: it does not say.

use super::tables::{Measured, Setting};
use crate::plots::{Axis, Chart, Mark};
use crate::reproduce::report::{Section, Table, number, percent};
use crate::reproduce::summary::Seeds;

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
fn distance(measured: &Measured<'_>, buffer: u64) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for setting in measured.settings {
        let Some(paper) = setting.paper(BASELINE) else {
            continue;
        };
        for loss in measured.of(setting, BASELINE, buffer).each(|run| run.loss) {
            sum += (loss.max(MIN_LOSS) / paper.loss.max(MIN_LOSS)).ln().abs();
            count += 1.0;
        }
    }
    f64::exp(sum / f64::max(count, 1.0))
}

/// The losses with every size, the paper's in the last row.
pub(super) fn table(measured: &Measured<'_>) -> Table {
    let settings = measured.settings;
    let columns: Vec<(&Setting, &str)> = settings
        .iter()
        .flat_map(|setting| SENSITIVE.map(|controller| (setting, controller)))
        .collect();
    let mut table = Table::new(
        "Loss by buffer, seed 1: the paper does not give its size",
        &["buffer, packets", "BDP"],
    );
    let titles = columns.iter();
    let titles = titles.map(|(setting, name)| format!("`{name}`, {}", setting.label));
    table.header.extend(titles);
    table.header.push("`bbr` off by a factor of".to_owned());
    for &buffer in measured.swept {
        let bdp = settings.iter();
        let bdp = Seeds::of(bdp.map(|setting| setting.network(buffer).buffer_in_bdp()));
        let mut row = vec![
            buffer.to_string(),
            format!("{} to {}", number(bdp.min), number(bdp.largest)),
        ];
        row.extend(columns.iter().map(|(setting, name)| {
            let run = measured.of(setting, name, buffer).first();
            percent(run.map_or(f64::NAN, |run| run.loss))
        }));
        row.push(number(distance(measured, buffer)));
        table.row(row);
    }
    let papers = columns.iter();
    let papers = papers
        .map(|(setting, name)| percent(setting.paper(name).map_or(f64::NAN, |paper| paper.loss)));
    let dash = || ["-".to_owned()].into_iter();
    table.row(
        ["paper".to_owned()]
            .into_iter()
            .chain(dash())
            .chain(papers)
            .chain(dash()),
    );
    table
}

/// The rates received with every size, and what they say of the paper's, in the setting of this label.
pub(super) fn rates(section: Section, measured: &Measured<'_>, label: &str) -> Section {
    let mut settings = measured.settings.iter();
    let Some(setting) = settings.find(|setting| setting.label == label) else {
        return section;
    };
    let swept = measured.swept;
    let rate = |name: &str, buffer: u64| {
        let run = measured.of(setting, name, buffer).first();
        run.map_or(f64::NAN, |run| run.received)
    };
    let papers = |name: &str| setting.paper(name).map_or(f64::NAN, |paper| paper.received);
    let mut table = Table::new(
        format!("Mb/s received by buffer, {label}, seed 1"),
        &["buffer, packets", "`bbr`", "`ebcc`"],
    );
    for &buffer in swept {
        let [bbr, ebcc] = SENSITIVE.map(|name| number(rate(name, buffer)));
        table.row([buffer.to_string(), bbr, ebcc]);
    }
    let [bbr, ebcc] = SENSITIVE.map(|name| number(papers(name)));
    table.row(["paper".to_owned(), bbr, ebcc]);
    let mut chart = Chart::new(
        format!("{label}: rate received by buffer"),
        Axis::log("buffer, packets"),
        Axis::linear("Mb/s"),
    );
    let ends = [swept.first(), swept.last()].map(|end| end.copied().unwrap_or(CHOSEN) as f64);
    for name in SENSITIVE {
        let points = swept
            .iter()
            .map(|&buffer| (buffer as f64, rate(name, buffer)));
        let reference = ends.map(|end| (end, papers(name)));
        chart = chart.series(name, Mark::Dots, points).series(
            format!("{name}, paper"),
            Mark::Reference,
            reference,
        );
    }
    section.table(table).chart(chart)
}

/// Less than this is none: one packet in a thousand.
const MIN_LOSS: f64 = 0.001;

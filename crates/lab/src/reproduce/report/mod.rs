//! What an experiment has to say: tables, charts, and a verdict on each claim of the paper.

mod claims;
mod html;
mod markdown;
mod table;
mod verdict;

pub use self::claims::claims_page;
pub use self::html::html;
pub use self::markdown::paper_page;
pub use self::table::{Table, change, code, number, opt, percent};
pub use self::verdict::{Finding, Verdict};
pub(super) use self::verdict::{near, number_alone};

use super::reproduction::About;
use crate::plots::Chart;

/// One experiment's part of the report.
#[derive(Debug, Clone)]
pub struct Section {
    /// What it is about.
    pub about: About,
    /// What was found, claim by claim.
    pub verdicts: Vec<Verdict>,
    /// The figures.
    pub tables: Vec<Table>,
    /// The curves.
    pub charts: Vec<Chart>,
    /// What else a reader should know: mechanisms, departures from the paper.
    pub notes: Vec<String>,
}

impl Section {
    /// A section without content.
    pub fn new(about: About) -> Self {
        Self {
            about,
            verdicts: Vec::new(),
            tables: Vec::new(),
            charts: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Adds a verdict.
    #[must_use]
    pub fn verdict(mut self, verdict: Verdict) -> Self {
        self.verdicts.push(verdict);
        self
    }

    /// Adds a table.
    #[must_use]
    pub fn table(mut self, table: impl Into<Table>) -> Self {
        self.tables.push(table.into());
        self
    }

    /// Adds a chart.
    #[must_use]
    pub fn chart(mut self, chart: Chart) -> Self {
        self.charts.push(chart);
        self
    }

    /// Adds charts.
    #[must_use]
    pub fn charts(mut self, charts: impl IntoIterator<Item = Chart>) -> Self {
        self.charts.extend(charts);
        self
    }

    /// Adds a paragraph.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }
}

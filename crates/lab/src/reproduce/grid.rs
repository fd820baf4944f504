//! The results of a study, cases by controllers by seeds: chosen, grouped, and put into tables.

use super::report::{Table, number, percent};
use super::summary::{Seeds, geometric_mean};
use crate::plots::{Chart, Mark};

/// Some of a study's cases and what came of them, in the order of the cases.
#[derive(Debug)]
pub struct Runs<'a, C, R>(Vec<(&'a C, &'a R)>);

impl<'a, C, R> Runs<'a, C, R> {
    /// All of them.
    pub fn of(results: &'a [(C, R)]) -> Self {
        Self(results.iter().map(|(case, run)| (case, run)).collect())
    }

    /// Each case and its result.
    pub fn iter(&self) -> impl Iterator<Item = (&'a C, &'a R)> {
        self.0.iter().copied()
    }

    /// Those of such cases.
    #[must_use]
    pub fn only(&self, meant: impl Fn(&C) -> bool) -> Self {
        Self(self.iter().filter(|(case, _)| meant(case)).collect())
    }

    /// The first result, if there is one.
    pub(super) fn first(&self) -> Option<&'a R> {
        self.0.first().map(|(_, run)| *run)
    }

    /// One figure of each.
    pub(super) fn each(&self, figure: impl Fn(&R) -> f64) -> Vec<f64> {
        self.iter().map(|(_, run)| figure(run)).collect()
    }

    /// One figure over all, which are the seeds of one case.
    pub(super) fn over(&self, figure: impl Fn(&R) -> f64) -> Seeds {
        Seeds::of(self.each(figure))
    }

    /// One figure as a part of the same of others, run by run: the geometric mean.
    pub(super) fn ratio(&self, others: &Self, figure: impl Fn(&R) -> f64) -> f64 {
        let pairs = self.iter().zip(others.iter());
        geometric_mean(pairs.map(|((_, ours), (_, theirs))| figure(ours) / figure(theirs)))
    }

    /// Groups of cases with the same key, in the order in which the keys first come.
    pub(super) fn by<K: PartialEq>(&self, key: impl Fn(&C) -> K) -> Vec<(K, Self)> {
        let mut groups: Vec<(K, Self)> = Vec::new();
        for (case, run) in self.iter() {
            let key = key(case);
            match groups.iter_mut().find(|(known, _)| *known == key) {
                Some((_, runs)) => runs.0.push((case, run)),
                None => groups.push((key, Self(vec![(case, run)]))),
            }
        }
        groups
    }

    /// A chart with a line for each run that has a curve.
    pub(super) fn lines<N: Into<String>>(
        &self,
        mut chart: Chart,
        name: impl Fn(&C) -> N,
        curve: impl Fn(&R) -> Vec<(f64, f64)>,
    ) -> Chart {
        for (case, run) in self.iter() {
            let curve = curve(run);
            if !curve.is_empty() {
                chart = chart.series(name(case), Mark::Line, curve);
            }
        }
        chart
    }

    /// A table with a row for each key.
    pub(super) fn table<K: PartialEq>(
        &self,
        caption: impl Into<String>,
        key: impl Fn(&C) -> K,
    ) -> Grid<'a, C, R> {
        let rows: Vec<Self> = self.by(key).into_iter().map(|(_, runs)| runs).collect();
        let mut table = Table::new(caption, &[]);
        table.rows.resize(rows.len(), Vec::new());
        Grid { rows, table }
    }
}

/// A table that grows column by column. A row is of runs that only differ in their seeds.
#[derive(Debug)]
pub(super) struct Grid<'a, C, R> {
    rows: Vec<Runs<'a, C, R>>,
    table: Table,
}

impl<C, R> Grid<'_, C, R> {
    /// A column of whatever the runs of a row show.
    pub(super) fn cells(mut self, title: &str, cell: impl Fn(&Runs<'_, C, R>) -> String) -> Self {
        self.table.header.push(title.to_owned());
        for (row, runs) in self.table.rows.iter_mut().zip(&self.rows) {
            row.push(cell(runs));
        }
        self
    }

    /// A column that says which cases a row is of.
    pub(super) fn name(self, title: &str, name: impl Fn(&C) -> String) -> Self {
        self.cells(title, |runs| {
            runs.iter()
                .next()
                .map_or_else(String::new, |(case, _)| name(case))
        })
    }

    /// A figure's mean over the seeds, and its least and largest where they differ.
    pub(super) fn figures(
        self,
        title: &str,
        print: impl Fn(f64) -> String,
        figure: impl Fn(&R) -> f64,
    ) -> Self {
        self.cells(title, |runs| runs.over(&figure).text(&print))
    }

    /// The same of a number.
    pub(super) fn numbers(self, title: &str, figure: impl Fn(&R) -> f64) -> Self {
        self.figures(title, number, figure)
    }

    /// The same of a fraction, in percent.
    pub(super) fn percents(self, title: &str, figure: impl Fn(&R) -> f64) -> Self {
        self.figures(title, percent, figure)
    }
}

impl<C, R> From<Grid<'_, C, R>> for Table {
    fn from(grid: Grid<'_, C, R>) -> Self {
        grid.table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESULTS: [((&str, u64), f64); 4] = [
        (("a", 1), 1.0),
        (("b", 1), 4.0),
        (("a", 2), 3.0),
        (("b", 2), 12.0),
    ];

    #[test]
    fn a_row_is_of_all_seeds() {
        let runs = Runs::of(&RESULTS);
        let table: Table = runs
            .table("c", |case| case.0)
            .name("name", |case| case.0.to_owned())
            .numbers("mean", |figure| *figure)
            .into();
        assert_eq!(table.header, ["name", "mean"]);
        assert_eq!(
            table.rows,
            [["a", "2.00 (1.00 to 3.00)"], ["b", "8.00 (4.00 to 12.0)"]]
        );
    }

    #[test]
    fn runs_are_compared_seed_by_seed() {
        let runs = Runs::of(&RESULTS);
        let [a, b] = ["a", "b"].map(|name| runs.only(|case| case.0 == name));
        assert!((b.ratio(&a, |figure| *figure) - 4.0).abs() < 1e-12);
        assert_eq!(a.first(), Some(&1.0));
        assert!(
            runs.only(|case| case.1 == 3)
                .over(|figure| *figure)
                .mean
                .is_nan()
        );
    }
}

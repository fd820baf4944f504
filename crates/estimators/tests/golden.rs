//! The filters against tables made by an independent implementation: the moments with 50-digit arithmetic, the
//! filters from prescribed inputs.

use kneepoint_estimators::{
    Atkf, AtkfConfig, CapacitySample, LowerBounds, Skip, SkipConfig, TobitVariant, normal,
};

/// The table's columns by name, row by row.
struct Table {
    header: Vec<&'static str>,
    rows: Vec<Vec<&'static str>>,
}

impl Table {
    fn parse(text: &'static str) -> Self {
        let mut lines = text.lines().map(|line| line.trim().split(',').collect());
        Self {
            header: lines.next().expect("a table has a header"),
            rows: lines.collect(),
        }
    }

    fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|cells| Row {
            header: &self.header,
            cells,
        })
    }
}

struct Row<'a> {
    header: &'a [&'static str],
    cells: &'a [&'static str],
}

impl Row<'_> {
    fn text(&self, column: &str) -> &str {
        let index = self.header.iter().position(|name| *name == column);
        self.cells[index.unwrap_or_else(|| panic!("no column {column}"))]
    }

    fn number(&self, column: &str) -> f64 {
        self.text(column).parse().expect("a number")
    }

    fn sample(&self) -> CapacitySample {
        CapacitySample::new(self.number("C"), self.number("S"))
    }

    #[track_caller]
    fn check(&self, column: &str, actual: f64, tolerance: f64) {
        let expected = self.number(column);
        let error = (actual - expected).abs();
        let scale = expected.abs().max(f64::MIN_POSITIVE);
        assert!(
            error <= tolerance * scale,
            "row {}: {column} is {actual:e}, not {expected:e}: off by {:e}",
            self.cells[0],
            error / scale
        );
    }
}

#[test]
fn moments() {
    let table = Table::parse(include_str!("golden/a_moments.csv"));
    for row in table.rows() {
        let eta = row.number("eta");
        for (column, function) in [
            ("Phi", normal::cumulative as fn(f64) -> f64),
            ("lambda", normal::truncated_mean),
            ("one_minus_eth", normal::truncated_variance),
            ("m1", normal::censored_mean),
            ("exc", normal::censored_shortfall),
        ] {
            if row.number(column).abs() > SMALLEST_MOMENT {
                row.check(column, function(eta), MOMENT_TOLERANCE);
            }
        }
    }
    assert_eq!(table.rows.len(), 121);
}

#[test]
fn tobit_steps_with_known_noises() {
    let table = Table::parse(include_str!("golden/b_tkf_fixed.csv"));
    for (variant, mean_column, variance_column) in [
        (TobitVariant::Allik, "xA", "PsiA"),
        (TobitVariant::ExactBayes, "xD", "PsiD"),
    ] {
        let (mut mean, mut variance) = (100.0, 25.0);
        for row in table.rows() {
            let update = variant
                .step(mean, variance + 1.0, 25.0, row.sample())
                .unwrap();
            (mean, variance) = (update.mean, update.variance);
            row.check(mean_column, mean, FILTER_TOLERANCE);
            row.check(variance_column, variance, FILTER_TOLERANCE);
        }
    }
    assert_eq!(table.rows.len(), 500);
}

#[test]
fn adaptive_filter() {
    for (text, lower_bounds, rows) in [
        (
            include_str!("golden/c_atkf.csv"),
            LowerBounds::AsPublished,
            500,
        ),
        (
            include_str!("golden/e_atkf_bounded.csv"),
            LowerBounds::Bounded,
            600,
        ),
    ] {
        let table = Table::parse(text);
        let mut config = AtkfConfig::default();
        config.floor = 1.0;
        config.lower_bounds = lower_bounds;
        let mut filter = Atkf::new(&config, 100.0).unwrap();
        for row in table.rows() {
            let update = filter.update(row.sample()).unwrap();
            for (column, actual) in [
                ("x", filter.mean()),
                ("Psi", filter.variance()),
                ("Q", filter.process_noise()),
                ("R", filter.measurement_noise()),
                ("K", update.gain),
                ("innov", update.innovation),
                ("xi", filter.innovation_square()),
                ("c1", filter.innovation_product()),
            ] {
                row.check(column, actual, FILTER_TOLERANCE);
            }
        }
        assert_eq!(table.rows.len(), rows);
    }
}

/// The table was made with every lower bound updating the filter.
#[test]
fn skip_without_its_options() {
    let table = Table::parse(include_str!("golden/d_skip.csv"));
    let mut config = SkipConfig::paper();
    config.filter.lower_bounds = LowerBounds::AsPublished;
    follow(&table, "F", config, |row, skip| {
        row.check("sigmaF", skip.sigma(), FILTER_TOLERANCE);
        row.check("tdF", f64::from(skip.drop_count()), 0.0);
        row.check("tsF", f64::from(skip.step_count()), 0.0);
        row.check("toF", f64::from(skip.outage_count()), 0.0);
    });
    assert_eq!(table.rows.len(), 300);
}

/// The same table with every option on.
#[test]
fn skip_with_its_options() {
    let table = Table::parse(include_str!("golden/d_skip.csv"));
    let mut config = SkipConfig::tuned();
    config.filter.lower_bounds = LowerBounds::AsPublished;
    follow(&table, "P", config, |_, _| {});
}

#[test]
fn skip_tuned() {
    let table = Table::parse(include_str!("golden/f_skip_bounded.csv"));
    follow(&table, "", SkipConfig::tuned(), |_, _| {});
    assert_eq!(table.rows.len(), 600);
}

/// The filter against the columns whose names end in `suffix`, and `more` after each row. It starts at 10 Mb/s with a
/// deviation of a twentieth: the start of the tables.
fn follow(table: &Table, suffix: &str, mut config: SkipConfig, more: impl Fn(&Row<'_>, &Skip)) {
    config.filter.initial_measurement_noise = 0.05;
    let mut skip = Skip::new(&config, 1.25e6).expect("a preset is valid");
    for row in table.rows() {
        let mode = skip.sample(row.sample()).expect("a sample of the table");
        let expected = row.text(&format!("mode{suffix}"));
        assert_eq!(mode.name(), expected, "row {}", row.text("t"));
        for (column, actual) in [
            ("x", skip.mean()),
            ("Psi", skip.variance()),
            ("Q", skip.process_noise()),
            ("R", skip.measurement_noise()),
        ] {
            row.check(&format!("{column}{suffix}"), actual, FILTER_TOLERANCE);
        }
        more(&row, &skip);
    }
}

/// Relative.
const MOMENT_TOLERANCE: f64 = 1e-11;
/// Relative; the tables carry eleven or twelve digits.
const FILTER_TOLERANCE: f64 = 1e-8;
/// Below this the table's doubles are about to lose digits themselves.
const SMALLEST_MOMENT: f64 = 1e-300;

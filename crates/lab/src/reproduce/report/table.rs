//! Tables of text.

/// A table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// What it shows.
    pub caption: String,
    /// The columns' titles.
    pub header: Vec<String>,
    /// The rows; the first column names them.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub fn new(caption: impl Into<String>, header: &[&str]) -> Self {
        Self {
            caption: caption.into(),
            header: header.iter().map(|&title| title.to_owned()).collect(),
            rows: Vec::new(),
        }
    }

    /// A table with a row for each of these, under its label, and a column for each name.
    pub fn crossed<T>(
        caption: impl Into<String>,
        corner: &str,
        rows: impl IntoIterator<Item = (String, T)>,
        names: &[&str],
        cell: impl Fn(&T, &str) -> String,
    ) -> Self {
        let mut table = Self::new(caption, &[&[corner], names].concat());
        for (label, row) in rows {
            let cells = names.iter().map(|name| cell(&row, name));
            table.row([label].into_iter().chain(cells));
        }
        table
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }
}

/// A number to read: three significant digits, or whole.
pub fn number(value: f64) -> String {
    match value.abs() {
        _ if !value.is_finite() => "-".to_owned(),
        size if size < 0.0005 => "0".to_owned(),
        size if size < 1.0 => format!("{value:.3}"),
        size if size < 9.995 => format!("{value:.2}"),
        size if size < 99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// The same; a dash if there is none.
pub fn opt(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), number)
}

/// A fraction in percent, with one decimal.
pub fn percent(fraction: f64) -> String {
    if fraction.is_finite() {
        format!("{:.1} %", 100.0 * fraction)
    } else {
        "-".to_owned()
    }
}

/// A change as a fraction of what it was, in percent.
pub fn change(ratio: f64) -> String {
    format!("{:+.1} %", 100.0 * (ratio - 1.0))
}

/// A name as code.
pub fn code(name: &str) -> String {
    format!("`{name}`")
}

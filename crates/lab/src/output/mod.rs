//! Results as people and programs read them.

pub mod series;
pub mod summary;
pub mod table;

use std::io;

use serde::{Deserialize, Serialize};

use crate::metrics::{FlowRow, Row};

/// A row, and its flows as an array: one line of [`json`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Object {
    #[serde(flatten)]
    row: Row,
    flows: Vec<FlowRow>,
}

impl From<Row> for Object {
    fn from(mut row: Row) -> Self {
        let flows = std::mem::take(&mut row.flows);
        Self { row, flows }
    }
}

impl From<Object> for Row {
    fn from(Object { row, flows }: Object) -> Self {
        Self { flows, ..row }
    }
}

/// Prints every row as one JSON object on a line of its own, with the array `flows`, one object for each flow.
///
/// # Errors
/// Never for rows made by [`Row::new`].
pub fn json(rows: &[Row]) -> Result<String, serde_json::Error> {
    json_lines(rows.iter().cloned().map(Object::from))
}

/// One object on a line for each.
pub(crate) fn json_lines(
    objects: impl IntoIterator<Item = impl Serialize>,
) -> Result<String, serde_json::Error> {
    let lines = objects.into_iter();
    lines
        .map(|object| Ok(serde_json::to_string(&object)? + "\n"))
        .collect()
}

/// Prints a header and one comma-separated record per row, without the flows. A statistic over no samples is an empty field.
///
/// # Errors
/// Never for rows made by [`Row::new`].
pub fn csv(rows: &[Row]) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row)?;
    }
    finish(writer)
}

/// The text of a writer.
fn finish(writer: csv::Writer<Vec<u8>>) -> Result<String, csv::Error> {
    let bytes = writer
        .into_inner()
        .map_err(|error| csv::Error::from(error.into_error()))?;
    String::from_utf8(bytes).map_err(|error| csv::Error::from(io::Error::other(error)))
}

/// Prints every name, padded to the longest one, and its value.
pub fn list(entries: &[(&str, String)]) -> String {
    let widths = entries.iter().map(|(name, _)| name.chars().count());
    let width = widths.max().unwrap_or(0);
    let line = |(name, value): &(&str, String)| format!("{name:<width$}  {value}\n");
    entries.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_aligned() {
        let entries = [("a", "1".to_owned()), ("long", "2".to_owned())];
        assert_eq!(list(&entries), "a     1\nlong  2\n");
        assert_eq!(list(&[]), "");
    }
}

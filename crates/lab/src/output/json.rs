//! One JSON object per line.

use serde::Serialize;

use crate::metrics::{FlowRow, Row};

/// A row, and the flows as an array.
#[derive(Serialize)]
struct Object<'a> {
    #[serde(flatten)]
    row: &'a Row,
    flows: &'a [FlowRow],
}

/// Prints every row as one JSON object on a line of its own, with the array `flows`, one object for each flow.
///
/// # Errors
/// Never for rows made by [`Row::new`].
pub fn render(rows: &[Row]) -> Result<String, serde_json::Error> {
    lines(rows.iter().map(|row| Object {
        row,
        flows: &row.flows,
    }))
}

/// One object on a line for each.
pub(crate) fn lines(
    objects: impl IntoIterator<Item = impl Serialize>,
) -> Result<String, serde_json::Error> {
    let lines = objects.into_iter();
    lines
        .map(|object| Ok(serde_json::to_string(&object)? + "\n"))
        .collect()
}

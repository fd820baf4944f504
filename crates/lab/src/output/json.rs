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
    let mut text = String::new();
    for row in rows {
        let flows = &row.flows;
        text += &serde_json::to_string(&Object { row, flows })?;
        text.push('\n');
    }
    Ok(text)
}

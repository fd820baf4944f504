//! One JSON object per line.

use crate::metrics::Row;

/// Prints every row as one JSON object on a line of its own.
///
/// # Errors
/// Never for rows made by [`Row::new`].
pub fn render(rows: &[Row]) -> Result<String, serde_json::Error> {
    let mut text = String::new();
    for row in rows {
        text += &serde_json::to_string(row)?;
        text.push('\n');
    }
    Ok(text)
}

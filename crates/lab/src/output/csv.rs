//! Comma-separated values with a header.

use std::io;

use crate::metrics::Row;

/// Prints a header and one record per row, without the flows. A statistic over no samples is an empty field.
///
/// # Errors
/// Never for rows made by [`Row::new`].
pub fn render(rows: &[Row]) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row)?;
    }
    let bytes = writer
        .into_inner()
        .map_err(|error| csv::Error::from(error.into_error()))?;
    String::from_utf8(bytes).map_err(|error| csv::Error::from(io::Error::other(error)))
}

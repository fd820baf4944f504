//! Names and values, one pair on each line.

/// Prints every name, padded to the longest one, and its value.
pub fn render(entries: &[(&str, String)]) -> String {
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
        assert_eq!(render(&entries), "a     1\nlong  2\n");
        assert_eq!(render(&[]), "");
    }
}

//! What a drawing says to those who do not see it.

use crate::page::escape;

/// The drawing with a title and a description, as one image for assistive technology.
pub(super) fn described(drawing: &str, title: &str, description: &str) -> String {
    let (title, description) = (escape(title), escape(description));
    let Some((start, rest)) = drawing.split_once('>') else {
        return drawing.to_owned();
    };
    format!("{start} role=\"img\">\n<title>{title}</title>\n<desc>{description}</desc>{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_no_markup() {
        let drawing = described("<svg width=\"1\">\n<g/></svg>", "a < b", "\"c\" & d");
        assert_eq!(
            drawing,
            "<svg width=\"1\" role=\"img\">\n<title>a &lt; b</title>\n\
             <desc>&quot;c&quot; &amp; d</desc>\n<g/></svg>"
        );
    }
}

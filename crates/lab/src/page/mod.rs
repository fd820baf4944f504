//! Pages of HTML that need no other file: what they share.

mod comparison;

use std::fmt::Write;

pub use self::comparison::comparison;

/// A page with a title and a content, which is HTML. It loads nothing, and its policy says so to the browser.
pub(crate) fn page(title: &str, content: &str, script: Option<&str>) -> String {
    let title = escape(title);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\"/>\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{content}</main>\n"
    );
    if let Some(script) = script {
        // Writing to a string cannot fail.
        _ = writeln!(out, "<script>\n{script}</script>");
    }
    out + "</body>\n</html>\n"
}

/// Text that is no markup.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // No markup can hold them, escaped or not.
            control if control.is_control() && !control.is_whitespace() => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}

/// A drawing with a caption, which is text.
pub(crate) fn figure(id: Option<&str>, drawing: &str, caption: &str) -> String {
    let id = id.map_or_else(String::new, |id| format!(" id=\"{id}\""));
    let caption = escape(caption);
    format!("<figure{id}>\n{drawing}\n<figcaption>{caption}</figcaption>\n</figure>\n")
}

/// Styles and scripts are the page's own; nothing is loaded.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; form-action 'none'";

const STYLE: &str = include_str!("style.css");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_no_markup() {
        let text = "<script>alert('a & b')</script>\" \u{1b}[31m\u{0}";
        assert_eq!(
            escape(text),
            "&lt;script&gt;alert(&#39;a &amp; b&#39;)&lt;/script&gt;&quot; \u{fffd}[31m\u{fffd}"
        );
    }

    #[test]
    fn the_style_and_the_scripts_are_no_markup() {
        for text in [STYLE, include_str!("sort.js")] {
            assert!(!text.contains(['<', '&']), "{text}");
        }
    }
}

//! The documents' links and paths lead somewhere, pages are short, and the page of claims agrees with the papers' pages.

#![allow(clippy::unwrap_used, reason = "this is test code")]

use std::fs;
use std::path::{Path, PathBuf};

/// A page that is written by hand has fewer words than this outside of its tables.
const MAX_PAGE: usize = 1200;

#[test]
fn links_lead_to_files_and_headings() {
    let mut broken = Vec::new();
    for page in pages(&["", "docs", "docs/results"]) {
        let text = fs::read_to_string(&page).unwrap();
        for target in links(&text) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let file = match file {
                "" => page.clone(),
                file => page.parent().unwrap().join(file),
            };
            let found = file.exists()
                && (anchor.is_empty()
                    || anchors(&fs::read_to_string(&file).unwrap()).contains(&anchor.to_owned()));
            if !found {
                broken.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn named_source_files_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut absent = Vec::new();
    for page in pages(&["", "docs"]) {
        let text = fs::read_to_string(&page).unwrap();
        let code = outside_of_fences(&text).flat_map(|line| line.split('`').skip(1).step_by(2));
        for path in code.filter(|code| code.starts_with("crates/")) {
            if !root.join(path).exists() {
                absent.push(format!("{}: {path}", page.display()));
            }
        }
    }
    assert!(absent.is_empty(), "{absent:#?}");
}

#[test]
fn pages_are_short() {
    for page in pages(&["docs"]) {
        let text = fs::read_to_string(&page).unwrap();
        let prose = text.lines().filter(|line| !line.starts_with('|'));
        let words: usize = prose.map(|line| line.split_whitespace().count()).sum();
        assert!(words < MAX_PAGE, "{}: {words} words", page.display());
    }
}

#[test]
fn the_documented_settings_are_the_examples() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let settings = fs::read_to_string(root.join("examples/server.toml")).unwrap();
    let page = fs::read_to_string(root.join("docs/OPERATING.md")).unwrap();
    assert!(page.contains(&format!("```toml\n{settings}```")));
}

/// Both are written by one command: a page that was changed alone would contradict the other.
#[test]
fn key_claims_are_those_of_the_papers_pages() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let summary = fs::read_to_string(docs.join("RESULTS.md")).unwrap();
    let (_, claims) = summary.split_once("## Key claims").unwrap();
    let rows: Vec<&str> = claims
        .lines()
        .filter(|line| line.starts_with("| ["))
        .collect();
    assert!(!rows.is_empty());
    for row in rows {
        let page = fs::read_to_string(docs.join(links(row)[0])).unwrap();
        let mut cells = row.trim_matches(['|', ' ']).split(" | ").skip(1);
        let (experiment, claim) = cells.next().unwrap().split_once(": ").unwrap();
        let figures: Vec<&str> = cells.take(3).collect();
        let expected = format!("| {experiment} | {claim} | {} |", figures.join(" | "));
        assert!(page.lines().any(|line| line == expected), "{row}");
    }
}

/// The Markdown files of these folders, and not of those in them.
fn pages(folders: &[&str]) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = folders
        .iter()
        .flat_map(|folder| fs::read_dir(root.join(folder)).unwrap())
        .map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> = files
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .collect();
    pages.sort();
    assert!(!pages.is_empty());
    pages
}

/// What the page links to, outside of code.
fn links(page: &str) -> Vec<&str> {
    let lines = outside_of_fences(page);
    let parts = lines.flat_map(|line| line.split("](").skip(1));
    parts.filter_map(|part| part.split(')').next()).collect()
}

/// What a link to the page may name: its headings as GitHub and crates.io spell them, and the names given by hand.
fn anchors(page: &str) -> Vec<String> {
    let headings = outside_of_fences(page).filter(|line| line.starts_with('#'));
    let headings = headings.map(|line| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter_map(|letter| match letter {
            ' ' => Some('-'),
            '-' | '_' => Some(letter),
            letter => letter.is_alphanumeric().then_some(letter),
        });
        kept.collect()
    });
    let named = page.split("<a id=\"").skip(1);
    let named = named.filter_map(|rest| rest.split('"').next().map(str::to_owned));
    headings.chain(named).collect()
}

fn outside_of_fences(page: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    page.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    })
}

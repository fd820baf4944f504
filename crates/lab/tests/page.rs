//! The page of `kneepoint compare --html`: its structure, and that nothing in it comes from elsewhere.

mod command;

use std::collections::BTreeSet;
use std::fs;

use command::{directory, kneepoint, refused, stdout};
use roxmltree::{Document, Node};

/// A page is read as XML, which it also is but for its first line.
fn parsed(page: &str) -> Document<'_> {
    let page = page.strip_prefix("<!doctype html>\n").expect("it is HTML");
    Document::parse(page).expect("all elements end")
}

fn with<'a, 'input>(
    document: &'a Document<'input>,
    element: &'a str,
) -> impl Iterator<Item = Node<'a, 'input>> {
    let all = document.descendants();
    all.filter(move |node| node.tag_name().name() == element)
}

fn text(node: Node<'_, '_>) -> String {
    node.descendants()
        .filter_map(|node| node.text().filter(|_| node.is_text()))
        .collect()
}

/// A link's name is that of a file, and a host's too: anybody may have chosen them.
const HOSTILE: &str = "<script>alert(1)<!--\"'&amp;]]>`.trace";

#[test]
fn the_page_has_every_run_and_nothing_from_elsewhere() {
    let trace: String = (1..=200).map(|n| format!("{}\n", n * 5)).collect();
    let directory = directory("page", &[("slow.trace", &trace)]);
    // Not every system has files of such names.
    #[cfg(unix)]
    let hostile = HOSTILE;
    #[cfg(not(unix))]
    let hostile = "other.trace";
    fs::write(directory.join(hostile), &trace).unwrap();
    let controllers = [
        "knee",
        "quinn-cubic",
        "bbr3:core.min_rtt_window=20s",
        "noq:knee",
    ];
    let names = controllers.join(",");
    let command = format!(
        "compare --trace {hostile} --trace slow.trace --duration 2s --controllers {names} --html page.html"
    );
    let printed = stdout(&directory, &command);
    let page = fs::read_to_string(directory.join("page.html")).unwrap();

    for source in [
        "http:", "https:", "//", "src=", "@import", "url(", "<link", "<iframe",
    ] {
        // Comments of the script.
        let found = page
            .lines()
            .filter(|line| !line.trim_start().starts_with("// "))
            .any(|line| line.contains(source));
        assert!(!found, "{source}");
    }
    assert!(page.contains("default-src 'none'"));
    let document = parsed(&page);
    assert_eq!(with(&document, "script").count(), 1, "only our own");
    let ids: Vec<&str> = document
        .descendants()
        .filter_map(|node| node.attribute("id"))
        .collect();
    assert_eq!(
        ids.iter().collect::<BTreeSet<_>>().len(),
        ids.len(),
        "{ids:?}"
    );
    for link in with(&document, "a") {
        let target = link
            .attribute("href")
            .and_then(|target| target.strip_prefix('#'));
        assert!(
            target.is_some_and(|target| ids.contains(&target)),
            "{target:?}"
        );
    }

    let tables: Vec<Node<'_, '_>> = with(&document, "table").collect();
    assert_eq!(tables.len(), 2);
    for table in tables {
        let rows = table.descendants().filter(|node| node.has_tag_name("tr"));
        let rows: Vec<Vec<String>> = rows
            .map(|row| row.children().filter(Node::is_element).map(text).collect())
            .collect();
        assert_eq!(rows.len(), 1 + controllers.len());
        assert!(
            rows.iter().all(|row| row.len() == rows[0].len()),
            "{rows:?}"
        );
        let first: Vec<&String> = rows.iter().skip(1).map(|row| &row[0]).collect();
        assert_eq!(first, controllers.iter().collect::<Vec<_>>());
        // The cells are those of the printed table.
        for row in &rows[1..] {
            let words = |line: &str| {
                line.split_whitespace()
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            };
            assert!(printed.lines().any(|line| words(line) == *row), "{row:?}");
        }
    }
    for title in with(&document, "th").filter(|title| title.attribute("scope") == Some("col")) {
        assert_eq!(title.attribute("aria-sort"), Some("none"));
        let button = title.first_element_child().expect("a button");
        assert_eq!(
            (button.tag_name().name(), button.attribute("type")),
            ("button", Some("button"))
        );
    }

    let drawings: Vec<Node<'_, '_>> = with(&document, "svg").collect();
    assert_eq!(drawings.len(), 2 * (1 + controllers.len()));
    for drawing in &drawings {
        let parts: Vec<&str> = drawing
            .children()
            .filter(Node::is_element)
            .map(|node| node.tag_name().name())
            .take(2)
            .collect();
        assert_eq!(parts, ["title", "desc"]);
    }
    let marks: Vec<Node<'_, '_>> = with(&document, "g")
        .filter(|node| node.attribute("class") == Some("mark"))
        .collect();
    assert_eq!(marks.len(), 2 * controllers.len());
    for (mark, name) in marks.iter().zip(controllers.iter().cycle()) {
        assert_eq!(mark.attribute("tabindex"), Some("0"));
        let label = mark.attribute("aria-label").unwrap();
        assert!(
            label.starts_with(&format!("{name}: ")) && label.contains("mean RTT"),
            "{label}"
        );
        assert!(text(*mark).contains("Mb/s"), "{}", text(*mark));
    }
    let headings: Vec<String> = with(&document, "h2").map(text).collect();
    assert_eq!(headings, [hostile.trim_end_matches(".trace"), "slow"]);
    for part in ["prefers-color-scheme: dark", "@media print", ":focus .tip"] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn drawings_are_images_with_a_title_and_a_description() {
    let directory = directory("drawings", &[]);
    let quick = "--rate 5Mbps --duration 2s";
    stdout(
        &directory,
        &format!("compare {quick} --controllers knee,quinn-cubic --plots plots"),
    );
    stdout(
        &directory,
        &format!("compare {quick} --flows knee,quinn-cubic --plots plots"),
    );
    let mut count = 0;
    for entry in fs::read_dir(directory.join("plots")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "svg") {
            let drawing = fs::read_to_string(&path).unwrap();
            let document = Document::parse(&drawing).unwrap();
            let root = document.root_element();
            assert_eq!(root.attribute("role"), Some("img"));
            let parts: Vec<Node<'_, '_>> =
                root.children().filter(Node::is_element).take(2).collect();
            assert_eq!(parts[0].tag_name().name(), "title");
            assert_eq!(parts[1].tag_name().name(), "desc");
            assert!(
                text(parts[0]).contains("5Mbps") && text(parts[1]).contains("knee")
                    || text(parts[1]).contains("RTT"),
                "{path:?}"
            );
            let scatter = path.to_string_lossy().contains("scatter");
            assert_eq!(drawing.contains("log scale"), scatter, "{path:?}");
            count += 1;
        }
    }
    assert_eq!(
        count, 4,
        "two runs, a mix, and the scatter plot of the last command"
    );
}

/// The only run fails.
#[test]
#[cfg(target_os = "linux")]
fn an_old_page_stays_if_there_is_no_new_one() {
    let directory = directory("old-page", &[("page.html", "old")]);
    let file = directory.join("logs/1Mbps-cubic-seed1-flow1.sqlog");
    fs::create_dir(directory.join("logs")).unwrap();
    std::os::unix::fs::symlink("/dev/full", file).unwrap();
    let arguments =
        "compare --rate 1Mbps --duration 1s --controllers cubic --qlog logs --html page.html";
    let output = kneepoint(&directory, arguments).output().unwrap();
    assert!(!output.status.success(), "{output:?}");
    let page = fs::read_to_string(directory.join("page.html")).unwrap();
    assert_eq!(page, "old");
    assert_eq!(fs::read_dir(directory).unwrap().count(), 2);
}

#[test]
fn a_page_that_cannot_be_written_is_blamed() {
    let directory = directory("no-page", &[]);
    let quick = "compare --rate 1Mbps --duration 1s --controllers cubic";
    refused(
        &directory,
        &format!("{quick} --html no/page.html"),
        &["--html", "no/page.html"],
    );
    refused(
        &directory,
        &format!("{quick} --html page.html --out out"),
        &["--html", "--out"],
    );
}

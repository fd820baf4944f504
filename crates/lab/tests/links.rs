//! The contract of `--link`, and that every example in `links/` runs.

mod command;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use command::{all_refused, anywhere, directory, json, refused, stdout};

/// The examples.
fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../links");
    let files = fs::read_dir(folder).expect("there is a folder");
    let mut files: Vec<PathBuf> = files.map(|file| file.expect("it is one").path()).collect();
    files.sort();
    assert!(files.len() > 30, "{}", files.len());
    files
}

/// The keys that a table may have, as the error about an unknown one lists them.
fn keys(table: &str) -> Vec<String> {
    let text = format!("{table}\nno_such_key = 1\n");
    let directory = directory("keys", &[("keys.toml", &text)]);
    let output = command::kneepoint(&directory, "compare --link keys.toml").output();
    let error = output.expect("the command starts").stderr;
    let error = String::from_utf8(error).expect("it is UTF-8");
    let (_, expected) = error.split_once("expected").expect("it lists them");
    let names = expected.split('`').skip(1).step_by(2);
    names.map(str::to_owned).collect()
}

#[test]
fn every_example_runs() {
    for file in examples() {
        let name = file
            .file_stem()
            .and_then(|stem| stem.to_str())
            .expect("it has a name");
        let arguments = format!(
            "compare --link {} --controllers knee --duration 3s",
            file.display()
        );
        let row = json(anywhere(), &arguments).remove(0);
        assert_eq!(row["trace"], name);
        assert!(row["closed"].is_null(), "{row}");
        assert!(row["goodput_mbps"].as_f64() > Some(0.5), "{row}");
    }
}

/// What an example is about shows in its row.
#[test]
fn stages_do_what_they_say() {
    let row = |name: &str, more: &str| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../links");
        let file = folder.join(name).with_extension("toml");
        let arguments = format!("compare --link {} {more}", file.display());
        json(anywhere(), &arguments).remove(0)
    };
    let number = |row: &serde_json::Value, key: &str| row[key].as_f64().expect("a number");
    // CUBIC fills the queue of one, and is kept from it by the other.
    let cubic = "--controllers cubic --duration 5s";
    let (bloated, managed) = (row("bufferbloat", cubic), row("codel", cubic));
    assert!(number(&bloated, "rtt_p95_ms") > 2.0 * number(&managed, "rtt_p95_ms"));
    assert_eq!(managed["queue"], "codel 1000p ecn");
    assert!(number(&managed, "marks") >= 1.0, "{managed}");
    assert_eq!(number(&managed, "drops"), 0.0, "{managed}");
    assert_eq!(managed["rtt_ms"], 40.0);

    let knee = "--controllers knee --duration 5s";
    let lossy = row("random-loss", knee);
    assert!(
        (0.005..0.02).contains(&number(&lossy, "loss_rate")),
        "{lossy}"
    );
    assert_eq!(lossy["loss"], 0.01);
    // The capacity of rates that change: 20 Mb/s for 5 s, then 2.
    let steps = row("rate-steps", "--controllers knee --duration 10s");
    assert_eq!(number(&steps, "capacity_mbps"), 11.0);
    // 4 Mb/s of others and 8 of others a quarter of the time.
    let shared = number(&row("cross-traffic", knee), "goodput_mbps");
    assert!((9.0..16.0).contains(&shared), "{shared}");
    // Fault: the delay of a way back was a queue of the flow's own, and it had 1.4 Mb/s.
    let swings = row("swinging-way-back", "--controllers knee --duration 40s");
    assert!(number(&swings, "goodput_mbps") > 7.0, "{swings}");
    let long = row("delay-steps", "--controllers knee --duration 9s");
    assert!(number(&long, "rtt_p95_ms") >= 80.0, "{long}");
    assert_eq!(long["rtt_ms"], 35.0);
    let policed = number(&row("policer", knee), "goodput_mbps");
    assert!((14.0..20.5).contains(&policed), "{policed}");
}

/// Each key of a network file, and of its links, is in an example and on the page about them.
#[test]
fn every_key_is_documented_and_shown() {
    let examples: Vec<String> = examples()
        .iter()
        .map(|file| fs::read_to_string(file).expect("it is text"))
        .collect();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/LINKS.md");
    let page = fs::read_to_string(page).expect("there is a page");
    let documented: BTreeSet<&str> = page.split('`').skip(1).step_by(2).collect();
    for table in [
        "",
        "[[link]]",
        "[[host]]",
        "[[path]]",
        "[[traffic]]",
        "[[rebind]]",
    ] {
        let keys = keys(table);
        assert!(keys.len() > 1, "{table}: {keys:?}");
        for key in keys {
            let shown = |text: &String| {
                let lines = text.lines().filter(|line| !line.starts_with('#'));
                lines
                    .flat_map(|line| line.split([' ', '[', ']', '{']))
                    .any(|word| word == key)
            };
            assert!(examples.iter().any(shown), "{table} {key} is in no example");
            assert!(
                documented.contains(key.as_str()),
                "{table} {key} is not documented"
            );
        }
    }
}

#[test]
fn a_link_is_a_name_a_seed_and_a_caption() {
    let text = "seed = 5\nlink = [\n\
        { name = \"forward\", from = \"left\", to = \"right\", rate_mbps = 5.0, delay_ms = 10.0, queue = \"red\", queue_bytes = 60000 },\n\
        { name = \"reverse\", from = \"right\", to = \"left\", rate_mbps = 5.0, delay_ms = 5.0 },\n]\n";
    let directory = directory("link", &[("home.toml", text), ("plain.trace", "5\n10\n")]);
    let short = "--controllers quinn-cubic --duration 2s";
    let rows = json(
        &directory,
        &format!("compare --link home.toml --link home.toml {short}"),
    );
    assert_eq!(rows.len(), 2);
    assert_eq!(
        (&rows[0]["trace"], &rows[1]["trace"]),
        (&"home".into(), &"home-2".into())
    );
    assert_eq!(rows[0]["seed"], 5);
    assert_eq!(rows[0]["goodput_mbps"], rows[1]["goodput_mbps"]);
    let seeded = json(
        &directory,
        &format!("compare --link home.toml --seed 9 {short}"),
    );
    assert_eq!(seeded[0]["seed"], 9);
    let table = stdout(&directory, &format!("compare --link home.toml {short}"));
    let caption = "home: mean capacity 5.00 Mb/s, RTT 15ms, queue red 60kB, 1 flow, 2s, seed 5\n";
    assert!(table.starts_with(caption), "{table}");
}

#[test]
fn bad_files_are_blamed_with_line_and_value() {
    let forward =
        "[[link]]\nname = \"forward\"\nfrom = \"left\"\nto = \"right\"\nrate_mbps = 1.0\n";
    let reverse =
        "[[link]]\nname = \"reverse\"\nfrom = \"right\"\nto = \"left\"\nunlimited = true\n";
    let both = format!("{forward}{reverse}");
    let fast = both.replace("rate_mbps = 1.0", "rate_mbps = 1000000.0");
    let other = both.replace("\"forward\"", "\"there\"");
    let unlimited = both.replace("rate_mbps = 1.0", "unlimited = true");
    let key = format!("{both}speed = 3\n");
    let queue = format!("{forward}queue = \"fast\"\n{reverse}");
    let limit = format!("{forward}queue_packets = 0\n{reverse}");
    let small = format!("{forward}queue_packets = 9\nqueue_bytes = 1_251\n{reverse}");
    let three = format!(
        "{both}[[link]]\nname = \"third\"\nfrom = \"left\"\nto = \"far\"\nrate_mbps = 1.0\n"
    );
    let hosts = format!("hosts = {{ left = \"phone\" }}\n{both}");
    let path = |from: &str, links: &str| {
        format!(
            "{both}[[path]]\nfrom = \"{from}\"\nto = \"10.0.1.1:4433\"\nlinks = [\"{links}\"]\n"
        )
    };
    let (nobody, back) = (
        path("10.0.0.9:1", "forward"),
        path("10.0.0.1:10000", "reverse"),
    );
    let literal = nobody.replace('"', "'");
    let other_model = format!("{both}[hosts]\nleft = \"burst.toml\"\n");
    let directory = directory(
        "bad-links",
        &[
            ("good.toml", &both),
            ("one.toml", forward),
            ("other.toml", &other),
            ("tables.toml", &both.replace("[[link]]", "[link]")),
            ("unlimited.toml", &unlimited),
            ("fast.toml", &fast),
            ("key.toml", &key),
            ("queue.toml", &queue),
            ("limit.toml", &limit),
            ("small.toml", &small),
            ("three.toml", &three),
            ("hosts.toml", &hosts),
            ("nobody.toml", &nobody),
            ("back.toml", &back),
            ("literal.toml", &literal),
            ("model.toml", &other_model),
            ("burst.toml", "[send]\nburst_datagrams = 100\n"),
        ],
    );
    let cases = r#"
compare --link no.toml => --link | no.toml
compare --link one.toml => --link | one.toml | right to left
compare --link other.toml => --link | other.toml | no link forward | from left to right leads there
compare --link tables.toml => --link | tables.toml:6 | write [[link]]
compare --link unlimited.toml => --link | unlimited.toml:5: | link forward | unlimited
compare --link fast.toml => --link | fast | --duration
compare --link key.toml => --link | key.toml:11 | speed
compare --link queue.toml => --link | queue.toml:6 | fast
compare --link limit.toml => --link | limit.toml:6 | link forward | packets must be positive
compare --link small.toml => --link | small.toml:7: | link forward | 1251 | 1252
compare --link nobody.toml => --link | nobody.toml:12 | 10.0.0.9:1 is not attached to a node
compare --link literal.toml => --link | literal.toml:12 | 10.0.0.9:1 is not attached to a node
compare --link back.toml => --link | back.toml:14 | 10.0.0.1:10000 | broken at link reverse
compare --link model.toml => --link | model.toml:12 | burst.toml:2: send.burst_datagrams = 100
compare --host burst.toml => --host | burst.toml:2: send.burst_datagrams = 100
compare --link good.toml --rate 1Mbps => --link | --rate
compare --link good.toml --rtt 1ms => --link | --rtt
compare --link good.toml --queue 1MB => --link | --queue
"#;
    all_refused(&directory, cases);
    for (file, part) in [
        ("three.toml", "not more links"),
        ("hosts.toml", "not models of hosts"),
        ("limit.toml", "limit.toml:6"),
        ("small.toml", "small.toml:7"),
        ("no.toml", "no.toml"),
        ("good.toml --up 1Mbps", "--up"),
        ("good.toml --delay 1ms", "--delay"),
    ] {
        let arguments = format!("relay --listen 127.0.0.1:0 --to 127.0.0.1:9 --link {file}");
        refused(&directory, &arguments, &["--link", part]);
    }
}

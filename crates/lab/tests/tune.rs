//! `kneepoint tune`: what it chooses, prints, keeps and refuses.

use std::fs;
use std::path::{Path, PathBuf};

use kneepoint_controllers::{Algorithm, ControllerSpec};
use kneepoint_lab::cli::{CliError, run};

fn kneepoint(arguments: &[&str]) -> Result<String, CliError> {
    let mut out = Vec::new();
    let arguments = ["kneepoint", "tune"].iter().chain(arguments);
    run(arguments.map(Into::into), &mut out)?;
    Ok(String::from_utf8(out).expect("text"))
}

/// A directory that does not exist yet, and the file of its results.
fn place(name: &str) -> (PathBuf, PathBuf) {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if path.exists() {
        fs::remove_dir_all(&path).expect("the directory can be removed");
    }
    (path.clone(), path.join("runs.jsonl"))
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

#[test]
fn the_same_command_chooses_the_same_and_a_stopped_one_goes_on() {
    let command = "--controller cubic --parameters beta_cubic --against quinn-cubic";
    let mut command: Vec<&str> = command.split(' ').collect();
    command.extend(["--family", "transfers,applications"]);
    command.extend(["--scenario", "20Mbps 40ms"]);
    let tune = |out: &Path| kneepoint(&[&command[..], &["--out", text(out)]].concat()).unwrap();
    let ((one, kept_one), (two, kept_two)) = (place("tune-one"), place("tune-two"));
    let printed = tune(&one);
    assert_eq!(tune(&two), printed);
    let records = fs::read_to_string(&kept_one).unwrap();
    assert_eq!(fs::read_to_string(&kept_two).unwrap(), records);
    for part in ["3 passes of 8 runs", "| applications", "held-out"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    // What suits the one family does not suit the other.
    let row = |name| printed.lines().find(|line| line.starts_with(name)).unwrap();
    assert!(row("| transfers").contains("beta_cubic=0.35"), "{printed}");
    assert!(row("| all").contains("preset"), "{printed}");
    // The command was stopped after the first 20 runs.
    let lines: Vec<&str> = records.lines().collect();
    fs::write(&kept_two, lines[..20].join("\n") + "\n").unwrap();
    assert_eq!(tune(&two), printed);
    assert_eq!(fs::read_to_string(&kept_two).unwrap(), records);
    // Nothing is left to run.
    assert_eq!(tune(&one), printed);
    assert_eq!(fs::read_to_string(&kept_one).unwrap(), records);
}

#[test]
fn an_ablation_shows_every_value() {
    let (out, kept) = place("ablation");
    let reference = out.join("reference.jsonl");
    let small = ["--scenario", "10kB", "--against", "quinn-cubic"];
    let keep = ["--ablation", "--out", text(&out)];
    let printed = kneepoint(&[&small[..], &keep].concat()).unwrap();
    for (name, _) in ControllerSpec::from(Algorithm::Knee).fields() {
        let rows = printed.lines().filter(|line| {
            line.starts_with(&format!("| {name} = ")) || line.starts_with(&format!("- {name} is "))
        });
        assert!(rows.count() >= 2, "{name}: {printed}");
    }
    // With the reference's records of before the verdicts are the same.
    let records = fs::read_to_string(&kept).unwrap();
    let of_reference = |line: &&str| line.contains("\"quinn-cubic\"");
    let kept: Vec<&str> = records.lines().filter(of_reference).collect();
    fs::write(&reference, kept.join("\n") + "\n").unwrap();
    let compare = ["--ablation", "--reference", text(&reference)];
    assert_eq!(
        kneepoint(&[&small[..], &compare].concat()).unwrap(),
        printed
    );
}

#[test]
fn refusals_name_the_value() {
    for (arguments, parts) in [
        (
            &["--controller", "quinn-cubic"][..],
            &["'quinn-cubic'", "knee"][..],
        ),
        (&["--parameters", "weather"], &["--parameters", "'weather'"]),
        (&["--factors", "0"], &["--factors"]),
        (&["--budget", "0"], &["--budget"]),
        (&["--family", "jitter"], &["--family"]),
        (&["--ablation", "--budget", "9"], &["--budget"]),
        (&["--scenario", "nowhere"], &["no scenario"]),
    ] {
        let error = kneepoint(arguments).unwrap_err();
        let message = error.to_string();
        assert_eq!(error.exit_code(), 2, "{message}");
        for part in parts {
            assert!(message.contains(part), "{arguments:?}: {message}");
        }
    }
}

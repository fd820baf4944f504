//! Sweeps: shards of runs, what is kept of them, and how they are joined.

mod command;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use command::{all_refused, directory, kneepoint, refused, stdout};
use kneepoint_lab::sweep::{Results, Shard};
use serde_json::Value;

/// A directory with links of about 1 Mb/s, and a comparison of 1 s on each of them.
fn sweep(name: &str, links: u64, controllers: &str) -> (PathBuf, String) {
    let directory = directory(name, &[]);
    let mut command = format!("compare --controllers {controllers} --duration 1s --queue 30kB");
    for link in 0..links {
        let name = format!("{link}.trace");
        // Each is another link: packets come every 12 ms or so.
        let text = format!("{}\n", 12_000 + link);
        let times: String = (1..1000).map(|n| format!("{}\n", n * 12)).collect();
        fs::write(directory.join(&name), times + &text).expect("the trace can be written");
        command += &format!(" --trace {name}");
    }
    (directory, command)
}

fn runs(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).expect("there are results");
    text.lines().map(str::to_owned).collect()
}

/// Makes all shards, each in a process of its own, and joins them.
fn in_shards(directory: &Path, command: &str, shards: u64, out: &str) -> Vec<u8> {
    for shard in 1..=shards {
        let made = format!("{command} --out {out} --shard {shard}/{shards}");
        let printed = stdout(directory, &made);
        assert!(
            printed.starts_with(&format!("shard {shard}/{shards}: ")),
            "{printed}"
        );
    }
    stdout(directory, &format!("merge {out}"));
    fs::read(directory.join(out).join("runs.jsonl")).expect("they are joined")
}

fn whole_and_shards_are_the_same(name: &str, links: u64, controllers: &str, shards: u64) {
    let (directory, command) = sweep(name, links, controllers);
    let count = links as usize * controllers.split(',').count();
    let printed = stdout(&directory, &format!("{command} --format json --out whole"));
    let whole = fs::read(directory.join("whole/runs.jsonl")).expect("there are results");
    let joined = in_shards(&directory, &command, shards, "parts");
    assert!(joined == whole, "the results differ");
    assert_eq!(runs(&directory.join("whole/runs.jsonl")).len(), count);
    // No run is in two shards, and none has all.
    let files =
        (1..=shards).map(|shard| directory.join(format!("parts/runs-{shard}-of-{shards}.jsonl")));
    let parts: Vec<Vec<String>> = files.map(|file| runs(&file)).collect();
    assert!(parts.iter().all(|part| part.len() < count));
    assert_eq!(parts.concat().len(), count);
    assert_eq!(
        parts.concat().into_iter().collect::<BTreeSet<_>>().len(),
        count
    );
    // The command itself finds all that the shards have made, and prints the same as the whole.
    let again = stdout(&directory, &format!("{command} --format json --out parts"));
    assert!(again == printed, "the rows differ");
    assert_eq!(printed.lines().count(), count);
}

#[test]
fn shards_merge_to_what_one_command_keeps() {
    whole_and_shards_are_the_same("sweep-48", 12, "knee,cubic,bbr3,quinn-cubic", 4);
}

/// `cargo test -p kneepoint-lab --test sweeps -- --ignored`
#[test]
#[ignore = "a minute"]
fn ten_thousand_runs_in_sixteen_shards_merge_to_what_one_command_keeps() {
    let controllers =
        "knee,cubic,bbr,bbr3,bbr-s,vegas,new-reno,compound,quinn-cubic,quinn-new-reno";
    whole_and_shards_are_the_same("sweep-10000", 1000, controllers, 16);
}

#[test]
fn a_run_is_never_made_twice() {
    let (directory, command) = sweep("sweep-twice", 3, "knee,cubic");
    let joined = in_shards(&directory, &command, 2, "out");
    for shard in ["1/2", "2/2", "1/5", "5/5"] {
        let printed = stdout(&directory, &format!("{command} --out out --shard {shard}"));
        assert!(
            printed.contains(" of 6 runs, 0 of them made now, in out/runs-"),
            "{printed}"
        );
    }
    let printed = stdout(&directory, "merge out");
    assert!(
        printed.starts_with("6 runs of 5 files in out/runs.jsonl\n"),
        "{printed}"
    );
    // What was joined before, and the shards' files.
    assert!(printed.contains("6 equal results left out\n"), "{printed}");
    assert!(
        printed.contains("no file of shard 2/5, 3/5, 4/5\n"),
        "{printed}"
    );
    assert_eq!(fs::read(directory.join("out/runs.jsonl")).unwrap(), joined);
    // Unless that is asked for.
    stdout(&directory, &format!("{command} --out out --fresh"));
    assert_eq!(fs::read(directory.join("out/runs.jsonl")).unwrap(), joined);
    assert_eq!(fs::read_dir(directory.join("out")).unwrap().count(), 1);
}

#[test]
fn a_shard_that_is_missing_is_an_error_after_the_others_are_joined() {
    let (directory, command) = sweep("sweep-missing", 3, "knee,cubic");
    stdout(&directory, &format!("{command} --out out --shard 1/2"));
    // The file of all runs is then there, and as incomplete.
    for _ in 0..2 {
        let output = kneepoint(&directory, "merge out").output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{errors}");
        assert_eq!(errors, "kneepoint: no file of shard 2/2 in out\n");
        assert!(String::from_utf8_lossy(&output.stdout).contains(" in out/runs.jsonl\n"));
    }
    stdout(&directory, &format!("{command} --out out --shard 2/2"));
    stdout(&directory, "merge out");
}

/// The process is killed again and again, whatever it is doing.
#[test]
fn a_sweep_that_is_killed_goes_on() {
    let (directory, command) = sweep("sweep-killed", 10, "knee,cubic,quinn-cubic");
    stdout(&directory, &format!("{command} --out whole"));
    let whole = fs::read(directory.join("whole/runs.jsonl")).unwrap();
    let arguments = format!("{command} --out killed --shard 1/1");
    let file = directory.join("killed/runs.jsonl");
    let mut before = 0;
    for _ in 0..3 {
        let mut child = kneepoint(&directory, &arguments)
            .spawn()
            .expect("it starts");
        let length = || fs::metadata(&file).map_or(0, |file| file.len());
        until(|| length() > before);
        child.kill().expect("it can be killed");
        child.wait().expect("it has ended");
        assert!(length() > before, "nothing was kept");
        before = length();
    }
    stdout(&directory, &format!("{command} --out killed"));
    assert!(fs::read(&file).unwrap() == whole, "the results differ");
}

/// Waits for what a process does.
#[expect(clippy::disallowed_methods, reason = "processes run in real time")]
fn until(done: impl Fn() -> bool) {
    let patience = Duration::from_secs(60);
    let began = Instant::now();
    while !done() && began.elapsed() < patience {
        sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_torn_last_line_is_made_again_and_nothing_else() {
    let (directory, command) = sweep("sweep-torn", 2, "cubic,quinn-cubic");
    let arguments = format!("{command} --out out");
    stdout(&directory, &arguments);
    let file = directory.join("out/runs.jsonl");
    let whole = fs::read(&file).unwrap();
    let last = whole.len() - runs(&file).last().unwrap().len() - 1;
    let third = runs(&file)[..3].join("\n") + "\n";
    for length in [last, last + 1, last + 40, whole.len() - 2, whole.len() - 1] {
        fs::write(&file, &whole[..length]).unwrap();
        // A shard that has nothing to do keeps what is whole: the three other lines.
        let kept = Results::open(&directory.join("out"), Shard::ALL, false).unwrap();
        drop(kept);
        assert_eq!(fs::read_to_string(&file).unwrap(), third);
        fs::write(&file, &whole[..length]).unwrap();
        let merged = stdout(&directory, "merge out");
        assert!(merged.starts_with("3 runs of 1 file"), "{merged}");
        assert_eq!(merged.contains("has no end"), length != last, "{merged}");
        stdout(&directory, &arguments);
        assert!(fs::read(&file).unwrap() == whole, "cut at {length}");
    }
}

/// The key is of all that determines a run: whatever is changed, it is another run.
#[test]
fn whatever_changes_a_run_makes_another_one() {
    let files = [("a.trace", "12\n24\n36\n"), ("b/a.trace", "12\n24\n37\n")];
    let directory = directory("sweep-keys", &files[..1]);
    fs::create_dir(directory.join("b")).unwrap();
    fs::write(directory.join(files[1].0), files[1].1).unwrap();
    let base = "compare --duration 1s --controllers cubic --out out --shard 1/1";
    let mut count = 0;
    for (more, new) in [
        ("--trace a.trace", 1),
        // The same content under another path.
        ("--trace ./a.trace", 0),
        // Another content under the same name.
        ("--trace b/a.trace", 1),
        ("--rate 1Mbps", 1),
        ("--rate 1000kbps", 0),
        ("--rate 2Mbps", 1),
        ("--rate 1Mbps --rtt 41ms", 1),
        ("--rate 1Mbps --queue 100p", 1),
        ("--rate 1Mbps --loss 1%", 1),
        ("--rate 1Mbps --seed 2", 1),
        ("--rate 1Mbps --host busy", 1),
        ("--rate 1Mbps --workload rpc:1kB@100ms", 1),
        ("--rate 1Mbps --flows 2", 1),
        ("--rate 1Mbps --flows 2 --start-gap 100ms", 1),
    ] {
        stdout(&directory, &format!("{base} {more}"));
        let lines = runs(&directory.join("out/runs.jsonl")).len();
        assert_eq!(lines, count + new, "{more}");
        count = lines;
    }
    let mix = base.replace("--controllers cubic", "--flows cubic,cubic");
    stdout(&directory, &format!("{mix} --rate 1Mbps"));
    assert_eq!(runs(&directory.join("out/runs.jsonl")).len(), count + 1);
}

/// Each line has the run, the version, and what `--format json` prints.
#[test]
fn a_line_is_the_run_and_its_row() {
    let (directory, command) = sweep("sweep-line", 1, "cubic");
    let printed = stdout(&directory, &format!("{command} --format json --out out"));
    let line: Value = serde_json::from_str(&runs(&directory.join("out/runs.jsonl"))[0]).unwrap();
    let row: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(line["result"], row);
    assert_eq!(line["run"]["command"], "compare");
    assert_eq!(line["run"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(line["run"]["name"], serde_json::json!(["0", "cubic", 1]));
    assert_eq!(line["run"]["digest"].as_str().map(str::len), Some(64));
    // Without --out the command prints the same.
    assert_eq!(
        stdout(&directory, &format!("{command} --format json")),
        printed
    );
}

#[test]
fn two_results_of_one_run_are_blamed_with_file_and_line() {
    let (directory, command) = sweep("sweep-conflict", 2, "cubic");
    stdout(&directory, &format!("{command} --out out"));
    let file = directory.join("out/runs.jsonl");
    let lines = runs(&file);
    // Another machine had another result of the second run.
    let other = lines[1].replace("\"drops\":", "\"drops\":9");
    assert_ne!(other, lines[1]);
    fs::write(
        directory.join("out/runs-3-of-3.jsonl"),
        format!("{}\n{other}\n", lines[0]),
    )
    .unwrap();
    let parts = [
        "out/runs.jsonl:2",
        "'compare 1, cubic, 1'",
        "out/runs-3-of-3.jsonl:2",
    ];
    refused(&directory, "merge out", &parts);
    refused(
        &directory,
        &format!("{command} --out out"),
        &[&["--out"], &parts[..]].concat(),
    );
    assert_eq!(runs(&file), lines, "nothing is changed");
}

#[test]
fn one_process_writes_a_file() {
    let (directory, command) = sweep("sweep-busy", 1, "cubic");
    fs::create_dir(directory.join("out")).unwrap();
    let shard: Shard = "1/2".parse().unwrap();
    let results = Results::open(&directory.join("out"), shard, false).unwrap();
    let parts = ["--out", "another process is writing out/runs-1-of-2.jsonl"];
    refused(
        &directory,
        &format!("{command} --out out --shard 1/2"),
        &parts,
    );
    refused(&directory, &format!("{command} --out out --fresh"), &parts);
    stdout(&directory, &format!("{command} --out out --shard 2/2"));
    drop(results);
    stdout(&directory, &format!("{command} --out out --shard 1/2"));
}

/// A limit on the size of files stands for a disk that is full: the system writes a part of a line, and refuses the rest.
#[test]
#[cfg(unix)]
fn a_full_disk_leaves_whole_lines() {
    let (directory, command) = sweep("sweep-full", 4, "cubic");
    let arguments = format!("{command} --out out");
    let program = env!("CARGO_BIN_EXE_kneepoint");
    // In units of 512 bytes; a line has about 900.
    let limited = format!("trap '' XFSZ; ulimit -f 3; exec '{program}' {arguments}");
    let mut shell = std::process::Command::new("/bin/sh");
    let output = shell
        .args(["-c", &limited])
        .current_dir(&directory)
        .output();
    let output = output.expect("it starts");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("cannot write out/runs.jsonl"), "{message}");
    let kept = fs::read_to_string(directory.join("out/runs.jsonl")).unwrap();
    assert!(kept.ends_with('\n') && kept.lines().count() == 1, "{kept}");
    stdout(&directory, &arguments);
    assert_eq!(runs(&directory.join("out/runs.jsonl")).len(), 4);
}

/// Nothing can be carried, and so no run has any weight.
#[test]
fn a_link_without_capacity_is_swept_too() {
    let directory = directory("sweep-idle", &[("late.trace", "5000\n")]);
    let command = "compare --trace late.trace --duration 1s --controllers cubic";
    assert_eq!(
        stdout(&directory, &format!("{command} --out out")),
        stdout(&directory, command)
    );
}

#[test]
fn frontier_and_torture_have_shards_too() {
    let directory = directory("sweep-others", &[]);
    for (command, out) in [
        (
            "frontier --family transfers --scenario 0kB --controllers cubic,vegas",
            "a",
        ),
        (
            "torture --faults blackouts --scenario 0.2s --controllers cubic",
            "b",
        ),
    ] {
        let printed = stdout(&directory, &format!("{command} --out {out}-whole"));
        let whole = fs::read(directory.join(format!("{out}-whole/runs.jsonl"))).unwrap();
        assert!(in_shards(&directory, command, 2, out) == whole, "{command}");
        assert_eq!(
            stdout(&directory, &format!("{command} --out {out}")),
            printed
        );
    }
}

#[test]
fn bad_input_is_blamed_in_one_line() {
    let files = [("runs.jsonl", "{\"run\":1}\n"), ("runs-1-of-2.jsonl", "")];
    let directory = directory("sweep-refusals", &files);
    let cases = r#"
compare --shard 1/2 => --shard | --out
compare --fresh => --fresh | --out
compare --out x --shard 0/2 => --shard | '0/2' | I/N
compare --out x --shard 1/2 --fresh => --shard | --fresh
compare --out x --plots y => --out | --plots
compare --out runs.jsonl => --out | runs.jsonl
compare --out . => --out | ./runs.jsonl:1 | not the result of a run | '{"run":1}'
frontier --out . => --out | ./runs.jsonl:1
reproduce bbr --quick --out . => --out | ./runs.jsonl:1
frontier --reference . => --reference | ./runs.jsonl:1
frontier --reference nowhere => --reference | nowhere
merge => DIR
merge . => kneepoint: ./runs.jsonl:1 | not the result of a run
"#;
    all_refused(&directory, cases);
    let nothing = directory.join("nothing");
    fs::create_dir(&nothing).unwrap();
    let cases = r#"
merge nothing => nothing: there are no files
merge nowhere => nowhere
"#;
    all_refused(&directory, cases);
}

/// Faults: of a result of another form neither file nor line was named, and what stands in a result's place for ever was read until memory ended.
#[test]
fn a_result_of_another_form_is_blamed_with_its_line() {
    let (directory, command) = sweep("sweep-forms", 1, "knee,cubic");
    let command = format!("{command} --out kept");
    stdout(&directory, &command);
    let path = directory.join("kept/runs.jsonl");
    let kept = fs::read_to_string(&path).unwrap();
    let (first, second) = kept.split_once('\n').expect("two results");
    let changed = second.replacen("\"utilization\":", "\"utilization\":[],\"other\":", 1);
    fs::write(&path, format!("{first}\n{changed}")).unwrap();
    let blamed = [
        "kept/runs.jsonl:2",
        "not the result of a run",
        "invalid type",
    ];
    let output = kneepoint(&directory, &command).output().unwrap();
    let printed = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{printed}");
    for part in blamed {
        assert!(printed.contains(part), "{printed}");
    }
}

#[cfg(unix)]
#[test]
fn results_are_read_of_regular_files_only() {
    let directory = directory("sweep-device", &[]);
    let kept = directory.join("kept");
    fs::create_dir_all(&kept).unwrap();
    std::os::unix::fs::symlink("/dev/zero", kept.join("runs.jsonl")).unwrap();
    refused(
        &directory,
        "compare --rate 1Mbps --duration 1s --controllers knee --out kept",
        &["--out", "kept/runs.jsonl", "no regular file"],
    );
}

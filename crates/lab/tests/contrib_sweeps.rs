//! The files of `contrib/sweeps` start what they say: run here with a small sweep, as the scheduler would run them.

#![cfg(unix)]

mod command;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use command::{directory, stdout};
use serde_yaml_ng::Value;

const SWEEP: &str =
    "compare --rate 1Mbps --duration 1s --controllers knee,cubic,vegas,bbr,quinn-cubic";

fn contrib(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join("../../contrib/sweeps").join(name)
}

/// A command in a directory, with this kneepoint and no other one.
fn shell(directory: &Path, program: &Path) -> Command {
    let kneepoint = Path::new(env!("CARGO_BIN_EXE_kneepoint"));
    let path = std::env::var("PATH").expect("there is a PATH");
    let folder = kneepoint.parent().expect("it is in a directory").display();
    let mut command = Command::new("/bin/sh");
    command.arg(program).current_dir(directory);
    command
        .env("PATH", format!("{folder}:{path}"))
        .env_remove("KNEEPOINT");
    command
}

fn succeeded(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What one process keeps of the sweep.
fn whole(directory: &Path) -> Vec<u8> {
    stdout(directory, &format!("{SWEEP} --out whole"));
    fs::read(directory.join("whole/runs.jsonl")).expect("there are results")
}

/// Under GNU parallel where it is installed, and under xargs everywhere.
#[test]
fn a_sweep_on_one_machine() {
    let directory = directory("contrib-local", &[]);
    let whole = whole(&directory);
    for runner in ["parallel", "xargs"] {
        let mut command = shell(&directory, &contrib("local.sh"));
        command.args(["3", runner]).args(SWEEP.split(' '));
        let output = command.env("RUNNER", runner).env("JOBS", "2").output();
        let printed = succeeded(&output.expect("it starts"));
        assert!(
            printed.ends_with(&format!("5 runs of 3 files in {runner}/runs.jsonl\n")),
            "{printed}"
        );
        assert!(
            fs::read(directory.join(runner).join("runs.jsonl")).unwrap() == whole,
            "{runner}"
        );
    }
    let nothing = shell(&directory, &contrib("local.sh"))
        .output()
        .expect("it starts");
    assert_eq!(nothing.status.code(), Some(2));
    let mut absent = shell(&directory, &contrib("local.sh"));
    absent.args(["2", "absent", "compare"]);
    let absent = absent.env("KNEEPOINT", "no-such-command").output();
    let absent = absent.expect("it starts");
    assert_eq!(absent.status.code(), Some(127));
    let message = String::from_utf8_lossy(&absent.stderr);
    assert!(
        message.contains("no-such-command") && message.contains("cargo install"),
        "{message}"
    );
}

/// A shard that fails makes the script fail.
#[test]
fn a_failure_is_not_lost() {
    let directory = directory("contrib-failure", &[]);
    for runner in ["parallel", "xargs"] {
        let mut command = shell(&directory, &contrib("local.sh"));
        command
            .args(["2", "out", "compare", "--rate", "fast"])
            .env("RUNNER", runner);
        let output = command.output().expect("it starts");
        assert!(!output.status.success(), "{runner}");
    }
}

#[test]
fn a_job_array_of_slurm() {
    let directory = directory("contrib-slurm", &[]);
    let script = fs::read_to_string(contrib("slurm.sh")).unwrap();
    let options: Vec<&str> = script
        .lines()
        .filter(|line| line.starts_with("#SBATCH "))
        .collect();
    assert!(options.contains(&"#SBATCH --array=1-16"), "{options:?}");
    // sbatch stops at the first line that is no comment.
    let first = script
        .lines()
        .position(|line| !line.starts_with('#'))
        .unwrap();
    assert!(
        script
            .lines()
            .skip(first)
            .all(|line| !line.starts_with("#SBATCH"))
    );
    for task in 1..=3 {
        let mut command = shell(&directory, &contrib("slurm.sh"));
        command.arg("out").args(SWEEP.split(' '));
        command
            .env("SLURM_ARRAY_TASK_ID", task.to_string())
            .env("SLURM_ARRAY_TASK_COUNT", "3");
        let printed = succeeded(&command.output().expect("it starts"));
        assert!(
            printed.starts_with(&format!("shard {task}/3: ")),
            "{printed}"
        );
    }
    stdout(&directory, "merge out");
    assert!(fs::read(directory.join("out/runs.jsonl")).unwrap() == whole(&directory));
}

#[test]
fn an_indexed_job_of_kubernetes() {
    let directory = directory("contrib-kubernetes", &[]);
    let text = fs::read_to_string(contrib("kubernetes.yaml")).unwrap();
    let job: Value = serde_yaml_ng::from_str(&text).expect("it is YAML");
    assert_eq!(
        (&job["apiVersion"], &job["kind"]),
        (&"batch/v1".into(), &"Job".into())
    );
    let spec = &job["spec"];
    assert_eq!(spec["completionMode"], "Indexed");
    let shards = spec["completions"].as_u64().expect("a number");
    assert_eq!(spec["parallelism"].as_u64(), Some(shards));
    let pod = &spec["template"]["spec"];
    // What a failed index is for backoffLimitPerIndex.
    assert_eq!(pod["restartPolicy"], "Never");
    let container = &pod["containers"][0];
    let mount = &container["volumeMounts"][0];
    assert_eq!(mount["name"], pod["volumes"][0]["name"]);
    let variables = container["env"].as_sequence().expect("a list");
    let value = |name: &str| {
        let variable = variables.iter().find(|variable| variable["name"] == name);
        variable
            .and_then(|variable| variable["value"].as_str())
            .expect(name)
            .to_owned()
    };
    assert_eq!(value("SHARDS"), shards.to_string());
    assert_eq!(value("OUT"), mount["mountPath"].as_str().unwrap());

    // What the pods run, on the sweep of this test.
    assert_eq!(container["command"][0], "/bin/sh");
    let line = container["args"][0].as_str().expect("a command");
    let example = "compare --rate 10Mbps --controllers knee,quinn-cubic";
    assert!(line.contains(example), "{line}");
    let script = directory.join("pod.sh");
    fs::write(&script, line.replace(example, SWEEP)).unwrap();
    for index in 0..2 {
        let mut command = shell(&directory, &script);
        command.env("JOB_COMPLETION_INDEX", index.to_string());
        let output = command.env("SHARDS", "2").env("OUT", "out").output();
        succeeded(&output.expect("it starts"));
    }
    stdout(&directory, "merge out");
    assert!(fs::read(directory.join("out/runs.jsonl")).unwrap() == whole(&directory));
}

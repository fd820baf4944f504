//! The store of finished runs, and the report made from it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use kneepoint_lab::reproduce::{
    About, CaseError, Experiment, Paper, Reproduction, Scale, Store, reproduce,
};
use rayon::ThreadPoolBuilder;
use serde_json::json;

fn place(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if path.exists() {
        fs::remove_file(&path).expect("an old file can be removed");
    }
    path
}

#[test]
fn finished_runs_are_found_again() {
    let path = place("found-again.jsonl");
    let store = Store::open(&path, false).unwrap();
    assert!(!store.has("A {}"));
    store.keep("A {}", json!({"mbps": 1.5})).unwrap();
    store.keep("B {}", json!(null)).unwrap();
    drop(store);
    let store = Store::open(&path, false).unwrap();
    assert_eq!(store.get("A {}"), Some(json!({"mbps": 1.5})));
    assert!(store.has("B {}"));
    drop(store);
    assert!(!Store::open(&path, true).unwrap().has("A {}"));
    assert_eq!(fs::read(&path).unwrap(), b"");
}

/// An interrupted run leaves half a line.
#[test]
fn a_broken_last_line_is_cut_off() {
    let path = place("broken-end.jsonl");
    let whole = "{\"key\":\"A\",\"result\":1}\n";
    fs::write(&path, format!("{whole}{{\"key\":\"B\",\"res")).unwrap();
    let store = Store::open(&path, false).unwrap();
    assert!(store.has("A") && !store.has("B"));
    store.keep("C", json!(2)).unwrap();
    drop(store);
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text, format!("{whole}{{\"key\":\"C\",\"result\":2}}\n"));
}

#[test]
fn another_file_is_refused_with_its_line() {
    let path = place("other.jsonl");
    let text = "{\"key\":\"A\",\"result\":1}\nsome notes\n{\"key\":\"B\",\"result\":1}\n";
    fs::write(&path, text).unwrap();
    let error = Store::open(&path, false).unwrap_err().to_string();
    assert!(error.contains("other.jsonl:2: not a result"), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

/// Two runs that wait for each other, so that neither ends if they come one after the other.
static MEETING: Reproduction<u32, bool> = Reproduction {
    about: About {
        id: "M",
        paper: Paper::Bbr,
        title: "a meeting",
        figure: "none",
        setup: "none",
        claim: "none",
    },
    cases: |_| vec![1, 2],
    weight: |_| 1.0,
    run: meet,
    report: |_, runs, section| {
        assert!(runs.iter().all(|(_, met)| *met), "one after the other");
        section
    },
};

static PRESENT: Mutex<u32> = Mutex::new(0);
static SOMEONE_CAME: Condvar = Condvar::new();

fn meet(_: &u32) -> Result<bool, CaseError> {
    let mut present = PRESENT.lock().expect("no run panics");
    *present += 1;
    SOMEONE_CAME.notify_all();
    let alone = |present: &mut u32| *present < 2;
    let patience = Duration::from_secs(60);
    let (present, _) = SOMEONE_CAME
        .wait_timeout_while(present, patience, alone)
        .expect("no run panics");
    Ok(*present == 2)
}

/// They once came in blocks of one, each of which was shared among all cores.
#[test]
fn runs_go_on_side_by_side() {
    let store = Store::open(&place("meeting.jsonl"), true).unwrap();
    let scale = Scale {
        quick: true,
        seeds: 1,
    };
    let meeting: &dyn Experiment = &MEETING;
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let sections = pool.install(|| reproduce(&[meeting], scale, &store, &|_| ()));
    assert_eq!(sections.unwrap().len(), 1);
}

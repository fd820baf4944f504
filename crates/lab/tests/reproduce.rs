//! The runs of experiments, and the report made from their results.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use kneepoint_lab::reproduce::report::{Section, Verdict, claims_page, paper_page};
use kneepoint_lab::reproduce::{
    About, CaseError, Experiment, Paper, Reproduction, Scale, jobs, sections,
};
use kneepoint_lab::sweep::{Results, Shard, make_missing};
use rayon::ThreadPoolBuilder;

fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&path).expect("the directory can be made");
    path
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
    let results = Results::open(&directory("meeting"), Shard::ALL, true).unwrap();
    let scale = Scale {
        quick: true,
        seeds: 1,
    };
    let meeting: &[&dyn Experiment] = &[&MEETING];
    let jobs = jobs(meeting, scale);
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let made = pool.install(|| make_missing(&jobs, Shard::ALL, &results, &|_| ()));
    assert_eq!(made.unwrap().new, 2);
    assert_eq!(sections(meeting, scale, &results).unwrap().len(), 1);
}

/// Forty runs that take no time.
static SQUARES: Reproduction<u64, u64> = Reproduction {
    about: MEETING.about,
    cases: |scale| (0..40 * scale.seeds).collect(),
    weight: |case| *case as f64,
    run: |case| Ok(case * case),
    report: |_, runs, section| {
        let sum: u64 = runs.iter().map(|(case, square)| square - case).sum();
        section.note(format!("sum {sum}"))
    },
};

#[test]
fn the_report_of_shards_is_that_of_the_whole() {
    let scale = Scale {
        quick: true,
        seeds: 1,
    };
    let squares: &[&dyn Experiment] = &[&SQUARES];
    let place = directory("squares");
    let jobs = jobs(squares, scale);
    let make = |shard: &str, fresh| {
        let shard: Shard = shard.parse().unwrap();
        let results = Results::open(&place, shard, fresh).unwrap();
        make_missing(&jobs, shard, &results, &|_| ()).unwrap()
    };
    let all = make("1/1", true);
    assert_eq!((all.runs, all.new), (40, 40));
    let report = |results: &Results| sections(squares, scale, results).unwrap()[0].notes.clone();
    let whole = report(&Results::open(&place, Shard::ALL, false).unwrap());
    assert_eq!(whole, ["sum 19760"]);

    Results::open(&place, Shard::ALL, true).unwrap();
    let parts = ["1/3", "2/3", "3/3"].map(|shard| make(shard, false));
    assert!(
        parts
            .iter()
            .all(|part| part.new > 0 && part.new == part.runs)
    );
    assert_eq!(parts.iter().map(|part| part.new).sum::<usize>(), 40);
    assert_eq!(
        report(&Results::open(&place, Shard::ALL, false).unwrap()),
        whole
    );
}

#[test]
fn a_report_without_all_results_names_the_run() {
    let results = Results::open(&directory("nothing"), Shard::ALL, true).unwrap();
    let scale = Scale {
        quick: true,
        seeds: 1,
    };
    let error = sections(&[&MEETING], scale, &results).unwrap_err();
    assert!(error.to_string().contains("reproduce M, 1: "), "{error}");
}

/// A section with one claim that stands for it on the page of claims, and one that does not.
fn section(paper: Paper) -> Section {
    let about = About {
        id: "E",
        paper,
        ..MEETING.about
    };
    let verdict = |claim, holds| Verdict::new(claim, "1 | 2", "3", (holds, false), "Why.");
    Section::new(about)
        .verdict(verdict("the text alone", true))
        .verdict(verdict("another one", false))
}

#[test]
fn the_page_of_claims_counts_all_and_shows_the_key_ones() {
    let scale = Scale {
        quick: false,
        seeds: 3,
    };
    let sections = [section(Paper::FairShare), section(Paper::Ebcc)];
    let page = claims_page(&sections, scale, "a command");
    assert!(page.contains("a command"));
    assert!(page.contains("(results/fair-share.md) | 2 | 1 | 0 | 1 |"));
    let key = "| [ebcc](results/ebcc.md) | E: the text alone | 1 \\| 2 | 3 | reproduced | `reproduce ebcc` |";
    assert!(page.contains(key), "{page}");
    assert!(!page.contains("another one"));
    assert!(!page.contains("results/bbr.md"), "nothing of it was run");
}

#[test]
fn a_papers_page_has_all_claims_of_that_paper_alone() {
    let scale = Scale {
        quick: true,
        seeds: 1,
    };
    let sections = [section(Paper::FairShare), section(Paper::Ebcc)];
    let page = paper_page(Paper::Ebcc, &sections, scale, "a command");
    assert!(page.starts_with("# eBCC\n\nGenerated by `a command`; do not edit."));
    assert!(page.contains("With `--quick`"));
    assert_eq!(page.matches("## E. a meeting (none)").count(), 1);
    assert!(page.contains("| E | another one | 1 \\| 2 | 3 | not reproduced |"));
    assert!(page.contains("- **not reproduced**: another one. Paper: 1 | 2; here: 3.\n  Why.\n"));
}

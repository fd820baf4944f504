//! Every controller's way through one script, beside the way it went before.
//!
//! A change that was not meant to change behaviour changes no trajectory; one that was shows here what it changed.

mod scripted;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

use kneepoint_controllers::host::WindowRule;
use kneepoint_controllers::{Algorithm, Bandwidth, Mode, Selection};
use scripted::journey::{Application, Change, Journey, Phase};
use scripted::path::Path;

const MTU: u16 = 1200;

const PATH: Path = Path::new(10, 40);

/// Bursts and single packets, as if at random.
const BURST: &[u64] = &[3, 4, 5, 11, 29, 30, 47, 48, 49, 50, 71, 90];

/// A little of everything that happens to a connection.
const SCRIPT: &[Phase] = &[
    Phase::new("10 Mb/s, 40 ms", 1000, 100, Change::Nothing),
    Phase::new("steady", 5000, 500, Change::Nothing),
    Phase::new("12 packets of 91 lost", 1500, 250, Change::Lose(BURST)),
    Phase::new("a packet lost", 200, 100, Change::Lose(&[5])),
    Phase::new("it was only late", 800, 200, Change::Spurious),
    Phase::new("a packet marked", 1000, 250, Change::Mark(&[10])),
    Phase::new("MTU 1452", 1000, 500, Change::Mtu(1452)),
    Phase::new(
        "silence",
        3000,
        1000,
        Change::Application(Application::Silent),
    ),
    Phase::new(
        "the application sends 0.5 Mb/s",
        3000,
        500,
        Change::Application(Application::Rate(Bandwidth::from_bytes_per_second(62_500))),
    ),
    Phase::new(
        "as much as there is room for",
        1000,
        200,
        Change::Application(Application::Greedy),
    ),
    Phase::new("20 Mb/s", 5000, 500, Change::Path(Path::new(20, 40))),
    Phase::new("10 Mb/s", 5000, 500, Change::Path(PATH)),
    Phase::new("outage", 2000, 1000, Change::Outage),
    Phase::new("afterwards", 5000, 500, Change::Nothing),
];

#[test]
fn every_controller_goes_as_before() {
    let renew = env::var_os("KNEEPOINT_RENEW").is_some();
    let mut differences = String::new();
    for selection in Selection::all() {
        let path = file(selection);
        let [now, other] = WindowRule::ALL.map(|rule| trajectory(selection, rule));
        assert!(
            now == other,
            "{selection}: a host's rule makes a difference"
        );
        if renew {
            fs::write(&path, now).expect("the directory is part of the sources");
            continue;
        }
        let before = fs::read_to_string(&path).unwrap_or_default();
        if before != now {
            let difference = difference(&before, &now);
            writeln!(differences, "{selection}:\n{HEADER}{difference}").expect("a string");
        }
    }
    assert!(
        differences.is_empty(),
        "{differences}\nIf that is what was meant: KNEEPOINT_RENEW=1 cargo test -p kneepoint-controllers --test \
         trajectories, and read what git diff shows."
    );
}

#[test]
fn every_file_is_some_controllers() {
    let expected: Vec<PathBuf> = Selection::all().map(file).collect();
    for entry in fs::read_dir(directory()).expect("the directory is part of the sources") {
        let path = entry.expect("a file of it").path();
        assert!(expected.contains(&path), "{}", path.display());
    }
}

/// What the script says is what happens, whichever the controller.
#[test]
fn the_script_is_followed() {
    let selection = Selection::from(Algorithm::Bbr3);
    let mut journey = Journey::new(selection, MTU, PATH, WindowRule::UpTo);
    for phase in SCRIPT {
        let before = (journey.lost, journey.marked);
        let delivered = journey.delivered;
        journey.run(phase, |_, _| {});
        match phase.change {
            Change::Mark(which) => assert_eq!(journey.marked, before.1 + which.len() as u64),
            Change::Lose(which) => assert!(journey.lost >= before.0 + which.len() as u64),
            Change::Application(Application::Silent) => {
                assert_eq!(journey.host.flow.in_flight().0, 0);
            }
            Change::Application(Application::Rate(rate)) => {
                let packets = rate.bytes_in(phase.span).0 / 1452;
                assert!((journey.delivered - delivered).abs_diff(packets) < 10);
            }
            Change::Outage => assert!(journey.host.flow.in_flight().0 > 0),
            _ => {}
        }
    }
}

fn trajectory(selection: Selection, rule: WindowRule) -> String {
    let mut journey = Journey::new(selection, MTU, PATH, rule);
    let mut text = HEADER.to_owned();
    for phase in SCRIPT {
        writeln!(text, "# {}", phase.name).expect("a string");
        let mut last = None;
        let mut changes = 0;
        journey.run(phase, |journey, tick| {
            let mode = coarse(journey.host.controller.snapshot().mode);
            let changed = last.replace(mode).is_some_and(|last| last != mode);
            changes += u32::from(changed);
            if tick || changed && changes <= CHANGES_SHOWN {
                line(&mut text, journey);
            }
        });
    }
    text
}

fn line(text: &mut String, journey: &Journey) {
    let (snapshot, in_flight) = journey.host.seen();
    let megabits = |rate: Option<Bandwidth>| {
        rate.map_or_else(
            || "-".to_owned(),
            |rate| format!("{:.2}", rate.megabits_per_second()),
        )
    };
    let seconds = journey.host.now.as_nanos() as f64 / 1e9;
    writeln!(
        text,
        "{seconds:8.3}  {:<21}{:>9}{:>9}{:>9}{:>10}{:>6}",
        format!("{:?}", coarse(snapshot.mode)),
        snapshot.congestion_window.0,
        in_flight.0,
        megabits(snapshot.pacing_rate),
        megabits(snapshot.bandwidth),
        journey.lost,
    )
    .expect("a string");
}

/// The phases of BBRv1's gain cycle follow each other every round: they are one.
fn coarse(mode: Mode) -> Mode {
    match mode {
        Mode::ProbeBandwidth(_) => Mode::ProbeBandwidth(0),
        mode => mode,
    }
}

/// What is between the first line that differs and the last.
fn difference(before: &str, now: &str) -> String {
    let (before, now): (Vec<_>, Vec<_>) = (before.lines().collect(), now.lines().collect());
    let same = |(a, b): &(&&str, &&str)| a == b;
    let head = before.iter().zip(&now).take_while(same).count();
    let (before, now) = (&before[head..], &now[head..]);
    let tail = before.iter().rev().zip(now.iter().rev());
    let tail = tail.take_while(same).count();
    let mut text = format!("from line {}:\n", head + 1);
    for (sign, lines) in [("-", before), ("+", now)] {
        let lines = &lines[..lines.len() - tail];
        for line in lines.iter().take(SHOWN) {
            writeln!(text, "{sign}{line}").expect("a string");
        }
        if lines.len() > SHOWN {
            writeln!(text, "{sign} and {} more", lines.len() - SHOWN).expect("a string");
        }
    }
    text
}

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/trajectories")
}

fn file(selection: Selection) -> PathBuf {
    let name = selection.to_string().replace(':', ".");
    directory().join(format!("{name}.txt"))
}

/// Bytes and Mb/s; packets lost so far.
const HEADER: &str = "    time  mode                    window   flight     pace bandwidth  lost\n";

/// Changes of the mode that get a line of their own, per phase: the others show at the next regular line.
const CHANGES_SHOWN: u32 = 3;

/// Lines of a difference that are shown of either side.
const SHOWN: usize = 30;

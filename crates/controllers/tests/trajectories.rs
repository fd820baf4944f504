//! Every controller's way through one script, beside the way it went before.
//!
//! A change that was not meant to change behaviour changes no trajectory; one that was shows here what it changed.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;
use std::{env, fs};

use kneepoint_controllers::transport::WindowRule;
use kneepoint_controllers::{
    Algorithm, Bandwidth, Bytes, ControllerSpec, Environment, Mode, Transport,
};
use kneepoint_testkit::{Adapter, Application, Neutral, Pacing, Packets, Scenario, Sender};

/// A stretch of a script.
struct Phase {
    name: &'static str,
    millis: u64,
    /// The sampling interval in milliseconds.
    every: u64,
    /// The change at its beginning.
    change: Change,
}

/// The change from the previous phase.
#[derive(Clone, Copy)]
enum Change {
    Nothing,
    /// To a link of so many Mb/s, with a queue of one bandwidth-delay product.
    Link(u64),
    Application(Application),
    Mtu(u16),
    /// These packets of the phase, counted from 0, are lost.
    Lose(&'static [u64]),
    /// These are marked.
    Mark(&'static [u64]),
    /// The packets declared lost last were only delayed.
    Spurious,
    /// Nothing gets through until the phase ends.
    Outage,
}

impl Phase {
    const fn new(name: &'static str, millis: u64, every: u64, change: Change) -> Self {
        Self {
            name,
            millis,
            every,
            change,
        }
    }
}

const fn path(megabits_per_second: u64) -> Scenario {
    Scenario {
        rate: megabits_per_second * 125_000,
        buffer: megabits_per_second * 5_000,
        ..Scenario::PLAIN
    }
}

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
        Change::Application(Application::Rate(62_500)),
    ),
    Phase::new(
        "as much as there is room for",
        1000,
        200,
        Change::Application(Application::Greedy),
    ),
    Phase::new("20 Mb/s", 5000, 500, Change::Link(20)),
    Phase::new("10 Mb/s", 5000, 500, Change::Link(10)),
    Phase::new("outage", 2000, 1000, Change::Outage),
    Phase::new("afterwards", 5000, 500, Change::Nothing),
];

#[test]
fn every_controller_goes_as_before() {
    let renew = env::var_os("KNEEPOINT_RENEW").is_some();
    let mut differences = String::new();
    for spec in ControllerSpec::all() {
        let path = file(&spec);
        let [now, other] =
            [WindowRule::UpTo, WindowRule::Below].map(|rule| trajectory(&spec, rule));
        assert!(now == other, "{spec}: a host's rule makes a difference");
        if renew {
            fs::write(&path, now).expect("the directory is part of the sources");
            continue;
        }
        let before = fs::read_to_string(&path).unwrap_or_default();
        if before != now {
            let difference = difference(&before, &now);
            writeln!(differences, "{spec}:\n{HEADER}{difference}").expect("a string");
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
    let expected: Vec<PathBuf> = ControllerSpec::all().map(|spec| file(&spec)).collect();
    for entry in fs::read_dir(directory()).expect("the directory is part of the sources") {
        let path = entry.expect("a file of it").path();
        assert!(expected.contains(&path), "{}", path.display());
    }
}

/// The script's events happen for every controller.
#[test]
fn the_script_is_followed() {
    let spec = ControllerSpec::from(Algorithm::Bbr3);
    let mut sender = sender(&spec, WindowRule::UpTo);
    for phase in SCRIPT {
        let before = (sender.lost, sender.marked);
        let delivered = sender.delivered;
        run(&mut sender, phase, |_, _| {});
        match phase.change {
            Change::Mark(which) => assert_eq!(sender.marked, before.1 + which.len() as u64),
            Change::Lose(which) => assert!(sender.lost >= before.0 + which.len() as u64),
            Change::Application(Application::Silent) => {
                assert_eq!(sender.in_flight(), 0);
            }
            Change::Application(Application::Rate(rate)) => {
                let packets = rate * phase.millis / 1_000 / 1452;
                assert!(((sender.delivered - delivered) / 1452).abs_diff(packets) < 10);
            }
            Change::Outage => assert!(sender.in_flight() > 0),
            _ => {}
        }
    }
}

fn sender(spec: &ControllerSpec, rule: WindowRule) -> Sender<Neutral> {
    let controller = spec.build(&Environment::new(Bytes(1200), 7, Transport::PACES));
    Sender::new(Neutral::with_rule(controller, rule), &path(10)).paced(Pacing::Even)
}

/// Goes through one phase. `look` is called at its beginning, every so often, and after every event.
fn run(sender: &mut Sender<Neutral>, phase: &Phase, mut look: impl FnMut(&Sender<Neutral>, bool)) {
    let (lose, mark) = match phase.change {
        Change::Lose(which) => (Packets::Listed(which), Packets::None),
        Change::Mark(which) => (Packets::None, Packets::Listed(which)),
        Change::Outage => (Packets::All, Packets::None),
        _ => (Packets::None, Packets::None),
    };
    sender.set_fates(lose, mark);
    match phase.change {
        Change::Link(rate) => sender.set_link(path(rate).link()),
        Change::Application(application) => sender.application = application,
        Change::Mtu(bytes) => {
            sender.mtu = bytes.into();
            let controller = &mut sender.adapter.controller;
            controller.on_mtu_update(Bytes(bytes.into()));
        }
        Change::Spurious => sender.adapter.on_spurious_loss(sender.now()),
        Change::Nothing | Change::Lose(_) | Change::Mark(_) | Change::Outage => {}
    }
    for _ in 0..phase.millis / phase.every {
        look(sender, true);
        let end = sender.now() + Duration::from_millis(phase.every);
        while sender.step(end) {
            look(sender, false);
        }
    }
}

fn trajectory(spec: &ControllerSpec, rule: WindowRule) -> String {
    let mut sender = sender(spec, rule);
    let mut text = HEADER.to_owned();
    for phase in SCRIPT {
        writeln!(text, "# {}", phase.name).expect("a string");
        let mut last = None;
        let mut changes = 0;
        run(&mut sender, phase, |sender, tick| {
            let mode = coarse(sender.adapter.snapshot().mode);
            let changed = last.replace(mode).is_some_and(|last| last != mode);
            changes += u32::from(changed);
            if tick || changed && changes <= CHANGES_SHOWN {
                line(&mut text, sender);
            }
        });
    }
    text
}

fn line(text: &mut String, sender: &Sender<Neutral>) {
    let snapshot = sender.adapter.snapshot();
    let megabits = |rate: Option<Bandwidth>| {
        rate.map_or_else(
            || "-".to_owned(),
            |rate| format!("{:.2}", rate.megabits_per_second()),
        )
    };
    let seconds = sender.now().as_secs_f64();
    writeln!(
        text,
        "{seconds:8.3}  {:<21}{:>9}{:>9}{:>9}{:>10}{:>6}",
        format!("{:?}", coarse(snapshot.mode)),
        snapshot.congestion_window.0,
        sender.in_flight(),
        megabits(snapshot.pacing_rate),
        megabits(snapshot.bandwidth),
        sender.lost,
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

/// The lines from the first difference to the last.
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

fn file(spec: &ControllerSpec) -> PathBuf {
    let name = spec.to_string().replace(':', ".");
    directory().join(format!("{name}.txt"))
}

/// Bytes and Mb/s; packets lost so far.
const HEADER: &str = "    time  mode                    window   flight     pace bandwidth  lost\n";

/// Changes of the mode that get a line of their own, per phase: the others show at the next regular line.
const CHANGES_SHOWN: u32 = 3;

/// Lines of a difference that are shown of either side.
const SHOWN: usize = 30;

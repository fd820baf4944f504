//! The relay's statistics as text.

use std::collections::BTreeMap;
use std::fmt::Write;

use kneepoint_emulator::link::DropCause;
use kneepoint_emulator::relay::{Lateness, PathSnapshot, Snapshot};
use kneepoint_emulator::time::Nanos;
use serde::Serialize;

use crate::cli::error::CliError;

/// One line of what has happened between two snapshots.
pub(super) fn line(before: &Snapshot, now: &Snapshot) -> String {
    let seconds = (now.elapsed - before.elapsed).as_secs_f64();
    let path = |before: &PathSnapshot, now: &PathSnapshot| {
        let (old, new) = (&before.statistics, &now.statistics);
        let bytes = new.delivered.bytes - old.delivered.bytes;
        let packets = new.delivered.packets - old.delivered.packets;
        format!(
            "{:.2} Mb/s, {:.0} packets/s, {} dropped, {} kB queued, late p99 {} us, waited p99 {} us",
            bytes as f64 * 8.0 / 1e6 / seconds,
            packets as f64 / seconds,
            dropped(now) - dropped(before),
            now.queued.bytes / 1000,
            micros(now.lateness.p99),
            micros(now.waited.p99),
        )
    };
    format!(
        "{:.1} s: clients {}; up {}; down {}\n",
        now.elapsed.as_secs_f64(),
        now.clients,
        path(&before.up, &now.up),
        path(&before.down, &now.down),
    )
}

/// The whole run.
pub(super) fn summary(run: &Snapshot) -> String {
    let mut text = format!(
        "{:.1} s, clients: {}\n",
        run.elapsed.as_secs_f64(),
        run.clients_seen
    );
    if run.displaced > 0 {
        // Writing to a string does not fail.
        let _ = writeln!(text, "clients that made room for others: {}", run.displaced);
    }
    for (name, path) in [("up", &run.up), ("down", &run.down)] {
        describe(&mut text, name, path);
    }
    let mut others = vec![
        ("of clients not admitted", run.refused),
        ("from strangers", run.foreign),
    ];
    match run.unread {
        Some(unread) => others.push(("not read in time", unread)),
        None => text.push_str("packets not read in time: unknown on this system\n"),
    }
    if run.uncaptured > 0 {
        let _ = writeln!(text, "left out of the capture: {}", run.uncaptured);
    }
    list(&mut text, "dropped before a link", others);
    text
}

/// The whole run as one JSON object on a line. The field names are a contract.
pub(super) fn json(run: &Snapshot) -> Result<String, CliError> {
    let object = Object {
        elapsed_s: run.elapsed.as_secs_f64(),
        clients: run.clients_seen,
        displaced: run.displaced,
        refused: run.refused,
        foreign: run.foreign,
        unread: run.unread,
        uncaptured: run.uncaptured,
        up: Lane::from(&run.up),
        down: Lane::from(&run.down),
    };
    let text = serde_json::to_string(&object).map_err(CliError::failure)?;
    Ok(text + "\n")
}

#[derive(Serialize)]
struct Object {
    elapsed_s: f64,
    clients: u64,
    displaced: u64,
    refused: u64,
    foreign: u64,
    /// Null where the system does not say.
    unread: Option<u64>,
    uncaptured: u64,
    up: Lane,
    down: Lane,
}

/// One direction.
#[derive(Serialize)]
struct Lane {
    received: u64,
    duplicated: u64,
    sent: u64,
    dropped: u64,
    on_the_way: u64,
    offered_bytes: u64,
    delivered_bytes: u64,
    marked: u64,
    corrupted: u64,
    reordered: u64,
    unlogged: u64,
    /// Packets by cause.
    drops: BTreeMap<String, u64>,
    lateness_us: Times,
    waited_us: Times,
}

#[derive(Serialize)]
struct Times {
    packets: u64,
    p50: u64,
    p99: u64,
    max: u64,
}

impl From<&PathSnapshot> for Lane {
    fn from(path: &PathSnapshot) -> Self {
        let statistics = &path.statistics;
        Self {
            received: path.received(),
            duplicated: statistics.duplicated.packets,
            sent: path.sent(),
            dropped: dropped(path),
            on_the_way: path.on_the_way(),
            offered_bytes: statistics.offered.bytes,
            delivered_bytes: statistics.delivered.bytes,
            marked: statistics.marked.packets,
            corrupted: statistics.corrupted.packets,
            reordered: statistics.reordered.packets,
            unlogged: path.unlogged,
            drops: causes(path).into_iter().map(field).collect(),
            lateness_us: Times::from(&path.lateness),
            waited_us: Times::from(&path.waited),
        }
    }
}

impl From<&Lateness> for Times {
    fn from(times: &Lateness) -> Self {
        Self {
            packets: times.packets,
            p50: micros(times.p50),
            p99: micros(times.p99),
            max: micros(times.max),
        }
    }
}

/// A cause as a field, which is one word wherever fields are read.
fn field((cause, packets): (String, u64)) -> (String, u64) {
    (cause.replace(' ', "_"), packets)
}

/// All causes of drops, with their packets.
fn causes(path: &PathSnapshot) -> Vec<(String, u64)> {
    let by_link = DropCause::ALL.map(|cause| (cause, path.statistics.dropped(cause).packets));
    let mut causes: Vec<(String, u64)> = by_link
        .into_iter()
        .map(|(cause, packets)| (cause.to_string(), packets))
        .collect();
    for (cause, packets) in [
        ("memory full", path.overflow),
        ("not taken by the system", path.unsent),
        ("client forgotten", path.forgotten),
    ] {
        causes.push((cause.to_owned(), packets));
    }
    causes
}

fn describe(text: &mut String, name: &str, path: &PathSnapshot) {
    let statistics = &path.statistics;
    // Arrivals are either sent, dropped, or still in the link.
    let duplicated = match statistics.duplicated.packets {
        0 => String::new(),
        copies => format!(", and {copies} copies of them"),
    };
    let _ = writeln!(
        text,
        "{name}: {} packets received{duplicated}; {} sent, {} dropped, {} still on their way",
        path.received(),
        path.sent(),
        dropped(path),
        path.on_the_way(),
    );
    let (offered, delivered) = (statistics.offered.bytes, statistics.delivered.bytes);
    let _ = writeln!(
        text,
        "{name}: {offered} bytes onto the link, {delivered} bytes off it"
    );
    let changed = [
        ("marked", statistics.marked),
        ("corrupted", statistics.corrupted),
        ("held back", statistics.reordered),
    ];
    let changed = changed.map(|(what, count)| (what, count.packets));
    if changed.iter().any(|(_, packets)| *packets > 0) {
        list(text, &format!("{name}: not dropped"), changed);
    }
    let causes = causes(path);
    let causes = causes
        .iter()
        .map(|(cause, packets)| (cause.as_str(), *packets));
    list(text, &format!("{name}: dropped"), causes);
    if path.unlogged > 0 {
        let _ = writeln!(
            text,
            "{name}: {} packets left out of the log",
            path.unlogged
        );
    }
    for (what, times) in [
        ("lateness", &path.lateness),
        ("waited to be read", &path.waited),
    ] {
        if times.packets > 0 {
            let [p50, p99, max] = [times.p50, times.p99, times.max].map(micros);
            let _ = writeln!(
                text,
                "{name}: {what} p50 {p50} us, p99 {p99} us, max {max} us"
            );
        }
    }
}

/// The causes that have occurred.
fn list<'a>(text: &mut String, what: &str, causes: impl IntoIterator<Item = (&'a str, u64)>) {
    let occurred: Vec<String> = causes
        .into_iter()
        .filter(|(_, packets)| *packets > 0)
        .map(|(cause, packets)| format!("{packets} {cause}"))
        .collect();
    let occurred = if occurred.is_empty() {
        "none".to_owned()
    } else {
        occurred.join(", ")
    };
    let _ = writeln!(text, "{what}: {occurred}");
}

/// All that the path has dropped.
fn dropped(path: &PathSnapshot) -> u64 {
    path.statistics.all_dropped().packets + path.overflow + path.unsent + path.forgotten
}

fn micros(time: Nanos) -> u64 {
    time.0 / 1000
}

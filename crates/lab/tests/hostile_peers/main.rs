//! Receivers that lie and paths that meddle, and what they do to a sender and to its neighbour: real QUIC in virtual time.

#![allow(clippy::unwrap_used, reason = "this is test code")]

mod attack;
mod figures;
mod frame;
mod lie;
mod meddler;
mod run;
mod seal;

use attack::{ALL, Attack};
use figures::{Figures, LIMIT};
use kneepoint_lab::controllers::names;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

fn worst(controller: &str, attack: Attack, seeds: u64) -> Figures {
    let all = (1..=seeds).map(|seed| Figures::of(controller, attack, seed));
    all.reduce(Figures::or).unwrap_or_default()
}

/// The table of docs/results/hostile-peers.md; `CONTROLLERS` names others.
#[test]
#[ignore = "minutes: it prints the table of docs/results/hostile-peers.md"]
fn print_the_table() {
    let named = std::env::var("CONTROLLERS");
    let controllers: Vec<&str> = match named.as_deref() {
        Ok("all") => names(),
        Ok(named) => named.split(' ').collect(),
        Err(_) => TABLE.into(),
    };
    println!(
        "| attack | {} | closed after | window |",
        controllers.join(" | ")
    );
    println!("|---|---|---|{}", "---|".repeat(controllers.len()));
    for attack in ALL {
        let of = |name: &&str| worst(name, attack, SEEDS);
        let figures: Vec<Figures> = controllers
            .clone()
            .into_par_iter()
            .map(|name| of(&name))
            .collect();
        let cells: Vec<String> = figures.iter().map(Figures::to_string).collect();
        let window = figures
            .iter()
            .map(|figures| figures.window)
            .fold(0.0, f64::max);
        let mut closed: Vec<_> = figures.iter().flat_map(|figures| &figures.closed).collect();
        closed.sort();
        let closed = match &closed[..] {
            [] => "-".to_owned(),
            [(first, _), .., (last, _)] => format!("{first} to {last}"),
            [(only, _)] => only.to_string(),
        };
        println!(
            "| {} | {} | {closed} | {window:.0} |",
            attack.name,
            cells.join(" | ")
        );
    }
}

/// RFC 9000, sections 13.1 and 21.4: quinn finds an acknowledgement of what it did not send, and of a number that it skipped.
#[test]
fn quinn_closes_on_acknowledgements_of_what_was_not_sent() {
    for (attack, seed, latest) in [
        ("ACK of unsent", 1, 1),
        ("ACKs ahead", 6, ATTACK_ROUND_TRIPS),
        ("losses concealed", 6, ATTACK_ROUND_TRIPS),
    ] {
        for controller in ["knee", "noq:knee"] {
            let figures = Figures::of(controller, Attack::named(attack), seed);
            assert!(!figures.closed.is_empty(), "{controller}, {attack}");
            for (after, reason) in &figures.closed {
                let because = reason.contains("unsent packet acked");
                assert!(
                    because && *after <= latest,
                    "{controller}, {attack}: {after}, {reason}"
                );
            }
            assert!(
                figures.flood <= LIMIT,
                "{controller}, {attack}: {figures:?}"
            );
        }
    }
}

/// What the transport does not find, the controller bears: neither a flood nor a neighbour that starves, and soon back.
#[test]
fn what_the_transport_lets_through_harms_nobody() {
    let cases: Vec<(&str, &str)> = BORNE
        .into_iter()
        .flat_map(|attack| CHECKED.map(|controller| (attack, controller)))
        .collect();
    cases.into_par_iter().for_each(|(name, controller)| {
        let attack = Attack::named(name);
        let figures = Figures::of(controller, attack, 1);
        let case = format!("{controller}, {name}: {figures:?}");
        assert!(figures.closed.is_empty(), "{case}");
        assert!(figures.flood <= LIMIT && figures.starved <= LIMIT, "{case}");
        assert!(figures.back.is_some_and(|back| back <= 80), "{case}");
        // Three times what the path and its queue hold with the longest delay.
        let bound = 3.0 * (3.0 + attack.delay().as_secs_f64() / run::RTT.as_secs_f64());
        assert!(figures.window < bound, "{case}");
    });
}

/// A peer that forges nothing is any peer.
#[test]
fn without_an_attack_nothing_happens() {
    let figures = Figures::of("knee", Attack::named("none"), 1);
    assert!(figures.closed.is_empty(), "{figures:?}");
    assert_eq!(
        (figures.flood, figures.starved, figures.silent, figures.back),
        (0, 0, 0, Some(0))
    );
}

const SEEDS: u64 = 4;
const TABLE: [&str; 7] = [
    "knee",
    "noq:knee",
    "bbr3",
    "bbr3-s",
    "cubic",
    "bbr-s",
    "quinn-cubic",
];
const CHECKED: [&str; 3] = ["noq:knee", "bbr3", "cubic"];
const BORNE: [&str; 7] = [
    "ACKs withheld",
    "ACK per 1000",
    "CE claimed for all",
    "nothing read",
    "reordering by 50",
    "MTU falls to 1250",
    "ACKs 2 s late",
];

/// When QUIC notices depends on which numbers it skips: at some time in the ten seconds of the attack.
const ATTACK_ROUND_TRIPS: usize = 250;

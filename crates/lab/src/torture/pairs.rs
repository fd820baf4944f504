//! Any two controllers on one link: what each one gets.

use std::time::Duration;

use kneepoint_controllers::Algorithm;
use kneepoint_emulator::network::Topology;
use serde::{Deserialize, Serialize};

use super::SEED;
use crate::controllers::candidate;
use crate::frontier::{FrontierError, Path, seconds};
use crate::metrics::stats::rounded;
use crate::output::table::table;
use crate::sweep::{self, Key};
use crate::trial::{FlowPlan, Trial};

/// What two flows got of a link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// The first flow's controller.
    pub first: String,
    /// The second flow's, which starts a tenth of a second later.
    pub second: String,
    /// What the first flow got of the link.
    pub first_share: f64,
    /// What the second flow got.
    pub second_share: f64,
    /// Why a connection closed, if one did.
    pub closed: Option<String>,
}

/// Every controller of ours, and the stock one that they are compared with.
pub fn pair_names() -> Vec<String> {
    let ours = Algorithm::all().iter().map(|algorithm| algorithm.name());
    ours.chain([STOCK]).map(str::to_owned).collect()
}

/// Each two of these controllers, and each one beside itself.
pub fn pairs(names: &[String]) -> Vec<(&str, &str)> {
    let firsts = names.iter().enumerate();
    firsts
        .flat_map(|(place, first)| {
            let seconds = names[place..].iter();
            seconds.map(move |second| (first.as_str(), second.as_str()))
        })
        .collect()
}

impl sweep::Run for (&str, &str) {
    type Result = Pair;
    type Error = FrontierError;

    fn key(&self) -> Result<Key, serde_json::Error> {
        let link = (MBPS, RTT_MS, BDPS, SPAN, APART, SEED);
        Key::new(
            "torture pairs",
            [self.0.into(), self.1.into()],
            &(self, link),
        )
    }

    fn weight(&self) -> f64 {
        1.0
    }

    fn make(&self) -> Result<Pair, FrontierError> {
        run_pair(self)
    }
}

fn run_pair(&(first, second): &(&str, &str)) -> Result<Pair, FrontierError> {
    let path = Path::constant(MBPS, RTT_MS, BDPS);
    let end = seconds(SPAN);
    let flows = [(first, 0.0, SEED), (second, APART, SEED + 1)].map(|(name, start, seed)| {
        Ok(FlowPlan::greedy(
            candidate(name, seed)?,
            seconds(start),
            end,
        ))
    });
    let flows: Result<Vec<FlowPlan>, FrontierError> = flows.into_iter().collect();
    let trial = Trial::new(Topology::point_to_point(path.duplex()), flows?, end);
    let outcome = trial.run().map_err(|source| FrontierError::Run {
        scenario: format!("{first} beside {second}"),
        source,
    })?;
    let link = path.capacity(Duration::ZERO, end);
    let share = |place: usize| {
        let flow = outcome.flows.get(place);
        let bytes = flow.map_or(0, |flow| flow.received_between(Duration::ZERO, end));
        rounded(bytes as f64 / link)
    };
    let closed = outcome.flows.iter().find_map(|flow| flow.closed.clone());
    Ok(Pair {
        first: first.to_owned(),
        second: second.to_owned(),
        first_share: share(0),
        second_share: share(1),
        closed,
    })
}

/// What each row's controller gets beside each column's, in percent of the link, and which pairs are unfair.
pub fn matrix(names: &[String], pairs: &[Pair]) -> String {
    let share = |one: &str, other: &str| {
        pairs.iter().find_map(|pair| {
            if (pair.first.as_str(), pair.second.as_str()) == (one, other) {
                Some(pair.first_share)
            } else if (pair.second.as_str(), pair.first.as_str()) == (one, other) {
                Some(pair.second_share)
            } else {
                None
            }
        })
    };
    let titles = (1..=names.len()).map(|number| number.to_string());
    let rows = names.iter().zip(1..).map(|(one, number)| {
        let cells = names.iter().map(|other| {
            share(one, other)
                .map_or_else(|| "-".to_owned(), |share| format!("{:.0}", share * 100.0))
        });
        [format!("{number} {one}")]
            .into_iter()
            .chain(cells)
            .collect()
    });
    let titles = ["% of the link beside".to_owned()]
        .into_iter()
        .chain(titles);
    let unfair: String = pairs
        .iter()
        .flat_map(unfair)
        .map(|line| line + "\n")
        .collect();
    format!("{}\n{unfair}", table(titles, rows))
}

/// Which flow of a pair has too little, and whether it is known why.
fn unfair(pair: &Pair) -> Vec<String> {
    let Pair {
        first,
        second,
        first_share,
        second_share,
        closed,
    } = pair;
    let mut lines = Vec::new();
    for (one, other, share) in [
        (first, second, *first_share),
        (second, first, *second_share),
    ] {
        let min = min_share(one, other);
        if share < min {
            let (share, min) = (share * 100.0, min * 100.0);
            let known = known(one, other).map_or_else(String::new, |why| format!(": {why}"));
            lines.push(format!(
                "  {one} beside {other}: {share:.1} %, below {min:.0}{known}"
            ));
        }
    }
    lines.extend(
        closed
            .iter()
            .map(|why| format!("  {first} beside {second}: closed: {why}")),
    );
    lines
}

/// What a controller is to get at least beside another one.
pub fn min_share(one: &str, other: &str) -> f64 {
    match (one, other) {
        (STOCK, _) => 0.25,
        (_, STOCK) => 0.1,
        _ => 0.2,
    }
}

/// Why a controller has too little beside another one, where it is known of the algorithm.
fn known(one: &str, other: &str) -> Option<&'static str> {
    KNOWN.iter().find_map(|(weak, strong, why)| {
        let strong = strong.is_none_or(|strong| strong == other);
        (*weak == one && strong).then_some(*why)
    })
}

/// Who has too little, beside whom if not beside anyone, and why.
const KNOWN: [(&str, Option<&str>, &str); 2] = [
    (
        "vegas",
        None,
        "Vegas gives way to flows that fill the queue (Mo et al., INFOCOM 1999)",
    ),
    (
        STOCK,
        Some("bbr"),
        "BBRv1's share depends neither on losses nor on how many others there are (Ware et al., IMC 2019)",
    ),
];

/// quinn's own.
const STOCK: &str = "quinn-cubic";

const MBPS: f64 = 20.0;
const RTT_MS: f64 = 40.0;
const BDPS: f64 = 2.0;

/// In seconds.
const SPAN: f64 = 60.0;
const APART: f64 = 0.1;

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(first: &str, second: &str, shares: [f64; 2]) -> Pair {
        Pair {
            first: first.to_owned(),
            second: second.to_owned(),
            first_share: shares[0],
            second_share: shares[1],
            closed: None,
        }
    }

    #[test]
    fn each_pair_runs_once_and_shows_twice() {
        let names = ["knee", "cubic", STOCK].map(str::to_owned);
        assert_eq!(pairs(&names).len(), 6);
        let text = matrix(&names, &[pair("knee", "cubic", [0.31, 0.64])]);
        assert!(text.contains("31") && text.contains("64"), "{text}");
        assert!(!text.contains("below"), "{text}");
    }

    #[test]
    fn shares_below_the_bound_are_named() {
        let lines = |first, second, shares| unfair(&pair(first, second, shares));
        assert_eq!(lines("knee", STOCK, [0.11, 0.26]), [""; 0]);
        assert_eq!(
            lines("knee", "bbr", [0.19, 0.7]),
            ["  knee beside bbr: 19.0 %, below 20"]
        );
        assert_eq!(
            lines("knee", STOCK, [0.7, 0.24]),
            ["  quinn-cubic beside knee: 24.0 %, below 25"]
        );
        let known = lines("vegas", STOCK, [0.09, 0.8]);
        assert!(known[0].contains("below 10: Vegas"), "{known:?}");
    }
}

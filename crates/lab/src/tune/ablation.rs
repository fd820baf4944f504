//! What each value of a controller does: half, twice and none of it, over the suite.

use kneepoint_controllers::ControllerSpec;

use super::folds::{change, percent};
use super::pass::{Bench, Pass};
use super::values::{Change, Parameter};
use crate::frontier::report::three;
use crate::output::table::markdown;

/// Half, twice and off, as far as there is such a value.
pub fn variations(controller: &ControllerSpec, parameters: &[Parameter]) -> Vec<Change> {
    let of = |parameter: &Parameter| {
        let scaled = [0.5, 2.0].map(|factor| parameter.scaled(controller, factor));
        let [half, twice] = scaled;
        [half, twice, parameter.off(controller)]
    };
    parameters.iter().flat_map(of).flatten().collect()
}

/// A table with a row for the controller and one for each change, and notes on what could not be varied as asked.
///
/// # Errors
/// A run that failed.
pub fn ablation<E>(
    bench: &mut Bench<'_, E>,
    controller: &ControllerSpec,
    parameters: &[Parameter],
    changes: &[Change],
) -> Result<String, E> {
    let start = bench.pass(controller)?.clone();
    let mut rows = vec![row(controller.to_string(), &start, &start)];
    let mut notes = String::new();
    for parameter in parameters {
        let own = changes
            .iter()
            .filter(|change| change.name == parameter.name);
        let before = rows.len();
        for change in own {
            if let Some(reason) = &change.clamped {
                notes += &format!("- {reason}: the nearest valid value is {}.\n", change.value);
            }
            if change.spec != *controller {
                let title = format!("{} = {}", change.name, change.value);
                rows.push(row(title, bench.pass(&change.spec)?, &start));
            }
        }
        if rows.len() == before {
            let (name, value) = (&parameter.name, &parameter.value);
            notes += &format!("- {name} is {value}: no other value was tried.\n");
        }
    }
    let titles = [
        "value",
        "held %",
        "CUBIC better",
        "utilization %",
        "RTT x base",
        "power",
        "starving",
        "score",
        "change %",
        "worst families, change %",
    ];
    let table = markdown(titles, rows);
    Ok(match notes.as_str() {
        "" => table,
        notes => format!("{table}\n{notes}"),
    })
}

fn row(title: String, pass: &Pass, start: &Pass) -> Vec<String> {
    let or_dash = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    let score = pass.score(|_| true);
    vec![
        title,
        percent(pass.held(|_| true)),
        pass.worse.to_string(),
        or_dash(pass.utilization.map(percent)),
        or_dash(pass.rtt_ratio.map(three)),
        or_dash(pass.power.map(three)),
        pass.starving.to_string(),
        format!("{score:.4}"),
        percent(change(start.score(|_| true), score)),
        worst(pass, start),
    ]
}

/// The families that lose most.
fn worst(pass: &Pass, start: &Pass) -> String {
    let families = start.families().into_keys();
    let mut changes: Vec<(f64, _)> = families
        .map(|family| {
            let score = |pass: &Pass| pass.score(|it| it == family);
            (change(score(start), score(pass)), family)
        })
        .filter(|(change, _)| *change < -NOTABLE)
        .collect();
    changes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let names = changes.iter().take(SHOWN);
    let names: Vec<String> = names
        .map(|(change, family)| format!("{family} {}", percent(*change)))
        .collect();
    names.join(", ")
}

/// A family that loses less is not named.
const NOTABLE: f64 = 0.01;

/// So many families are named.
const SHOWN: usize = 2;

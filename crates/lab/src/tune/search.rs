//! A search with a fixed budget.

use kneepoint_controllers::ControllerSpec;

use super::values::{Change, set};

/// The values that have the best score: those of `start`, or these with some of the changes.
///
/// Each change is scored alone, in order. Of each field, the best change counts, if it improves the score by a hundredth. The best
/// one of all is made; then each other one is added, from the best to the worst, and stays if it improves the score by as much
/// again. The search ends when `budget` controllers have been scored.
///
/// Nothing but `score` tells what is good: the choice cannot depend on runs that are not in it.
///
/// # Errors
/// The first one of `score`.
pub fn choose<E>(
    start: &ControllerSpec,
    changes: &[Change],
    budget: usize,
    mut score: impl FnMut(&ControllerSpec) -> Result<f64, E>,
) -> Result<ControllerSpec, E> {
    let first = score(start)?;
    let alone = budget.saturating_sub(1).min(changes.len());
    let mut best: Vec<(&Change, f64)> = Vec::new();
    for change in &changes[..alone] {
        let gained = score(&change.spec)?;
        match best.iter_mut().find(|(other, _)| other.name == change.name) {
            Some(other) if gained > other.1 => *other = (change, gained),
            Some(_) => {}
            None => best.push((change, gained)),
        }
    }
    best.retain(|(_, gained)| *gained >= first * (1.0 + MIN_GAIN));
    best.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut best = best.into_iter();
    let Some((change, mut reached)) = best.next() else {
        return Ok(start.clone());
    };
    let mut chosen = change.spec.clone();
    let mut left = budget.saturating_sub(1 + alone);
    for (change, _) in best {
        // Values that exclude each other are no candidate.
        let Ok(candidate) = set(&chosen, &change.name, &change.value) else {
            continue;
        };
        if left == 0 {
            break;
        }
        left -= 1;
        let gained = score(&candidate)?;
        if gained >= reached * (1.0 + MIN_GAIN) {
            (chosen, reached) = (candidate, gained);
        }
    }
    Ok(chosen)
}

/// A change that is worth less than this share of the score is not made.
const MIN_GAIN: f64 = 0.01;

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::super::values::parameters;
    use super::*;

    /// Half and twice of three values, in order.
    fn changes(start: &ControllerSpec) -> Vec<Change> {
        let mut found = parameters(start);
        found.retain(|parameter| parameter.value.parse::<f64>().is_ok());
        let changes = found.iter().flat_map(|parameter| {
            [0.5, 1.2].map(|factor| parameter.scaled(start, factor).unwrap())
        });
        changes.collect()
    }

    fn chosen(budget: usize, score: fn(&str) -> f64) -> (String, usize) {
        let start: ControllerSpec = "cubic".parse().unwrap();
        let mut scored = 0;
        let choice = choose(&start, &changes(&start), budget, |spec| {
            scored += 1;
            Ok::<_, Infallible>(score(&spec.to_string()))
        });
        let Ok(choice) = choice;
        (choice.to_string(), scored)
    }

    #[test]
    fn changes_add_up_if_they_are_worth_it() {
        let score = |spec: &str| {
            let has = |text| f64::from(u8::from(spec.contains(text)));
            1.0 + 0.1 * has(":c=0.2") + 0.2 * has("beta_cubic=0.84") + 0.005 * has("mark")
        };
        let both = "cubic:beta_cubic=0.84:c=0.2".to_owned();
        assert_eq!(chosen(100, score), (both.clone(), 8));
        assert_eq!(chosen(8, score), (both, 8));
        assert_eq!(chosen(7, score), ("cubic:beta_cubic=0.84".to_owned(), 7));
        assert_eq!(chosen(2, score), ("cubic".to_owned(), 2));
        assert_eq!(chosen(0, score), ("cubic".to_owned(), 1));
    }

    #[test]
    fn changes_that_spoil_each_other_are_not_both_made() {
        let score = |spec: &str| match (spec.contains(":c=0.2"), spec.contains("beta_cubic=0.35")) {
            (true, true) => 0.5,
            (true, false) => 1.2,
            (false, true) => 1.1,
            (false, false) => 1.0,
        };
        assert_eq!(chosen(100, score), ("cubic:c=0.2".to_owned(), 8));
        assert_eq!(chosen(100, |_| 1.0), ("cubic".to_owned(), 7));
    }
}

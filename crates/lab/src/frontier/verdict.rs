//! Which runs are collapses: a run is compared with the others of the same scenario and seed.

use std::collections::BTreeMap;
use std::fmt;

use super::family::Family;
use super::record::Record;

/// Why a run counts as a collapse.
#[derive(Debug, Clone, PartialEq)]
pub enum Collapse {
    /// It did not finish, or a connection closed.
    Unfinished(String),
    /// Messages took more than 1.5 times as long as under the best controller with a standard initial window.
    Slow {
        /// The mean time over the best controller's.
        factor: f64,
    },
    /// It used less than 0.75 of what the best controller used of the link.
    Idle {
        /// The utilization.
        utilization: f64,
        /// The best controller's.
        best: f64,
    },
    /// It lost more than 3 times what quinn-cubic lost, and more than 5 % of its packets.
    Loss {
        /// The loss.
        loss: f64,
        /// quinn-cubic's.
        reference: f64,
    },
}

/// The verdict on each record: why its run is a collapse, if it is. Runs of the same scenario and seed are compared. Where
/// quinn-cubic is not among them, loss is no reason.
pub fn judge(records: &[Record]) -> Vec<Vec<Collapse>> {
    let mut groups: BTreeMap<(Family, &str, u64), Best> = BTreeMap::new();
    for record in records {
        groups.entry(key(record)).or_default().add(record);
    }
    let verdict = |record: &Record| {
        let best = groups.get(&key(record))?;
        Some(best.judge(record))
    };
    records
        .iter()
        .map(|record| verdict(record).unwrap_or_default())
        .collect()
}

/// What the runs have in common that are compared.
pub(crate) fn key(record: &Record) -> (Family, &str, u64) {
    (record.family, record.scenario.as_str(), record.seed)
}

/// The best values of finished runs, and the loss of quinn-cubic.
#[derive(Debug, Default)]
struct Best {
    message_ms: Option<f64>,
    utilization: f64,
    reference_loss: Option<f64>,
}

impl Best {
    fn add(&mut self, record: &Record) {
        if record.controller == REFERENCE {
            self.reference_loss = Some(record.loss);
        }
        if record.unfinished.is_none() {
            self.utilization = self.utilization.max(record.utilization);
            let time = record.message_mean_ms;
            let time = time.filter(|_| record.controller != LARGE_INITIAL_WINDOW);
            self.message_ms = match (self.message_ms, time) {
                (Some(best), Some(time)) => Some(best.min(time)),
                (best, time) => best.or(time),
            };
        }
    }

    fn judge(&self, record: &Record) -> Vec<Collapse> {
        let mut reasons = Vec::new();
        if let Some(reason) = &record.unfinished {
            reasons.push(Collapse::Unfinished(reason.clone()));
        }
        if let (Some(time), Some(best)) = (record.message_mean_ms, self.message_ms) {
            let factor = time / best.max(f64::MIN_POSITIVE);
            if factor > SLOWER {
                reasons.push(Collapse::Slow { factor });
            }
        }
        // Applications with messages do not ask for the whole link.
        if record.bulk && record.utilization < MIN_USE * self.utilization {
            reasons.push(Collapse::Idle {
                utilization: record.utilization,
                best: self.utilization,
            });
        }
        if let Some(reference) = self.reference_loss
            && record.loss > MUCH_LOSS
            && record.loss > MORE_LOSS * reference
        {
            reasons.push(Collapse::Loss {
                loss: record.loss,
                reference,
            });
        }
        reasons
    }
}

impl fmt::Display for Collapse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |share: &f64| share * 100.0;
        match self {
            Self::Unfinished(reason) => f.write_str(reason),
            Self::Slow { factor } => write!(f, "{factor:.1} x the best time"),
            Self::Idle { utilization, best } => {
                let (used, best) = (percent(utilization), percent(best));
                write!(f, "uses {used:.1} %, the best {best:.1} %")
            }
            Self::Loss { loss, reference } => {
                let (loss, reference) = (percent(loss), percent(reference));
                write!(f, "loses {loss:.1} %, {REFERENCE} {reference:.1} %")
            }
        }
    }
}

/// Whose loss is compared with.
pub(super) const REFERENCE: &str = "quinn-cubic";

/// quinn's BBR starts with 200 packets, where RFC 9002 (section 7.2) has ten. A short transfer is then a matter of that window,
/// and no controller that keeps to the RFC could be as fast.
pub(crate) const LARGE_INITIAL_WINDOW: &str = "quinn-bbr";

/// A time so many times as long as the best is a collapse.
const SLOWER: f64 = 1.5;

/// A share of the best use below this is a collapse.
const MIN_USE: f64 = 0.75;

/// So many times the reference's loss is a collapse, if it is also [`MUCH_LOSS`].
const MORE_LOSS: f64 = 3.0;

/// Less loss than this is no collapse.
const MUCH_LOSS: f64 = 0.05;

#[cfg(test)]
mod tests {
    use super::super::case::Case;
    use super::super::path::Path;
    use super::super::seconds;
    use super::*;

    fn record(controller: &str, seed: u64) -> Record {
        let path = Path::constant(10.0, 40.0, 1.0);
        let case = Case::bulk(Family::Constant, "one", path, seconds(1.0));
        let mut record = Record::stopped(&case, controller, seed, &std::fmt::Error);
        record.unfinished = None;
        record.utilization = 0.96;
        record
    }

    fn verdicts(records: &[Record]) -> Vec<String> {
        let verdicts = judge(records).into_iter();
        verdicts
            .map(|reasons| {
                let reasons: Vec<String> = reasons.iter().map(ToString::to_string).collect();
                reasons.join("; ")
            })
            .collect()
    }

    #[test]
    fn idle_runs_collapse() {
        let mut records = vec![record("a", 1), record("b", 1), record("b", 2)];
        records[1].utilization = 0.72;
        assert_eq!(verdicts(&records), ["", "", ""]);
        records[1].utilization = 0.71;
        // It is the only one of its seed, and so the best.
        records[2].utilization = 0.1;
        let expected = ["", "uses 71.0 %, the best 96.0 %", ""];
        assert_eq!(verdicts(&records), expected);
    }

    #[test]
    fn unfinished_runs_collapse_and_are_not_the_best() {
        let mut records = vec![record("a", 1), record("b", 1)];
        records[0].unfinished = Some("timed out".to_owned());
        records[1].utilization = 0.3;
        assert_eq!(verdicts(&records), ["timed out", ""]);
    }

    #[test]
    fn slow_messages_collapse_whatever_the_use() {
        let mut records = vec![record("a", 1), record("b", 1), record("c", 1)];
        for (record, time) in records.iter_mut().zip([10.0, 15.0, 15.1]) {
            record.bulk = false;
            record.message_mean_ms = Some(time);
            record.utilization = 1.0 / time;
        }
        assert_eq!(verdicts(&records), ["", "", "1.5 x the best time"]);
        // A run without any message is unfinished, and nothing else.
        records[2].message_mean_ms = None;
        records[2].unfinished = Some("no message was due".to_owned());
        assert_eq!(verdicts(&records), ["", "", "no message was due"]);
    }

    #[test]
    fn a_large_initial_window_is_not_the_best_time() {
        let mut records = vec![record("quinn-bbr", 1), record("b", 1), record("c", 1)];
        for (record, time) in records.iter_mut().zip([1.0, 10.0, 16.0]) {
            record.bulk = false;
            record.message_mean_ms = Some(time);
        }
        assert_eq!(verdicts(&records), ["", "", "1.6 x the best time"]);
    }

    #[test]
    fn loss_collapses_beyond_the_reference_and_beyond_five_percent() {
        let mut records = vec![record("quinn-cubic", 1), record("b", 1)];
        for (reference, loss, collapses) in [
            (0.0, 0.05, false),
            (0.0, 0.051, true),
            (0.02, 0.06, false),
            (0.02, 0.061, true),
        ] {
            records[0].loss = reference;
            records[1].loss = loss;
            let verdict = judge(&records);
            assert_eq!(!verdict[1].is_empty(), collapses, "{reference} {loss}");
            assert!(verdict[0].is_empty());
        }
        records.remove(0);
        assert_eq!(verdicts(&records), [""]);
    }
}

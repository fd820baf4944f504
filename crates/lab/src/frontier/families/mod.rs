//! The scenarios, a file for each family.

mod acks;
mod applications;
mod aqm;
mod blackouts;
mod chromium;
mod company;
mod competition;
mod constant;
mod draft;
mod drawn;
mod hosts;
mod jitter;
mod loss;
mod picoquic;
mod policer;
mod steps;
mod traces;
mod transfers;

pub use self::traces::RecordedTrace;

use super::case::Case;

/// The suite: all cases in the order of the families. The seed makes the generated traces and draws `drawn` more scenarios; nothing
/// else depends on it.
pub fn cases(seed: u64, traces: &[RecordedTrace], drawn: u32) -> Vec<Case> {
    [
        traces::recorded(traces),
        traces::generated(seed),
        constant::cases(),
        loss::cases(),
        jitter::cases(),
        acks::cases(),
        policer::cases(),
        aqm::cases(),
        hosts::cases(),
        steps::cases(),
        blackouts::cases(),
        competition::cases(),
        company::cases(),
        transfers::cases(),
        applications::cases(),
        chromium::cases(),
        draft::cases(),
        picoquic::cases(),
        drawn::cases(drawn, seed),
    ]
    .concat()
}

/// A rate for people.
pub(crate) fn rate_name(mbps: f64) -> String {
    if mbps < 1.0 {
        format!("{}kbps", mbps * 1e3)
    } else if mbps >= 1e3 {
        format!("{}Gbps", mbps / 1e3)
    } else {
        format!("{mbps}Mbps")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::Duration;

    use super::super::Family;
    use super::*;

    #[test]
    fn the_suite_is_valid_and_its_names_are_unique() {
        let cases = cases(1, &[], 0);
        assert!((170..=200).contains(&cases.len()), "{} cases", cases.len());
        let cases = super::cases(1, &[], 200);
        let mut names = BTreeSet::new();
        for case in &cases {
            let name = format!("{}/{}", case.family, case.name);
            for link in [&case.path.forward, &case.path.reverse] {
                assert_eq!(link.validate(), Ok(()), "{name}");
            }
            let capacity = case.path.capacity(Duration::ZERO, case.duration);
            assert!(capacity.is_finite() && capacity > 0.0, "{name}");
            let base = case.path.base_rtt(Duration::ZERO, case.duration);
            assert!(base > Duration::ZERO, "{name}");
            for sender in &case.senders {
                assert!(sender.start < sender.end(), "{name}");
                assert!(sender.end() <= case.duration, "{name}");
            }
            assert!(names.insert(name.clone()), "{name} twice");
        }
        let families: BTreeSet<Family> = cases.iter().map(|case| case.family).collect();
        // Recorded traces come from the user.
        assert_eq!(families.len(), Family::ALL.len() - 1);
        assert!(cases.is_sorted_by_key(|case| case.family));
    }

    #[test]
    fn rates_have_names() {
        let names = [0.064, 2.5, 100.0, 10_000.0].map(rate_name);
        assert_eq!(names, ["64kbps", "2.5Mbps", "100Mbps", "10Gbps"]);
    }
}

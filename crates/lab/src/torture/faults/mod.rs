//! The faults, a file for each kind.

mod address;
mod blackouts;
mod blocked;
mod idle;
mod pauses;
mod policer;
mod rate;
mod route;
mod rtt;

use super::case::Case;

/// All cases, in the order of the report.
pub fn cases() -> Vec<Case> {
    [
        blackouts::cases(),
        rate::cases(),
        rtt::cases(),
        route::cases(),
        address::cases(),
        idle::cases(),
        policer::cases(),
        blocked::cases(),
        pauses::cases(),
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::torture::Fault;

    #[test]
    fn cases_are_valid_and_their_names_are_unique() {
        let cases = cases();
        let mut names = BTreeSet::new();
        for case in &cases {
            let name = format!("{}/{}", case.fault, case.name);
            for path in [&case.path, case.last_path().0] {
                for link in [&path.forward, &path.reverse] {
                    assert_eq!(link.validate(), Ok(()), "{name}");
                }
            }
            assert!(case.over < case.duration, "{name}");
            let last = case.application.last().map(|phase| phase.until);
            assert_eq!(last, Some(case.duration), "{name}");
            assert!(names.insert(name.clone()), "{name} twice");
        }
        let faults: BTreeSet<Fault> = cases.iter().map(|case| case.fault).collect();
        assert_eq!(faults.len(), Fault::ALL.len());
        assert!(cases.is_sorted_by_key(|case| case.fault));
    }
}

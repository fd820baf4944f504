//! The verdicts of the draft's example test cases for BBRv3.

use kneepoint_lab::bbr3_scenarios::{run_all, table};

/// What does not come as the draft expects, each for the reason that docs/BBR3-SCENARIOS.md gives.
///
/// 4: in Drain the window is one bandwidth-delay product, for hosts without pacing, so that nothing is sent and no round
/// passes until the flight fits.
const EXPECTED_FAILS: [u8; 1] = [4];

#[test]
fn every_scenario_has_its_verdict() {
    let outcomes = run_all().expect("every path is valid");
    println!("{}", table(&outcomes));
    let numbers: Vec<u8> = outcomes.iter().map(|outcome| outcome.number).collect();
    assert_eq!(numbers, (1..=22).collect::<Vec<_>>());
    for outcome in &outcomes {
        let expected = !EXPECTED_FAILS.contains(&outcome.number);
        assert_eq!(outcome.pass, expected, "{outcome:?}");
    }
}

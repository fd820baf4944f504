//! The example test cases of draft-ietf-ccwg-bbr ("BBR Example Test Cases"), over emulated links.
//!
//! Seventeen of the 22 run over real quinn connections. The other five ask for what quinn 0.11 has not got, pacing at the
//! controller's rate or reports of spurious losses, and run on a scripted host that has both. Either way a state is
//! reached by running there, and seen only through [`Snapshot`](kneepoint_controllers::Snapshot) and the link's log.
//!
//! A change that is to come in a certain phase takes two runs: the first tells when the phase begins, and the second is the
//! same up to then.

mod aggregation;
mod drain;
mod host;
mod path;
mod probe;
mod probe_rtt;
mod setup;
mod spurious;
mod startup;

use std::fmt::Write;

use crate::run::RunError;

/// One scenario and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Its place in the draft's appendix, from 1.
    pub number: u8,
    /// What it is about.
    pub name: &'static str,
    /// Controller, host, path and application.
    pub setup: &'static str,
    /// What the draft expects.
    pub expected: &'static str,
    /// What was seen.
    pub measured: String,
    /// Whether that is what was expected.
    pub pass: bool,
}

/// Runs all scenarios, in the draft's order.
///
/// # Errors
/// When a path cannot be emulated, or a simulation stops early.
pub fn run_all() -> Result<Vec<Outcome>, RunError> {
    SCENARIOS.iter().map(|scenario| scenario()).collect()
}

/// The outcomes as a Markdown table.
pub fn table(outcomes: &[Outcome]) -> String {
    let mut table = String::from(
        "| # | scenario | set-up | expected | measured | verdict |\n|--:|---|---|---|---|---|\n",
    );
    for outcome in outcomes {
        // Writing to a string does not fail.
        _ = writeln!(
            table,
            "| {} | {} | {} | {} | {} | {} |",
            outcome.number,
            outcome.name,
            outcome.setup,
            outcome.expected,
            outcome.measured,
            if outcome.pass { "pass" } else { "**fail**" },
        );
    }
    table
}

const SCENARIOS: [fn() -> Result<Outcome, RunError>; 22] = [
    startup::ends_on_a_plateau,
    startup::ends_on_loss,
    drain::ends_by_flight,
    drain::ends_by_time,
    probe::up_ends_on_a_plateau,
    probe::up_ends_on_loss,
    startup::stays_while_app_limited,
    drain::down_ends_by_flight,
    drain::down_ends_by_time,
    probe_rtt::in_and_out,
    probe_rtt::not_after_silence,
    aggregation::from_the_start,
    aggregation::from_cruise_on,
    path::below_a_packet,
    path::ten_times_faster,
    path::ten_times_slower,
    path::policed,
    spurious::fast_recovery,
    spurious::timeout,
    probe_rtt::in_startup,
    probe::loss_in_up_with_a_bound,
    probe::app_limited_refill,
];

//! Ten million random events for every controller with every preset:
//!
//! ```text
//! cargo test --release -p kneepoint-controllers -p kneepoint-quinn -p kneepoint-noq million -- --ignored --nocapture
//! ```

use kneepoint_testkit::events::{Adapted, NeutralPath, attack_all};

#[test]
#[ignore = "minutes, in a release build"]
fn ten_million_events_of_the_neutral_trait() {
    println!("NeutralPath: {}", attack_all::<NeutralPath>(1, 10_000_000));
}

#[test]
#[ignore = "minutes, in a release build"]
fn ten_million_events_of_the_adapter() {
    println!("Adapted: {}", attack_all::<Adapted>(2, 10_000_000));
}

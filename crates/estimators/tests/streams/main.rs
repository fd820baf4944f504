//! No stream of numbers makes an estimator panic, nor an estimate that is no number: denormals, infinities, no numbers, equal times,
//! and times that run backwards. The long run:
//!
//! ```text
//! cargo test --release -p kneepoint-estimators --test streams -- --ignored
//! ```

mod filters;

use proptest::prelude::*;

#[test]
#[ignore = "a minute, in a release build"]
fn ten_million_samples() {
    // Six words are a sample: SplitMix64 (G. Steele et al., OOPSLA 2014).
    let words = (1..=60_000_000u64).map(|index| {
        let state = index.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    });
    filters::survive(words).unwrap_or_else(|what| panic!("{what}"));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn estimates_are_numbers(words in prop::collection::vec(any::<u64>(), 1..2000)) {
        filters::survive(words).map_err(TestCaseError::fail)?;
    }
}

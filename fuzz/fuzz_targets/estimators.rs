//! Streams of numbers for every estimator.

#![no_main]

#[path = "../../crates/estimators/tests/streams/filters.rs"]
mod filters;
mod words;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    filters::survive(words::words(data)).unwrap_or_else(|what| panic!("{what}"));
});

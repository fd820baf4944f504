//! Texts for every parser: the first byte says for which.

#![no_main]

#[path = "../../crates/lab/tests/parsers/parsers.rs"]
#[expect(dead_code, reason = "the fuzzer makes its texts itself")]
mod parsers;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Some((first, text)) = data.split_first() {
        let parser = parsers::ALL[usize::from(*first) % parsers::ALL.len()];
        (parser.parse)(text);
    }
});

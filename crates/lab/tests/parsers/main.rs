//! No text makes a parser panic, take long, or take much memory. A million texts for each:
//!
//! ```text
//! cargo test --release -p kneepoint-lab --test parsers -- --ignored --nocapture
//! ```

#![cfg(unix)]

mod mutation;
mod parsers;

use allocation_counter::measure;
use nix::time::{ClockId, clock_gettime};

use self::mutation::{Random, enumerate, mutated};
use self::parsers::{ALL, Parser};

/// The memory that a text of 1 MB may take, and the time, in seconds of the processor.
const MAX_MEMORY: u64 = 64_000_000;
const MAX_TIME: f64 = 1.0;

/// The largest text in TOML that is read, in bytes.
const MAX_TOML: usize = 600 << 10;

/// Reads so many texts. Returns the most memory and time that one took.
fn read(parser: &Parser, texts: u64, max: usize) -> (u64, f64) {
    let (mut max_memory, mut max_time) = (0, 0.0f64);
    for seed in 0..texts {
        let text = mutated(parser.seeds, max, &mut Random(seed));
        let (memory, time) = cost(parser, &text);
        let what = format_args!("{}, text {seed} of {} bytes", parser.name, text.len());
        assert!(memory <= MAX_MEMORY, "{what}: {memory} bytes");
        (max_memory, max_time) = (max_memory.max(memory), max_time.max(time));
    }
    (max_memory, max_time)
}

fn cost(parser: &Parser, text: &[u8]) -> (u64, f64) {
    let begun = processor_time();
    let allocated = measure(|| (parser.parse)(text));
    (allocated.bytes_max, processor_time() - begun)
}

/// The time that this thread has had, in seconds: another process's work does not count.
fn processor_time() -> f64 {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("there is such a clock");
    time.tv_sec() as f64 + time.tv_nsec() as f64 * 1e-9
}

#[test]
fn mutated_texts_are_read_or_refused() {
    for parser in &ALL {
        read(parser, 3000, 20_000);
    }
}

/// Trap: parts that are looked up one by one, or tables of all parts with all others, are fast for the few that people write.
#[test]
#[ignore = "seconds, in a release build"]
fn a_megabyte_of_parts_takes_bounded_time_and_memory() {
    let mut broken = Vec::new();
    for parser in &ALL {
        let sizes = [1_000_000, MAX_TOML];
        let parts = sizes
            .iter()
            .flat_map(|size| parser.parts.iter().map(move |part| (size, part)));
        for (size, (head, part)) in parts {
            let parts = enumerate(part.as_bytes(), size - head.len());
            let (memory, time) = cost(parser, &[head.as_bytes(), &parts].concat());
            let what = format!("{}, {size} bytes of {head:?}, {part:?}", parser.name);
            let line = format!("{what}: {memory} bytes, {time:.3} s");
            println!("{line}");
            if memory > MAX_MEMORY || time > MAX_TIME {
                broken.push(line);
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
#[ignore = "minutes, in a release build"]
fn a_million_mutated_texts_are_read_or_refused() {
    for parser in &ALL {
        let (memory, time) = read(parser, 1_000_000, 1_000_000);
        println!("{}: at most {memory} bytes and {time:.3} s", parser.name);
        assert!(time <= MAX_TIME, "{}", parser.name);
    }
}

//! Nanoseconds per acknowledgement, through quinn's trait: every selection of ours beside quinn's own controllers.
//!
//! - `ack/<controller>/<packets in flight>`: two packets per acknowledgement, as receivers do it.
//! - `batch/<controller>/<packets per acknowledgement>`: 1000 packets in flight.
//!
//! `cargo bench --bench acks -- --quick 'ack/knee/'` runs one controller's windows, `-- --quick '/1000$'` one window of all
//! of them. docs/COST.md has the results.

mod script;

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use script::{Script, SharedFactory, Start};

fn windows(criterion: &mut Criterion) {
    let start = script::capture();
    let mut group = criterion.benchmark_group("ack");
    for (name, factory) in script::controllers() {
        for packets in [10, 100, 1000, 10_000, 100_000] {
            let id = BenchmarkId::new(&name, packets);
            group.bench_function(id, |bencher| {
                let mut script = warm(&factory, &start, packets, 2);
                bencher.iter(|| black_box(script.step()));
            });
        }
    }
    group.finish();
}

fn batches(criterion: &mut Criterion) {
    let start = script::capture();
    let mut group = criterion.benchmark_group("batch");
    for (name, factory) in script::controllers() {
        for batch in [1, 2, 8, 64] {
            group.throughput(Throughput::Elements(batch.into()));
            let id = BenchmarkId::new(&name, batch);
            group.bench_function(id, |bencher| {
                let mut script = warm(&factory, &start, 1000, batch);
                bencher.iter(|| black_box(script.step()));
            });
        }
    }
    group.finish();
}

/// Three round trips and some thousand acknowledgements later.
fn warm(factory: &SharedFactory, start: &Start, packets: u32, batch: u32) -> Script {
    let mut script = Script::new(factory, start, packets, batch);
    for _ in 0..WARM_UP.max(3 * packets / batch) {
        script.step();
    }
    script
}

/// Acknowledgements before the measurement.
const WARM_UP: u32 = 10_000;

criterion_group!(benches, windows, batches);
criterion_main!(benches);

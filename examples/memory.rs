//! The memory of a connection's controller, in bytes: itself, and with all its heap.
//!
//! ```text
//! cargo run --release --features emulator --example memory
//! ```

#![allow(clippy::print_stdout, reason = "the example's output")]

#[path = "../benches/script/mod.rs"]
mod script;

use allocation_counter::measure;
use script::Script;

fn main() {
    let start = script::capture();
    println!("{:<20}{:>8}{:>10}{:>10}", "", "new", "100", "10,000");
    for (name, factory) in script::controllers() {
        let mut new = None;
        let built = measure(|| new = Some(factory.clone().build(start.now, 1200)));
        drop(new);
        let [few, many] = [100, 10_000].map(|packets| {
            let mut script = Script::new(&factory, &start, packets, 2);
            for _ in 0..20_000u32.max(10 * packets) {
                script.step();
            }
            // A copy has room for what there is, no more: what it takes is what the original needs. It shares the history of
            // packets until it is used, and the first copy is what makes that possible.
            drop(script.controller.clone_box());
            let mut copy = None;
            let copied = measure(|| {
                let mut used = script.controller.clone_box();
                used.on_sent(start.now, 1200, 0);
                copy = Some(used);
            });
            drop(copy);
            copied.bytes_current
        });
        println!("{name:<20}{:>8}{few:>10}{many:>10}", built.bytes_current);
    }
}

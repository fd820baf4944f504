//! So many acknowledgements of one controller, for a profiler that counts instructions: two runs of different length differ
//! by the steady state alone.
//!
//! ```text
//! cargo build --release --features emulator --example steps
//! valgrind --tool=callgrind target/release/examples/steps knee 1000 20000
//! ```

#[path = "../benches/script/mod.rs"]
mod script;

use std::env;
use std::hint::black_box;

use script::Script;

/// The controller's name, the packets in flight, and how many acknowledgements.
fn main() {
    let mut arguments = env::args().skip(1);
    let name = arguments.next().expect("the name of a controller");
    let mut number = || {
        let argument = arguments.next().expect("packets in flight and steps");
        argument.parse().expect("a number")
    };
    let (packets, steps): (u32, u32) = (number(), number());
    let mut controllers = script::controllers().into_iter();
    let (_, factory) = controllers
        .find(|(known, _)| *known == name)
        .expect("a known name");
    let mut script = Script::new(&factory, &script::capture(), packets, 2);
    for _ in 0..steps {
        black_box(script.step());
    }
}

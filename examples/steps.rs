//! So many acknowledgements of one controller, for a profiler that counts instructions: two runs of different length differ
//! by the steady state alone.
//!
//! ```text
//! cargo build --release --features emulator --example steps
//! valgrind --tool=callgrind target/release/examples/steps bbr-s 1000 20000
//! valgrind --tool=callgrind target/release/examples/steps knee 1000 20000 window
//! valgrind --tool=callgrind target/release/examples/steps knee 1000 20000 window watched
//! ```

#[path = "../benches/script/mod.rs"]
mod script;

use std::env;
use std::hint::black_box;

use kneepoint::quinn::watch_bandwidth;
use script::Script;

/// The controller's name, the packets in flight, and how many acknowledgements; `window` if the window says what is in flight, `watched`
/// if somebody reads the bandwidth estimate.
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
    let options: Vec<String> = arguments.collect();
    let is_asked = |option: &str| options.iter().any(|asked| asked == option);
    let begin = if is_asked("window") {
        Script::following
    } else {
        Script::new
    };
    let mut script = begin(&factory, &script::capture(), packets, 2);
    let watch = is_asked("watched").then(|| watch_bandwidth(script.controller.clone_box()));
    for _ in 0..steps {
        black_box(script.step());
    }
    black_box(watch);
}

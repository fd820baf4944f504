//! The draft's example test cases for BBRv3, as a Markdown table.
//!
//! `cargo run --release -p kneepoint-lab --example bbr3_scenarios`

#![expect(clippy::print_stdout, reason = "what it measures is for the screen")]

use kneepoint_lab::bbr3_scenarios::{run_all, table};
use kneepoint_lab::run::RunError;

fn main() -> Result<(), RunError> {
    print!("{}", table(&run_all()?));
    Ok(())
}

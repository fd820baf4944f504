//! How far a token bucket's bursts lead bandwidth estimates astray, by controller and by the bucket's size.
//!
//! `cargo run --release -p kneepoint-lab --example token_bucket`
//!
//! Prints, for each round-trip time, the mean and the median of every controller's estimate over the time it had data in
//! flight, in Mb/s, and the mean time its packets spent in the queue. The bucket's rate is 25 Mb/s.

#![expect(clippy::print_stdout, reason = "what it measures is for the screen")]

use std::error::Error;
use std::time::Duration;

use kneepoint_lab::controllers::resolve;
use kneepoint_lab::token_bucket::{Belief, Bucket};
use rayon::prelude::*;

type AnyError = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), AnyError> {
    for rtt in RTTS.map(Duration::from_millis) {
        println!(
            "RTT {} ms: mean / median of the estimate in Mb/s, mean queueing delay",
            rtt.as_millis()
        );
        println!();
        print!("| controller |");
        for burst in BURSTS {
            print!(" {} KB |", burst / 1000);
        }
        println!("\n|---|{}", "---|".repeat(BURSTS.len()));
        let rows = CONTROLLERS
            .par_iter()
            .map(|name| row(name, rtt))
            .collect::<Result<Vec<_>, AnyError>>()?;
        for row in rows {
            println!("{row}");
        }
        println!();
    }
    Ok(())
}

fn row(name: &str, rtt: Duration) -> Result<String, AnyError> {
    let mut row = format!("| {name} |");
    for burst in BURSTS {
        let series = Bucket { burst, rtt }.watch(&resolve(name, 1)?)?;
        let belief = Belief::of(&series).ok_or("no estimate")?;
        row += &format!(
            " {:.1} / {:.1}, {:.0} ms |",
            belief.mean, belief.median, belief.queue_delay
        );
    }
    Ok(row)
}

const RTTS: [u64; 2] = [100, 10];

/// In bytes: the range of the paper (BBR-Sampled, section 3.1).
const BURSTS: [u64; 4] = [8_000, 100_000, 1_000_000, 2_000_000];

const CONTROLLERS: [&str; 9] = [
    "bbr",
    "bbr:tuned",
    "bbr-sampled",
    "bbr-sampled:paper",
    "bbr2",
    "bbr2-sampled",
    "bbr2-sampled:paper",
    "bbr3",
    "bbr-s",
];

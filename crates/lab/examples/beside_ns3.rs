//! One controller over recorded or generated traces, second by second, for comparison with ns-3's TCP over the same.
//!
//! `cargo run --release -p kneepoint-lab --example beside_ns3 -- CONTROLLER TRACE...`
//!
//! 60 s, 20 ms each way, 3 MB of drop-tail queue. `docs/ns3_trace_link.cc` prints the same columns of ns-3. Both count the queueing
//! delay of every packet that the link served; ns-3's round-trip times are too few to compare, because while it recovers
//! from a loss it times nothing, and then its queue is longest.

#![expect(clippy::print_stdout, reason = "what it measures is for the screen")]

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use kneepoint_emulator::trace::Trace;
use kneepoint_lab::controllers::resolve;
use kneepoint_lab::metrics::stats;
use kneepoint_lab::scenario::{Link, Scenario};
use kneepoint_lab::trial::{FlowPlan, Trial};
use kneepoint_lab::watch::TimeSeries;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let controller = arguments.next().ok_or("which controller?")?;
    for file in arguments {
        let name = Path::new(&file).file_stem().unwrap_or_default();
        let link = Link::trace(name.to_string_lossy(), Trace::load(&file)?);
        let scenario = Scenario::bulk(link, END);
        let flow = FlowPlan::greedy(resolve(&controller, 1)?, Duration::ZERO, END);
        let series = TimeSeries::of(&Trial {
            interval: Some(Duration::from_millis(100)),
            ..Trial::new(scenario.topology(), vec![flow], END)
        })?;
        report(&controller, scenario.link.name(), &series);
    }
    Ok(())
}

fn report(controller: &str, link: &str, series: &TimeSeries) {
    let all = series.link.queue_delays(Duration::ZERO, END);
    let milliseconds = |nanos: Option<u64>| nanos.unwrap_or(0) as f64 / 1e6;
    println!(
        "{controller} over {link}: {:.2} Mb/s on the wire; queueing delay mean {:.0} ms, p95 {:.0}, p99 {:.0}; {} dropped",
        series.rate(Duration::ZERO, END).bytes_per_second() as f64 / 125_000.0,
        stats::mean(&all).unwrap_or(0.0) / 1e6,
        milliseconds(stats::percentile(&all, 0.95)),
        milliseconds(stats::percentile(&all, 0.99)),
        series.dropped(Duration::ZERO, END).1,
    );
    println!("| until s | mean queueing delay ms | least ms | cwnd kB | dropped |");
    println!("|---|---|---|---|---|");
    let mut from = Duration::ZERO;
    while from < END {
        let to = from + STRETCH;
        let delays = series.link.queue_delays(from, to);
        println!(
            "| {} | {:.0} | {:.0} | {} | {} |",
            to.as_secs(),
            stats::mean(&delays).unwrap_or(0.0) / 1e6,
            milliseconds(delays.first().copied()),
            series
                .at(to)
                .map_or(0, |now| now.congestion_window.0 / 1000),
            series.dropped(from, to).1,
        );
        from = to;
    }
}

const END: Duration = Duration::from_secs(60);

const STRETCH: Duration = Duration::from_secs(5);

//! Several rates and controllers, in real time and in virtual time.

use std::error::Error;
use std::time::Duration;

use kneepoint_emulator::host::HostConfig;
use kneepoint_lab::units::{QueueSize, Rate, parse_time};

use crate::{Outcome, Scenario, real, simulated};

/// Runs and prints all of them.
#[expect(clippy::print_stdout, reason = "it is what the example is for")]
pub(crate) fn run(mut arguments: impl Iterator<Item = String>) -> Result<(), Box<dyn Error>> {
    let mut next = |default: &str| arguments.next().unwrap_or_else(|| default.to_owned());
    let delay = parse_time(&next("10ms"))?;
    let duration = parse_time(&next("10s"))?;
    let host = HostConfig::named(&next("server"))?;
    let busy = next("sleep") == "busy";
    println!("{}", HEADER.join("\n"));
    for rate in RATES {
        for controller in CONTROLLERS {
            let rate: Rate = rate.parse()?;
            let scenario = Scenario {
                rate,
                delay,
                queue: bandwidth_delay_product(rate, delay * 2),
                duration,
                controller: controller.to_owned(),
                host: host.clone(),
                busy,
            };
            let (real, relay) = real::run(&scenario)?;
            let simulated = simulated::run(&scenario)?;
            let late = relay.up.lateness.p99.0 / 1000;
            println!("{} {late:>9}", line(&scenario, &real, &simulated));
        }
    }
    Ok(())
}

fn bandwidth_delay_product(rate: Rate, rtt: Duration) -> QueueSize {
    let bytes = rate.bits_per_second() as f64 / 8.0 * rtt.as_secs_f64();
    QueueSize::Bytes((bytes as u64).max(SMALLEST_QUEUE))
}

fn line(scenario: &Scenario, real: &Outcome, simulated: &Outcome) -> String {
    let (goodput, of) = (real.goodput(scenario), simulated.goodput(scenario));
    let (queueing, than) = (real.mean_queueing(), simulated.mean_queueing());
    let difference = |real: f64, simulated: f64| (real / simulated - 1.0) * 100.0;
    let (rate, controller) = (scenario.rate.to_string(), &scenario.controller);
    format!(
        "{rate:<8} {controller:<12} {goodput:>9.2} {of:>9.2} {:>+8.1} {queueing:>9.3} {than:>9.3} {:>+8.1} {:>7} {:>7}",
        difference(goodput, of),
        difference(queueing, than),
        real.dropped,
        simulated.dropped,
    )
}

const RATES: [&str; 3] = ["10Mbps", "100Mbps", "1Gbps"];

const CONTROLLERS: [&str; 3] = ["quinn-cubic", "knee", "bbr3"];

/// Bytes of some packets.
const SMALLEST_QUEUE: u64 = 15_000;

const HEADER: [&str; 2] = [
    "                      goodput Mb/s                 mean queueing ms             dropped         relay's",
    "rate     controller        real   virtual  diff. %      real   virtual  diff. %    real virtual  p99 us late",
];

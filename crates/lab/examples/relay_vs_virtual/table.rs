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
    let runs: u64 = next("7").parse()?;
    let rates = next(RATES);
    let busy = next("sleep") == "busy";
    let mut cells = Vec::new();
    for rate in rates.split(',') {
        for controller in CONTROLLERS {
            let rate: Rate = rate.parse()?;
            cells.push(Cell::new(Scenario {
                rate,
                delay,
                queue: bandwidth_delay_product(rate, delay * 2),
                duration,
                controller: controller.to_owned(),
                host: host.clone(),
                busy,
            }));
        }
    }
    // In turns: what the machine does meanwhile is in all of them.
    for seed in 1..=runs {
        for cell in &mut cells {
            cell.run_in_real_time(seed)?;
        }
    }
    println!("{}", HEADER.join("\n"));
    for mut cell in cells {
        cell.simulate(runs)?;
        println!("{}", cell.line());
    }
    Ok(())
}

fn bandwidth_delay_product(rate: Rate, rtt: Duration) -> QueueSize {
    let bytes = rate.bits_per_second() as f64 / 8.0 * rtt.as_secs_f64();
    QueueSize::Bytes((bytes as u64).max(SMALLEST_QUEUE))
}

/// A scenario and its runs.
struct Cell {
    scenario: Scenario,
    real: Vec<Outcome>,
    simulated: Vec<Outcome>,
    /// The relay's 99th percentiles of lateness, us.
    lateness: Vec<f64>,
}

impl Cell {
    const fn new(scenario: Scenario) -> Self {
        Self {
            scenario,
            real: Vec::new(),
            simulated: Vec::new(),
            lateness: Vec::new(),
        }
    }

    fn run_in_real_time(&mut self, seed: u64) -> Result<(), Box<dyn Error>> {
        let (outcome, relay) = real::run(&self.scenario, seed)?;
        self.real.push(outcome);
        self.lateness.push(relay.up.lateness.p99.0 as f64 / 1e3);
        Ok(())
    }

    fn simulate(&mut self, seeds: u64) -> Result<(), Box<dyn Error>> {
        for seed in 1..=seeds {
            self.simulated.push(simulated::run(&self.scenario, seed)?);
        }
        Ok(())
    }

    fn line(&self) -> String {
        let of = |outcomes: &[Outcome], figure: &dyn Fn(&Outcome) -> f64| {
            Spread::of(outcomes.iter().map(figure).collect())
        };
        let goodput = |outcome: &Outcome| outcome.goodput(&self.scenario);
        let [real, simulated] = [&self.real, &self.simulated];
        let (rate, controller) = (self.scenario.rate.to_string(), &self.scenario.controller);
        let carried = [of(real, &goodput).median, of(simulated, &goodput).median];
        let waits = [real, simulated].map(|outcomes| of(outcomes, &Outcome::mean_queueing));
        let [waited, than] = waits.each_ref().map(|wait| wait.median);
        let dropped = |outcome: &Outcome| outcome.dropped as f64;
        let [lost, also] = [real, simulated].map(|outcomes| of(outcomes, &dropped).median);
        let late = Spread::of(self.lateness.clone()).median;
        let [ours, theirs] = waits.map(|wait| wait.ends());
        format!(
            "{rate:<8} {controller:<12} {:>9.2} {:>9.2} {:>+8.1} {waited:>8.2} {ours:<13} {than:>8.2} {theirs:<13} {:>+8.1} {lost:>7.0} {also:>7.0} {late:>9.0}",
            carried[0],
            carried[1],
            difference(carried[0], carried[1]),
            difference(waited, than),
        )
    }
}

/// In percent.
fn difference(real: f64, simulated: f64) -> f64 {
    (real / simulated - 1.0) * 100.0
}

/// A figure of several runs.
struct Spread {
    least: f64,
    median: f64,
    most: f64,
}

impl Spread {
    fn of(mut figures: Vec<f64>) -> Self {
        figures.sort_by(f64::total_cmp);
        let at = |index: usize| figures.get(index).copied().unwrap_or(f64::NAN);
        let last = figures.len().saturating_sub(1);
        Self {
            least: at(0),
            median: (at(last / 2) + at(last.div_ceil(2))) / 2.0,
            most: at(last),
        }
    }

    fn ends(&self) -> String {
        format!("{:.2}-{:.2}", self.least, self.most)
    }
}

const RATES: &str = "10Mbps,100Mbps,1Gbps";

const CONTROLLERS: [&str; 4] = ["quinn-cubic", "knee", "bbr-s", "bbr3"];

/// Bytes of some packets.
const SMALLEST_QUEUE: u64 = 15_000;

const HEADER: [&str; 2] = [
    "                      goodput Mb/s                 mean queueing ms                                      dropped         relay's",
    "rate     controller        real   virtual  diff. %     real least-most      virtual least-most     diff. %    real virtual  p99 us late",
];

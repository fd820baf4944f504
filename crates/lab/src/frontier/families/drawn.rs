//! Scenarios that a seed draws: what the other families fix is drawn here, and their difficulties meet.

use kneepoint_emulator::host::HostConfig;
use kneepoint_emulator::link::{Limit, Queue, RateStep, Shaper};
use rand::RngExt;
use rand_pcg::Pcg64;

use super::rate_name;
use crate::frontier::case::Sender;
use crate::frontier::path::{bytes_per_second, rate};
use crate::frontier::{Case, Family, Path, seconds};
use crate::workload::Workload;

/// So many scenarios. The same seed and number draw the same one, however many there are.
pub(super) fn cases(count: u32, seed: u64) -> Vec<Case> {
    (1..=count).map(|number| case(number, seed)).collect()
}

fn case(number: u32, seed: u64) -> Case {
    let mut random = Pcg64::new(u128::from(seed), u128::from(number));
    let drawn = Drawn::new(&mut random);
    let first = Difficulty::draw(&mut random);
    // Every third scenario has two difficulties.
    let second = random
        .random_bool(1.0 / 3.0)
        .then(|| Difficulty::draw(&mut random))
        .filter(|second| second.part() != first.part());
    let mut names = vec![drawn.name()];
    let mut case = Case::bulk(
        Family::Drawn,
        String::new(),
        drawn.path(),
        seconds(drawn.duration),
    );
    for difficulty in [Some(first), second].into_iter().flatten() {
        let name;
        (case, name) = difficulty.add_to(case, &drawn, &mut random);
        names.extend(name);
    }
    case.name = format!("{number}: {}", names.join(", "));
    case
}

/// A constant link.
#[derive(Debug, Clone, Copy)]
struct Drawn {
    mbps: f64,
    rtt_ms: f64,
    bdps: f64,
    /// In seconds.
    duration: f64,
}

impl Drawn {
    fn new(random: &mut Pcg64) -> Self {
        let rtt_ms = rounded(log_uniform(random, 0.5, 400.0));
        // Fast and long links at once would carry too much.
        let least = (ROUND_TRIPS * rtt_ms / 1e3).max(3.0);
        let most_mbps = 8.0 * MOST_BYTES / 1e6 / least;
        let mbps = rounded(log_uniform(random, 0.3, most_mbps.min(1000.0)));
        let duration = (10.0 * least).min(8.0 * MOST_BYTES / 1e6 / mbps);
        Self {
            mbps,
            rtt_ms,
            bdps: rounded(log_uniform(random, 0.3, 8.0)),
            duration: rounded(duration.clamp(least, 40.0)),
        }
    }

    fn path(&self) -> Path {
        Path::constant(self.mbps, self.rtt_ms, self.bdps)
    }

    fn name(&self) -> String {
        let Self { rtt_ms, bdps, .. } = self;
        format!("{} {rtt_ms}ms {bdps}bdp", rate_name(self.mbps))
    }
}

/// A part of a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Data,
    Rate,
    Delay,
    Acks,
    Hosts,
    Flows,
}

/// What a scenario adds to a constant link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Difficulty {
    None,
    RandomLoss,
    Jitter,
    AckBatches,
    DataBatches,
    SlowAcks,
    RateStep,
    RttStep,
    Stop,
    Policer,
    Host,
    Company,
    Competition,
    Pauses,
}

impl Difficulty {
    const ALL: [Self; 14] = [
        Self::None,
        Self::RandomLoss,
        Self::Jitter,
        Self::AckBatches,
        Self::DataBatches,
        Self::SlowAcks,
        Self::RateStep,
        Self::RttStep,
        Self::Stop,
        Self::Policer,
        Self::Host,
        Self::Company,
        Self::Competition,
        Self::Pauses,
    ];

    /// What it changes: one of each can be had.
    const fn part(self) -> Part {
        match self {
            Self::None | Self::RandomLoss | Self::DataBatches | Self::Policer => Part::Data,
            Self::RateStep | Self::Stop => Part::Rate,
            Self::Jitter | Self::RttStep => Part::Delay,
            Self::AckBatches | Self::SlowAcks => Part::Acks,
            Self::Host => Part::Hosts,
            Self::Company | Self::Competition | Self::Pauses => Part::Flows,
        }
    }

    fn draw(random: &mut Pcg64) -> Self {
        Self::ALL[random.random_range(0..Self::ALL.len())]
    }

    /// The case with this difficulty, and its name.
    fn add_to(self, mut case: Case, drawn: &Drawn, random: &mut Pcg64) -> (Case, Option<String>) {
        let Drawn {
            mbps,
            rtt_ms,
            duration,
            ..
        } = *drawn;
        let path = case.path.clone();
        let middle = rounded(duration * random.random_range(0.25..0.5));
        let name = match self {
            Self::None => return (case, None),
            Self::RandomLoss => {
                let percent = rounded(log_uniform(random, 0.01, 2.0));
                case.path = path.loss(percent / 100.0);
                format!("{percent}% lost")
            }
            Self::Jitter => {
                let most = rounded(rtt_ms * log_uniform(random, 0.02, 1.0)).min(30.0);
                let reordering = random.random_bool(0.2);
                case.path = path.jitter(most, reordering);
                let reordered = if reordering { " reordered" } else { "" };
                format!("jitter 0-{most}ms{reordered}")
            }
            Self::AckBatches => {
                let interval = rounded(rtt_ms * log_uniform(random, 0.1, 2.0)).max(1.0);
                case.path = path.ack_batches(interval);
                format!("ACKs every {interval}ms")
            }
            Self::DataBatches => {
                let interval = rounded(rtt_ms * log_uniform(random, 0.1, 1.0)).clamp(1.0, 20.0);
                case.path = path.data_batches(interval);
                format!("data every {interval}ms")
            }
            Self::SlowAcks => {
                // One packet of 80 bytes for two of 1500 is 1/37.
                let share = rounded(log_uniform(random, 0.015, 0.1));
                case.path = path.way_back(|link| {
                    link.shaper = rate(share * mbps);
                    link.queue = Queue::DropTail(Limit::packets(50));
                });
                format!("{share} of the rate for ACKs")
            }
            Self::RateStep => {
                let to = rounded((mbps * log_uniform(random, 0.1, 10.0)).min(1000.0));
                let steps = [(0.0, mbps), (middle, to)].map(|(from, mbps)| RateStep {
                    from: seconds(from).into(),
                    bytes_per_second: bytes_per_second(mbps),
                });
                case.path.forward.shaper = Shaper::Schedule(steps.to_vec());
                format!("{} from {middle}s on", rate_name(to))
            }
            Self::RttStep => {
                let to = rounded((rtt_ms * log_uniform(random, 0.2, 5.0)).clamp(0.5, 400.0));
                case.path = path.rtt_steps(&[(0.0, rtt_ms), (middle, to)]);
                format!("{to}ms from {middle}s on")
            }
            Self::Stop => {
                let span = rounded(log_uniform(random, 0.1, 1.0).min(0.1 * duration));
                let steps =
                    [(0.0, mbps), (middle, 0.0), (middle + span, mbps)].map(|(from, mbps)| {
                        RateStep {
                            from: seconds(from).into(),
                            bytes_per_second: (mbps * 125_000.0) as u64,
                        }
                    });
                case.path.forward.shaper = Shaper::Schedule(steps.to_vec());
                format!("stops for {span}s")
            }
            Self::Policer => {
                let share = rounded(random.random_range(0.3..0.9));
                let burst = rounded(log_uniform(random, 10.0, 200.0));
                let bytes = (burst * 1e-3 * mbps * 125_000.0) as u64;
                case.path = path.policer(share * mbps, bytes.max(20_000));
                format!("policer of {share}")
            }
            Self::Host => {
                let names = ["server", "busy", "phone"];
                let name = names[random.random_range(0..names.len())];
                let Ok(host) = HostConfig::preset(name) else {
                    return (case, None);
                };
                case.host = host;
                name.to_owned()
            }
            Self::Company => {
                let flows = random.random_range(2_u32..=5);
                let gap =
                    rounded(0.5 * duration / f64::from(flows) * random.random_range(0.0..1.0));
                case.senders = (0..flows)
                    .map(|index| Sender::bulk(seconds(gap * f64::from(index)), case.duration))
                    .collect();
                format!("{flows} flows {gap}s apart")
            }
            Self::Competition => {
                let names = ["quinn-cubic", "bbr3", "new-reno"];
                let other = names[random.random_range(0..names.len())];
                case.senders = vec![
                    Sender::bulk(seconds(0.0), case.duration).under(other),
                    Sender::bulk(seconds(rounded(0.1 * duration)), case.duration),
                ];
                format!("beside {other}")
            }
            Self::Pauses => {
                let on = rounded(log_uniform(random, 0.1, 1.0) * 0.2 * duration);
                let off = rounded(log_uniform(random, 0.1, 1.0) * 0.2 * duration);
                let workload = Workload::OnOff {
                    on: seconds(on),
                    off: seconds(off),
                };
                let phases = workload.phases(seconds(0.0), case.duration);
                case.senders = vec![Sender::doing(phases)];
                format!("on {on}s off {off}s")
            }
        };
        (case, Some(name))
    }
}

/// Uniform in the logarithm.
fn log_uniform(random: &mut Pcg64, from: f64, to: f64) -> f64 {
    random.random_range(from.ln()..to.ln()).exp()
}

/// Two digits: what a name says is what runs.
fn rounded(value: f64) -> f64 {
    format!("{value:.1e}").parse().unwrap_or(value)
}

/// What a run carries at most, about.
const MOST_BYTES: f64 = 150e6;

/// No run is shorter.
const ROUND_TRIPS: f64 = 60.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_digits_are_left() {
        let values = [0.000_123, 0.0555, 1.0, 12.34, 987.6].map(rounded);
        assert_eq!(values, [0.000_12, 0.056, 1.0, 12.0, 990.0]);
    }

    #[test]
    fn a_number_draws_the_same_scenario_however_many_there_are() {
        let (few, many) = (cases(3, 7), cases(60, 7));
        for (few, many) in few.iter().zip(&many) {
            assert_eq!((&few.name, &few.path), (&many.name, &many.path));
        }
        let other = cases(3, 8);
        assert_ne!(few[0].name, other[0].name);
        // Every difficulty is there.
        for part in [
            "lost",
            "jitter",
            "ACKs every",
            "data every",
            "for ACKs",
            "bps from",
            "ms from",
            "stops",
            "policer",
            "server",
            "flows",
            "beside",
            "off",
        ] {
            assert!(many.iter().any(|case| case.name.contains(part)), "{part}");
        }
    }
}

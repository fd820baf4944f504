//! The links that the options describe.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use kneepoint_emulator::link::{
    Delay, Jitter, LinkConfig, MAHIMAHI_OVERHEAD, Shaper, UDP_IPV4_OVERHEAD, UDP_IPV6_OVERHEAD,
};
use kneepoint_emulator::network::{Direction, Duplex};
use kneepoint_emulator::time::Nanos;

use crate::aqm::{Aqm, Endless};
use crate::cli::error::CliError;
use crate::cli::options::{Capacity, QUEUE, parse_bytes, parse_queue};
use crate::link_file::{LinkFile, LinkFileError};
use crate::units::{QueueSize, Rate, parse_moment, parse_probability, parse_time};

/// The options of both links. What is said of one direction holds there instead of what is said of both.
#[derive(Debug, Args)]
pub(super) struct LinkOptions {
    /// Take both links from this TOML file: `forward` leads to the clients, `reverse` to the server (docs/LINKS.md)
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = [
            "aqm", "ecn", "jitter", "up", "down", "rtt", "delay", "up_delay", "down_delay", "queue", "up_queue", "down_queue", "loss", "up_loss", "down_loss",
        ]
    )]
    link: Option<PathBuf>,

    /// Turn the file's links around: `forward` leads to the server
    #[arg(long, requires = "link")]
    flip: bool,

    /// Capacity from the clients to the server: a mahimahi trace, or a rate such as 10Mbps [default: unlimited]
    #[arg(long, value_name = "FILE|RATE", allow_hyphen_values = true)]
    up: Option<Capacity>,

    /// Capacity from the server to the clients
    #[arg(long, value_name = "FILE|RATE", allow_hyphen_values = true)]
    down: Option<Capacity>,

    /// Round-trip time of the empty path, half of it in each direction: 40ms, 1.5s
    #[arg(
        long,
        value_name = "TIME",
        allow_hyphen_values = true,
        value_parser = parse_time,
        conflicts_with_all = ["delay", "up_delay", "down_delay"]
    )]
    rtt: Option<Duration>,

    /// Propagation delay, in each direction: 20ms, 1.5s [default: none]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = parse_time)]
    delay: Option<Duration>,

    /// Propagation delay from the clients to the server [default: --delay]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = parse_time)]
    up_delay: Option<Duration>,

    /// Propagation delay from the server to the clients [default: --delay]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = parse_time)]
    down_delay: Option<Duration>,

    /// Delay each packet of both directions by up to this much more, without reordering
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, default_value = "0s", value_parser = parse_moment)]
    jitter: Duration,

    /// Manage both queues: codel, fq-codel, pie or red
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    aqm: Option<Aqm>,

    /// Mark ECN-capable packets instead of dropping them
    #[arg(long, requires = "aqm")]
    ecn: bool,

    /// Size of the queue of each direction, drop-tail unless --aqm: 3MB (10^6 bytes), 3MiB, 100p (packets) or inf
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, default_value = QUEUE, value_parser = parse_queue)]
    queue: QueueSize,

    /// Size of the queue towards the server [default: --queue]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = parse_queue)]
    up_queue: Option<QueueSize>,

    /// Size of the queue towards the clients [default: --queue]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = parse_queue)]
    down_queue: Option<QueueSize>,

    /// Probability of random loss in each direction: 0.01 or 1%
    #[arg(long, value_name = "P", allow_hyphen_values = true, default_value = "0", value_parser = parse_probability)]
    loss: f64,

    /// Probability of loss on the way to the server [default: --loss]
    #[arg(long, value_name = "P", allow_hyphen_values = true, value_parser = parse_probability)]
    up_loss: Option<f64>,

    /// Probability of loss on the way to the clients [default: --loss]
    #[arg(long, value_name = "P", allow_hyphen_values = true, value_parser = parse_probability)]
    down_loss: Option<f64>,
}

/// Both links.
#[derive(Debug, PartialEq)]
pub(super) struct Links {
    /// From the clients to the server.
    pub(super) up: LinkConfig,
    /// From the server to the clients.
    pub(super) down: LinkConfig,
    /// The seed of the file that they come from, if it names one.
    pub(super) seed: Option<u64>,
}

impl LinkOptions {
    /// The links between addresses of the family of `listen`.
    pub(super) fn links(&self, listen: SocketAddr) -> Result<Links, CliError> {
        let Some(path) = &self.link else {
            let link = |direction| {
                let link = self.link_of(direction, listen);
                link.map_err(|error| CliError::input("--aqm", error))
            };
            return Ok(Links {
                up: link(Direction::Reverse)?,
                down: link(Direction::Forward)?,
                seed: None,
            });
        };
        let loaded = LinkFile::load_duplex(path);
        let (Duplex { forward, reverse }, seed) = loaded.map_err(|error| match error {
            LinkFileError::Unfit { .. } => {
                CliError::input("--link", format_args!("{error}: {ONLY_TWO}"))
            }
            error => CliError::input("--link", error),
        })?;
        let (up, down) = if self.flip {
            (forward, reverse)
        } else {
            (reverse, forward)
        };
        Ok(Links { up, down, seed })
    }

    /// The link of a direction, between addresses of the family of `listen`: forward is down, as in files.
    fn link_of(&self, direction: Direction, listen: SocketAddr) -> Result<LinkConfig, Endless> {
        let (capacity, queue, delay, loss) = match direction {
            Direction::Reverse => (&self.up, self.up_queue, self.up_delay, self.up_loss),
            Direction::Forward => (&self.down, self.down_queue, self.down_delay, self.down_loss),
        };
        let queue = queue.unwrap_or(self.queue);
        let managed = self.aqm.map(|aqm| aqm.queue(queue, self.ecn));
        let half = self.rtt.map(|rtt| rtt / 2);
        let delay = Nanos::from(delay.or(self.delay).or(half).unwrap_or_default());
        let base = link(capacity.as_ref(), listen);
        Ok(LinkConfig {
            queue: managed.unwrap_or(Ok(queue.into()))?,
            delay: match Nanos::from(self.jitter) {
                Nanos::ZERO => delay.into(),
                most => Delay::Jittered {
                    jitter: Jitter::Uniform {
                        from: delay,
                        to: delay + most,
                    },
                    reordering: false,
                },
            },
            loss: loss.unwrap_or(self.loss).into(),
            ..base
        })
    }
}

/// A link of this capacity and nothing else.
fn link(capacity: Option<&Capacity>, listen: SocketAddr) -> LinkConfig {
    let headers = match listen.ip().to_canonical() {
        std::net::IpAddr::V4(_) => UDP_IPV4_OVERHEAD,
        std::net::IpAddr::V6(_) => UDP_IPV6_OVERHEAD,
    };
    let (shaper, overhead) = match capacity {
        Some(Capacity::Trace(trace)) => {
            let framing = MAHIMAHI_OVERHEAD - UDP_IPV4_OVERHEAD;
            (Shaper::Trace(trace.clone()), headers + framing)
        }
        Some(Capacity::Rate(rate)) => (constant(*rate), headers),
        None => (Shaper::Unlimited, headers),
    };
    LinkConfig {
        overhead,
        ..LinkConfig::new(shaper)
    }
}

fn constant(rate: Rate) -> Shaper {
    Shaper::ConstantRate {
        bytes_per_second: (rate.bits_per_second() / 8).max(1),
    }
}

/// Why a file that `compare` takes is refused.
const ONLY_TWO: &str = "the relay emulates nothing else, `compare --link` does";

/// Reads a positive number of bytes.
pub(super) fn parse_memory(text: &str) -> Result<u64, String> {
    parse_bytes(text, u64::MAX, ", such as 256MiB")
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use kneepoint_emulator::link::{Limit, Queue};
    use kneepoint_emulator::trace::Trace;

    use super::*;

    #[test]
    fn packets_are_as_large_as_they_are_on_their_wire() {
        let trace = Capacity::Trace(Trace::from_millis(vec![1], "t").unwrap());
        let overhead = |capacity, listen: &str| {
            let listen = listen.parse().unwrap();
            link(capacity, listen).overhead
        };
        assert_eq!(overhead(None, "127.0.0.1:1"), 28);
        assert_eq!(overhead(None, "[::1]:1"), 48);
        assert_eq!(overhead(Some(&trace), "127.0.0.1:1"), 32);
        assert_eq!(overhead(Some(&trace), "[::1]:1"), 52);
    }

    #[derive(Debug, Parser)]
    struct Command {
        #[command(flatten)]
        links: LinkOptions,
    }

    /// The links up and down that options describe.
    fn links(options: &str) -> [LinkConfig; 2] {
        let words = std::iter::once("relay").chain(options.split_whitespace());
        let Command { links } = Command::try_parse_from(words).unwrap();
        let listen = "127.0.0.1:1".parse().unwrap();
        let Links { up, down, .. } = links.links(listen).unwrap();
        [up, down]
    }

    #[test]
    fn the_options_reach_both_links() {
        for link in links("--delay 5ms --queue 7p --loss 25%") {
            assert_eq!(link.queue, Queue::DropTail(Limit::packets(7)));
            assert_eq!(link.delay, Nanos::from_millis(5).into());
            assert_eq!(link.loss, 0.25.into());
            assert_eq!(link.validate(), Ok(()));
        }
        let [up, down] = links("");
        assert_eq!(up, down);
        assert_eq!(up.queue, Queue::DropTail(Limit::bytes(3_000_000)));
        assert_eq!(up.delay, Nanos::ZERO.into());
        assert_eq!(up.loss, 0.0.into());
    }

    #[test]
    fn options_of_one_direction_apply_to_it() {
        let [plain, _] = links("");
        for (option, value) in [("delay", "5ms"), ("queue", "7p"), ("loss", "1%")] {
            let [changed, _] = links(&format!("--{option} {value}"));
            assert_ne!(changed, plain, "{option}");
            let one = |direction| links(&format!("--{direction}-{option} {value}"));
            assert_eq!(one("up"), [changed.clone(), plain.clone()], "{option}");
            assert_eq!(one("down"), [plain.clone(), changed.clone()], "{option}");
        }
        let [up, down] =
            links("--delay 5ms --up-delay 1ms --loss 1 --down-loss 0 --queue inf --up-queue 2MB");
        assert_eq!(up.delay, Nanos::from_millis(1).into());
        assert_eq!(down.delay, Nanos::from_millis(5).into());
        assert_eq!([up.loss, down.loss], [1.0.into(), 0.0.into()]);
        assert_eq!(up.queue, Queue::DropTail(Limit::bytes(2_000_000)));
        assert_eq!(down.queue, Queue::Infinite);
        let [up, down] = links("--up 10Mbps --down 20Mbps");
        assert_eq!(up.shaper, constant("10Mbps".parse().unwrap()));
        assert_eq!(down.shaper, constant("20Mbps".parse().unwrap()));
    }

    #[test]
    fn a_round_trip_is_half_in_each_direction() {
        assert_eq!(links("--rtt 41ms"), links("--delay 20.5ms"));
        for other in [
            "--delay 1ms",
            "--up-delay 1ms",
            "--down-delay 1ms",
            "--link x.toml",
        ] {
            let words = format!("relay --rtt 40ms {other}");
            let error = Command::try_parse_from(words.split(' ')).unwrap_err();
            assert_eq!(
                error.kind(),
                clap::error::ErrorKind::ArgumentConflict,
                "{other}"
            );
        }
    }

    #[test]
    fn queues_are_managed_and_delays_vary() {
        for link in links("--aqm codel --ecn --queue 7p --delay 5ms --jitter 2ms") {
            let Queue::CoDel(codel) = link.queue else {
                panic!("{link:?}");
            };
            assert!(codel.ecn);
            assert_eq!(codel.limit, Some(Limit::packets(7)));
            let jitter = Jitter::Uniform {
                from: Nanos::from_millis(5),
                to: Nanos::from_millis(7),
            };
            let reordering = false;
            assert_eq!(link.delay, Delay::Jittered { jitter, reordering });
        }
    }

    #[test]
    fn memory_is_in_bytes() {
        assert_eq!(parse_memory("2MiB"), Ok(2 << 20));
        for bad in ["inf", "5p", "0B", "x"] {
            assert!(parse_memory(bad).is_err(), "{bad}");
        }
    }
}

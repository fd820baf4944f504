//! Transfers over many paths: which ones arrive whole.

use std::time::Duration;

use kneepoint_emulator::network::Topology;
use serde::{Deserialize, Serialize};

use super::SEED;
use crate::controllers::candidate;
use crate::frontier::{FrontierError, Path, rate_name, seconds};
use crate::metrics::stats::rounded;
use crate::output::table::table;
use crate::stack::Windows;
use crate::sweep::{self, Key, Part};
use crate::trial::{FlowPlan, LIMITS, Trial};
use crate::workload::Load;

/// A path and a transfer over it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Transfer {
    /// The link's rate.
    pub mbps: f64,
    /// The empty path's round-trip time.
    pub rtt_ms: f64,
    /// The drop-tail buffer in bandwidth-delay products.
    pub bdps: f64,
    /// Over how many streams the bytes are spread.
    pub streams: u32,
    /// Whether flow control never limits the sender.
    pub large: bool,
}

/// What became of a transfer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Arrival {
    /// The path.
    pub scenario: String,
    /// The controller.
    pub controller: String,
    /// Whether flow control never limited the sender.
    pub large: bool,
    /// What was to arrive, in bytes.
    pub bytes: u64,
    /// When all of it had arrived, in milliseconds; `None` if not all did.
    pub done_ms: Option<f64>,
    /// The packets that the link dropped, as a share of those that it was offered.
    pub loss: f64,
    /// Why the connection closed, if it did.
    pub closed: Option<String>,
}

/// All paths, with each stack's flow control and with large windows.
pub fn transfers() -> Vec<Transfer> {
    let mut all = Vec::new();
    for large in [false, true] {
        for mbps in RATES {
            for rtt_ms in RTTS {
                for bdps in BUFFERS {
                    for streams in STREAMS {
                        all.push(Transfer {
                            mbps,
                            rtt_ms,
                            bdps,
                            streams,
                            large,
                        });
                    }
                }
            }
        }
    }
    all
}

impl Transfer {
    /// What is sent: several windows that fill link and buffer, and so more than startup can overshoot by.
    fn bytes(&self) -> u64 {
        let flight = (1.0 + self.bdps) * self.mbps * 125.0 * self.rtt_ms;
        ((WINDOWS * flight) as u64).clamp(MIN_BYTES, MAX_BYTES)
    }

    /// The path in words.
    pub fn name(&self) -> String {
        let Self {
            rtt_ms,
            bdps,
            streams,
            ..
        } = self;
        let size = crate::units::format_size(self.bytes());
        let plural = if *streams == 1 { "" } else { "s" };
        format!(
            "{} {rtt_ms}ms {bdps}bdp, {size} over {streams} stream{plural}",
            rate_name(self.mbps)
        )
    }

    /// Ten times what the link needs, and what flow control and a handshake with losses may take.
    fn span(&self) -> Duration {
        let bytes = self.bytes() as f64;
        let windows = bytes / (STOCK_WINDOW * f64::from(self.streams)) * self.rtt_ms / 1e3;
        seconds(10.0 * (bytes / (self.mbps * 125_000.0)).max(windows) + 30.0)
    }

    /// Runs it.
    ///
    /// # Errors
    /// An unknown controller, or a path that cannot be emulated.
    pub fn run(&self, controller: &str) -> Result<Arrival, FrontierError> {
        let span = self.span();
        let load = Load::Calls {
            bytes: self.bytes() / u64::from(self.streams),
            interval: CALLS,
            count: Some(self.streams),
        };
        let flow = FlowPlan {
            application: vec![load.until(span)],
            windows: if self.large {
                LIMITS.windows
            } else {
                Windows::Stock
            },
            ..FlowPlan::greedy(candidate(controller, SEED)?, Duration::ZERO, span)
        };
        let path = Path::constant(self.mbps, self.rtt_ms, self.bdps);
        // The reason of a connection that closes is known a moment after the last phase.
        let end = span + CALLS;
        let trial = Trial::new(Topology::point_to_point(path.duplex()), vec![flow], end);
        let outcome = trial.run().map_err(|source| FrontierError::Run {
            scenario: self.name(),
            source,
        })?;
        let flow = outcome.flows.first();
        let messages = flow.map_or(&[][..], |flow| &flow.messages);
        let whole = messages.len() == self.streams as usize;
        let last = messages.iter().map(|message| message.arrived).max();
        Ok(Arrival {
            scenario: self.name(),
            controller: controller.to_owned(),
            large: self.large,
            bytes: self.bytes(),
            done_ms: last
                .filter(|_| whole)
                .map(|last| rounded(last.as_secs_f64() * 1e3)),
            loss: rounded(
                outcome
                    .links
                    .get("forward")
                    .map_or(0.0, |link| link.loss_rate()),
            ),
            closed: flow.and_then(|flow| flow.closed.clone()),
        })
    }
}

/// A transfer under a controller.
impl sweep::Run for (Transfer, &str) {
    type Result = Arrival;
    type Error = FrontierError;

    fn key(&self) -> Result<Key, serde_json::Error> {
        let (transfer, controller) = self;
        let windows = if transfer.large { "large" } else { "stock" };
        let name = [transfer.name().as_str(), windows, controller].map(Part::from);
        Key::new("torture transfers", name, &(self, SEED))
    }

    fn weight(&self) -> f64 {
        self.0.bytes() as f64
    }

    fn make(&self) -> Result<Arrival, FrontierError> {
        let (transfer, controller) = self;
        transfer.run(controller)
    }
}

/// How many transfers arrive under each controller, and which ones do not.
pub fn arrivals(records: &[Arrival]) -> String {
    let mut controllers: Vec<&str> = Vec::new();
    for record in records {
        if !controllers.contains(&record.controller.as_str()) {
            controllers.push(&record.controller);
        }
    }
    let rows = controllers.iter().map(|controller| {
        let runs = || {
            records
                .iter()
                .filter(|record| record.controller == *controller)
        };
        let cell = |large: bool, count: fn(&Arrival) -> bool| {
            let runs = || runs().filter(|record| record.large == large);
            format!(
                "{} of {}",
                runs().filter(|record| count(record)).count(),
                runs().count()
            )
        };
        let alone =
            runs().filter(|record| record.done_ms.is_none() && others_arrive(record, records));
        vec![
            (*controller).to_owned(),
            cell(false, |record| record.done_ms.is_some()),
            cell(false, |record| record.closed.is_some()),
            cell(true, |record| record.done_ms.is_some()),
            cell(true, |record| record.closed.is_some()),
            alone.count().to_string(),
        ]
    });
    let titles = [
        "controller",
        "arrive,\nstock windows",
        "closed,\nstock windows",
        "arrive,\nlarge windows",
        "closed,\nlarge windows",
        "others\narrive",
    ];
    let mut lost = String::new();
    for record in records.iter().filter(|record| record.done_ms.is_none()) {
        let Arrival {
            scenario,
            controller,
            loss,
            ..
        } = record;
        let windows = if record.large { "large" } else { "stock" };
        let why = record.closed.as_deref().unwrap_or("not in time");
        lost += &format!(
            "  {scenario}, {windows} windows: {controller}: {why}, loss {:.1} %\n",
            loss * 100.0
        );
    }
    format!("{}\n{lost}", table(titles, rows))
}

/// Whether the same transfer arrives under any other controller.
fn others_arrive(record: &Arrival, records: &[Arrival]) -> bool {
    let same = |other: &&Arrival| other.scenario == record.scenario && other.large == record.large;
    records
        .iter()
        .filter(same)
        .any(|other| other.done_ms.is_some())
}

/// In Mb/s.
const RATES: [f64; 3] = [10.0, 100.0, 1000.0];
/// In milliseconds.
const RTTS: [f64; 3] = [10.0, 100.0, 600.0];
/// In bandwidth-delay products.
const BUFFERS: [f64; 3] = [0.1, 1.0, 4.0];
const STREAMS: [u32; 2] = [1, 8];

/// How often link and buffer are filled.
const WINDOWS: f64 = 3.0;
const MIN_BYTES: u64 = 1_000_000;
const MAX_BYTES: u64 = 200_000_000;

/// quinn's window of a stream.
const STOCK_WINDOW: f64 = 1.25e6;

/// From one stream's request to the next one's.
const CALLS: Duration = Duration::from_millis(1);

//! The common parts of the scenarios: the plain path, and the format of results.

use std::time::Duration;

use kneepoint_controllers::{Bandwidth, Bytes, Mode, Snapshot};
use kneepoint_emulator::link::{Limit, LinkConfig, Queue, RateStep, Shaper};
use kneepoint_emulator::network::{Duplex, Topology};

use kneepoint_lab::controllers::resolve;
use kneepoint_lab::probe::SharedFactory;
use kneepoint_lab::run::RunError;
use kneepoint_lab::trial::{FlowPlan, Trial};
use kneepoint_lab::watch::TimeSeries;
use kneepoint_lab::workload::{Load, Phase};

/// The rate of the plain path, in bytes per second: 10 Mb/s.
pub(crate) const RATE: u64 = 1_250_000;

/// Its round-trip time.
pub(crate) const RTT: Duration = Duration::from_millis(40);

/// Its bandwidth-delay product, in bytes.
pub(crate) const BDP: u64 = 50_000;

/// The plain path's data link: a queue of ten bandwidth-delay products. Headers count for nothing, so that its rate is the
/// one that the controller measures.
pub(crate) fn link() -> LinkConfig {
    LinkConfig {
        queue: Queue::DropTail(Limit::bytes(10 * BDP)),
        delay: (RTT / 2).into(),
        overhead: 0,
        log: true,
        ..LinkConfig::constant(RATE)
    }
}

/// The way back, which limits nothing.
pub(crate) fn return_link() -> LinkConfig {
    LinkConfig {
        delay: (RTT / 2).into(),
        ..LinkConfig::constant(125_000_000)
    }
}

/// The draft's own parameters, which leave quinn's window at the congestion window.
fn paper() -> SharedFactory {
    resolve("bbr3:paper", 1).expect("a controller of ours")
}

/// A greedy connection over `link` for `millis`.
pub(crate) fn greedy(link: LinkConfig, millis: u64) -> Result<TimeSeries, RunError> {
    perform(
        link,
        vec![Load::Greedy.until(Duration::from_millis(millis))],
    )
}

/// A connection of this application over `link`, to the end of its last phase.
pub(crate) fn perform(link: LinkConfig, application: Vec<Phase>) -> Result<TimeSeries, RunError> {
    over(link, return_link(), application)
}

/// The same with another way back.
pub(crate) fn over(
    forward: LinkConfig,
    reverse: LinkConfig,
    application: Vec<Phase>,
) -> Result<TimeSeries, RunError> {
    let end = application.last().map_or(Duration::ZERO, |last| last.until);
    let flow = FlowPlan {
        application,
        ..FlowPlan::greedy(paper(), Duration::ZERO, end)
    };
    let topology = Topology::point_to_point(Duplex { forward, reverse });
    TimeSeries::of(&Trial {
        interval: Some(Duration::from_millis(1)),
        ..Trial::new(topology, vec![flow], end)
    })
}

/// One rate until `at`, another from then on.
pub(crate) fn step(before: u64, at: Duration, after: u64) -> Shaper {
    Shaper::Schedule(vec![
        RateStep {
            from: Duration::ZERO.into(),
            bytes_per_second: before,
        },
        RateStep {
            from: at.into(),
            bytes_per_second: after,
        },
    ])
}

/// The estimate's distance from `rate`, as a share of it; 1 without an estimate.
pub(crate) fn error(bandwidth: Option<Bandwidth>, rate: u64) -> f64 {
    let rate = rate as f64;
    bandwidth.map_or(1.0, |bandwidth| (bandwidth.as_f64() - rate).abs() / rate)
}

/// The bandwidth-delay product as the controller sees it.
pub(crate) fn believed_bdp(snapshot: &Snapshot) -> Bytes {
    snapshot
        .bandwidth
        .zip(snapshot.min_rtt)
        .map_or(Bytes::ZERO, |(bandwidth, rtt)| bandwidth.bytes_in(rtt))
}

/// A pacing rate as a multiple of the estimate, with the draft's margin of 1 % taken out again.
pub(crate) fn pacing_gain(snapshot: &Snapshot) -> f64 {
    snapshot
        .pacing_rate
        .zip(snapshot.bandwidth)
        .map_or(0.0, |(rate, bandwidth)| {
            rate.as_f64() / (0.99 * bandwidth.as_f64())
        })
}

/// Packet-timed round trips from one time to another.
pub(crate) fn rounds(series: &TimeSeries, from: Duration, to: Duration) -> u64 {
    let round = |at| series.at(at).map_or(0, |snapshot| snapshot.rounds);
    round(to) - round(from)
}

/// A change of the mode as it reads in a sentence.
pub(crate) fn mode(change: Option<(Duration, Mode)>) -> String {
    change.map_or_else(|| "no change".to_owned(), |(_, mode)| format!("{mode:?}"))
}

/// A time or its absence.
pub(crate) fn seconds(time: Option<Duration>) -> String {
    time.map_or_else(
        || "never".to_owned(),
        |time| format!("{:.2} s", time.as_secs_f64()),
    )
}

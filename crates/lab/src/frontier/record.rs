//! What is kept of a run.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::case::{Case, Sender, Under};
use super::family::Family;
use crate::metrics::stats::{self, rounded};
use crate::trial::{FlowOutcome, Outcome};

/// What is kept of a run. Times are in milliseconds; shares and rates are of the data link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The family of the scenario.
    pub family: Family,
    /// The scenario.
    pub scenario: String,
    /// The controller under test.
    pub controller: String,
    /// The seed.
    pub seed: u64,
    /// Whether the flows under test send bulk data, rather than messages of which each one counts.
    pub bulk: bool,
    /// Why the run is not finished, if it is not: a connection closed, a message is missing, nothing arrived, or the simulation
    /// stopped.
    pub unfinished: Option<String>,
    /// What the link carried, as a share of what it could carry.
    pub utilization: f64,
    /// The packets that the link dropped, as a share of those that it was offered.
    pub loss: f64,
    /// The mean round-trip time of an empty path, one full packet's transmission time included: the mean over the flows under
    /// test.
    pub base_rtt_ms: f64,
    /// The mean round-trip time of the packets of the flows under test.
    pub rtt_mean_ms: Option<f64>,
    /// The 95th percentile of these.
    pub rtt_p95_ms: Option<f64>,
    /// The mean round-trip time over the base RTT of the same flow: the mean over the flows under test.
    pub rtt_ratio: Option<f64>,
    /// The same of the last third of the run.
    pub late_rtt_ratio: Option<f64>,
    /// Utilization over the ratio of round-trip times. 1 is the best.
    pub power: Option<f64>,
    /// The mean time that a message takes; of a transfer, how long it takes. `None` for bulk data.
    pub message_mean_ms: Option<f64>,
    /// The 95th percentile of these.
    pub message_p95_ms: Option<f64>,
    /// Jain's index of the goodputs, from 10 s after the last start on: the minimum over windows of 10 s.
    pub jain: Option<f64>,
    /// The goodputs over their fair share, from 10 s after the last start until the first flow ends.
    pub shares: Vec<f64>,
    /// The smallest share of the flows under test, if there are several flows.
    pub share: Option<f64>,
    /// The smallest share of the other flows.
    pub other_share: Option<f64>,
}

impl Record {
    /// Of a run that reached its end.
    pub(super) fn new(case: &Case, controller: &str, seed: u64, outcome: &Outcome) -> Self {
        let tested = || {
            let flows = case.senders.iter().zip(&outcome.flows);
            flows.filter(|(sender, _)| sender.under == Under::Test)
        };
        let link = outcome.links.get("forward");
        let delivered = link.map_or(0, |link| link.statistics.delivered.bytes);
        let capacity = case.path.capacity(Duration::ZERO, case.duration);
        let utilization = delivered as f64 / capacity.max(1.0);
        let mut rtts: Vec<u64> = tested()
            .flat_map(|(_, flow)| flow.rtts.iter().map(|sample| sample.rtt))
            .collect();
        rtts.sort_unstable();
        let ratio = |from: Duration| {
            let base = case.path.base_rtt(from, case.duration);
            let ratios = tested().filter_map(|(sender, flow)| {
                let rtts: Vec<u64> = flow.rtts_between(from, case.duration).collect();
                let base = (base + sender.access_rtt).as_nanos().max(1) as f64;
                Some(stats::mean(&rtts)? / base)
            });
            mean(ratios)
        };
        let rtt_ratio = ratio(Duration::ZERO);
        let mut messages: Vec<u64> = tested()
            .flat_map(|(_, flow)| &flow.messages)
            .map(|message| nanos(message.arrived.saturating_sub(message.began)))
            .collect();
        messages.sort_unstable();
        let messages = Some(messages).filter(|_| !case.is_bulk());
        let shares = shares(case, outcome);
        let min = |under: fn(Under) -> bool| {
            let flows = case.senders.iter().zip(&shares);
            let shares = flows.filter(|(sender, _)| under(sender.under));
            shares.map(|(_, share)| *share).reduce(f64::min)
        };
        Self {
            unfinished: unfinished(case, outcome),
            utilization: rounded(utilization),
            loss: rounded(link.map_or(0.0, |link| link.loss_rate())),
            rtt_mean_ms: stats::mean(&rtts).map(|mean| rounded(mean / 1e6)),
            rtt_p95_ms: stats::percentile(&rtts, 0.95).map(in_millis),
            rtt_ratio: rtt_ratio.map(rounded),
            late_rtt_ratio: ratio(case.duration.mul_f64(2.0 / 3.0)).map(rounded),
            power: rtt_ratio.map(|ratio| rounded(utilization / ratio)),
            message_mean_ms: messages
                .as_ref()
                .and_then(|messages| stats::mean(messages))
                .map(|mean| rounded(mean / 1e6)),
            message_p95_ms: messages
                .and_then(|messages| stats::percentile(&messages, 0.95))
                .map(in_millis),
            jain: least_jain(case, outcome).map(rounded),
            share: min(|under| under == Under::Test),
            other_share: min(|under| under != Under::Test),
            shares,
            ..Self::empty(case, controller, seed)
        }
    }

    /// Of a run that stopped early.
    pub(super) fn stopped(
        case: &Case,
        controller: &str,
        seed: u64,
        error: &dyn std::error::Error,
    ) -> Self {
        Self {
            unfinished: Some(error.to_string()),
            ..Self::empty(case, controller, seed)
        }
    }

    fn empty(case: &Case, controller: &str, seed: u64) -> Self {
        Self {
            family: case.family,
            scenario: case.name.clone(),
            controller: controller.to_owned(),
            seed,
            bulk: case.is_bulk(),
            unfinished: None,
            utilization: 0.0,
            loss: 0.0,
            base_rtt_ms: rounded(base_rtt_ms(case)),
            rtt_mean_ms: None,
            rtt_p95_ms: None,
            rtt_ratio: None,
            late_rtt_ratio: None,
            power: None,
            message_mean_ms: None,
            message_p95_ms: None,
            jain: None,
            shares: Vec::new(),
            share: None,
            other_share: None,
        }
    }
}

/// The mean over the flows under test.
fn base_rtt_ms(case: &Case) -> f64 {
    let base = case.path.base_rtt(Duration::ZERO, case.duration);
    let tested = case
        .senders
        .iter()
        .filter(|sender| sender.under == Under::Test);
    let rtts = tested.map(|sender| (base + sender.access_rtt).as_secs_f64() * 1e3);
    mean(rtts).unwrap_or_default()
}

/// What is missing, if anything is.
fn unfinished(case: &Case, outcome: &Outcome) -> Option<String> {
    for (index, (sender, flow)) in case.senders.iter().zip(&outcome.flows).enumerate() {
        let problem = match &flow.closed {
            Some(reason) => format!("closed: {reason}"),
            None if sender.is_bulk() && flow.received.iter().all(|bytes| *bytes == 0) => {
                "nothing arrived".to_owned()
            }
            None if sender.is_bulk() => continue,
            None => match missing(flow, case.duration) {
                Some(problem) => problem,
                None => continue,
            },
        };
        return Some(match (case.senders.len(), sender.under) {
            (1, _) => problem,
            (_, Under::Test) => format!("flow {}: {problem}", index + 1),
            (_, Under::Named(name)) => format!("flow {} ({name}): {problem}", index + 1),
        });
    }
    None
}

/// The messages that were due and have not arrived.
fn missing(flow: &FlowOutcome, end: Duration) -> Option<String> {
    let due: u64 = flow.due.iter().map(|series| series.due_before(end)).sum();
    let arrived = flow.messages.len() as u64;
    match due {
        0 => Some("no message was due".to_owned()),
        _ if arrived < due => Some(format!("{} of {due} messages missing", due - arrived)),
        _ => None,
    }
}

/// Each flow's goodput over its fair share, once all have run for [`SETTLING`] and until the first one ends; empty unless
/// there are several and all send bulk data.
fn shares(case: &Case, outcome: &Outcome) -> Vec<f64> {
    let Some((from, to)) = together(case) else {
        return Vec::new();
    };
    let fair = case.path.capacity(from, to) / case.senders.len() as f64;
    let shares = outcome.shares(from, to).into_iter();
    shares
        .map(|bytes| rounded(bytes as f64 / fair.max(1.0)))
        .collect()
}

/// The minimum of Jain's index over windows of [`WINDOW`].
fn least_jain(case: &Case, outcome: &Outcome) -> Option<f64> {
    let (from, to) = together(case)?;
    let window = WINDOW.min(to.saturating_sub(from));
    let starts = (0..).map(|number| from.saturating_add(window.saturating_mul(number)));
    let windows = starts.take_while(|start| !window.is_zero() && *start + window <= to);
    windows
        .filter_map(|start| outcome.jain(start, start + window))
        .reduce(f64::min)
}

/// From when until when all flows run and have settled, if there are several and all send bulk data.
fn together(case: &Case) -> Option<(Duration, Duration)> {
    if case.senders.len() < 2 || !case.senders.iter().all(Sender::is_bulk) {
        return None;
    }
    let start = case.senders.iter().map(|sender| sender.start).max()?;
    let end = case.senders.iter().map(|sender| sender.end()).min()?;
    let settling = SETTLING.min(end.saturating_sub(start) / 2);
    Some((start + settling, end)).filter(|(from, to)| from < to)
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

fn in_millis(nanos: u64) -> f64 {
    rounded(nanos as f64 / 1e6)
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// How long flows have to settle.
const SETTLING: Duration = Duration::from_secs(10);

/// Over how long fairness is measured.
const WINDOW: Duration = Duration::from_secs(10);

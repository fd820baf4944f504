//! One line of a comparison.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::messages::Messages;
use super::stats::rounded;
use super::{Timeline, stats};
use crate::compare::Against;
use crate::scenario::Scenario;
use crate::trial::{FlowOutcome, LinkOutcome, Outcome};
use crate::units::format_time;
use crate::workload::Workload;

/// The result of one controller, or of one mix of them, on one link, with the parameters it was measured under. Serialises
/// to one flat JSON object or one CSV record; [`output::json`](crate::output::json) adds the flows. The field names are a
/// contract.
///
/// Fractions and milliseconds are rounded to six decimals. A statistic over no samples is `None`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The link's name: the file's name without `.trace` or `.toml`, or the constant rate.
    pub trace: String,
    /// The controller's name, with its preset if one was given; of a mix, the flows' controllers, separated by commas.
    pub controller: String,
    /// The seed of everything random in the run.
    pub seed: u64,
    /// Bytes delivered over the data link by the deadline, as a fraction of what it could have carried.
    pub utilization: f64,
    /// Stream bytes the receiving applications read by the deadline, in Mb/s.
    pub goodput_mbps: f64,
    /// Mean round-trip time over all acknowledged packets.
    pub rtt_mean_ms: Option<f64>,
    /// Its 95th percentile, nearest rank.
    pub rtt_p95_ms: Option<f64>,
    /// Its 99th percentile, nearest rank.
    pub rtt_p99_ms: Option<f64>,
    /// Mean time from a packet's arrival at the queue to the end of its service, over all packets delivered.
    pub queue_delay_mean_ms: Option<f64>,
    /// Its 95th percentile, nearest rank.
    pub queue_delay_p95_ms: Option<f64>,
    /// Its 99th percentile, nearest rank.
    pub queue_delay_p99_ms: Option<f64>,
    /// Packets dropped on the data link as a fraction of those offered to it.
    pub loss_rate: f64,
    /// Packets dropped on the data link, for whatever cause.
    pub drops: u64,
    /// Packets that the data link's queue marked: ECN's Congestion Experienced.
    pub marks: u64,
    /// Utilization times base RTT over mean RTT: 1 is a full link with an empty queue.
    pub power: f64,
    /// Jain's index of the flows' goodputs over the last third of the run; `None` for a single flow.
    pub jain: Option<f64>,
    /// Why quinn closed a connection before the deadline; `None` if it closed none.
    pub closed: Option<String>,
    /// The data link's mean capacity over the run.
    pub capacity_mbps: f64,
    /// The competitors, as the command line takes them; `None` if there were none. Goodput, round-trip times, messages and frames are
    /// those of the other flows.
    pub against: Option<String>,
    /// The competitors' workload, as `workload`; `None` if there were no competitors.
    pub against_workload: Option<String>,
    /// Whether the competitors started before the other flows; `None` if there were no competitors.
    pub against_first: Option<bool>,
    /// What the competitors' receiving applications read, as for goodput.
    pub against_goodput_mbps: Option<f64>,
    /// How many flows shared the link, competitors included.
    pub flow_count: u32,
    /// The round-trip time of an empty path.
    pub rtt_ms: f64,
    /// The queue's size, as the command line takes it, after the name of its management if it has one.
    pub queue: String,
    /// The most by which a packet of the data link is later than by propagation alone; zero for the jitter of a link file.
    pub jitter_ms: f64,
    /// The way back, as the command line takes it: rate or trace, queue, loss; `None` if it is no bottleneck, or a link file's.
    pub up: Option<String>,
    /// How long the run lasted, in virtual time.
    pub duration_s: f64,
    /// The probability of random loss on the data link. Zero for losses of a link file that are not independent.
    pub loss: f64,
    /// The hosts' model: a preset's name, or a file's.
    pub host: String,
    /// The workload of the flows but the competitors, in the syntax of the command line.
    pub workload: String,
    /// From one flow's start to the next one's; zero if all started at random times within 100 ms.
    pub start_gap_s: f64,
    /// Flow control: `unlimited`, or `stock` for the stack's defaults.
    pub flow_control: String,
    /// Responses that were due; `None` unless the workload is `rpc`.
    pub messages: Option<u64>,
    /// Of those, how many had not arrived whole by the deadline.
    pub messages_unfinished: Option<u64>,
    /// Median time from when a request was due to when its response had been read, over all responses that arrived.
    pub message_p50_ms: Option<f64>,
    /// Its 95th percentile, nearest rank.
    pub message_p95_ms: Option<f64>,
    /// Its 99th percentile, nearest rank.
    pub message_p99_ms: Option<f64>,
    /// Frames that were due early enough to be judged by the deadline of the run; `None` unless the workload is `media`.
    pub frames: Option<u64>,
    /// Of those, the share that arrived after the workload's deadline for a frame, or not at all.
    pub frame_loss_rate: Option<f64>,
    /// Median time from when a frame was due to when it had been read, over all frames that arrived.
    pub frame_delay_p50_ms: Option<f64>,
    /// Its 95th percentile, nearest rank.
    pub frame_delay_p95_ms: Option<f64>,
    /// Its 99th percentile, nearest rank.
    pub frame_delay_p99_ms: Option<f64>,
    /// The flows, in the order of the mix if the run has one.
    #[serde(skip)]
    pub flows: Vec<FlowRow>,
}

/// The results of a flow of a run. The field names are a contract.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FlowRow {
    /// The controller's name, with its preset if one was given.
    pub controller: String,
    /// Stream bytes that its receiving application read by the deadline, in Mb/s over the whole run.
    pub goodput_mbps: f64,
    /// Mean round-trip time over its acknowledged packets.
    pub rtt_mean_ms: Option<f64>,
    /// Its packets dropped on the data link as a fraction of those that it sent there.
    pub loss_rate: f64,
}

impl Row {
    /// Condenses a run of `controller` in `scenario`, whose flows have these controllers by `names`. The last flows are those that
    /// it competes `against`.
    pub fn new(
        scenario: &Scenario,
        controller: &str,
        names: &[String],
        against: Option<&Against>,
        outcome: &Outcome,
    ) -> Self {
        let end = outcome.duration;
        let seconds = end.as_secs_f64();
        let mbps = |bytes: f64| bytes * 8.0 / 1e6 / seconds;
        let nothing = LinkOutcome::default();
        let link = outcome.links.get("forward").unwrap_or(&nothing);
        // What was served at the deadline itself counts.
        let deadline = end.saturating_add(Duration::from_nanos(1));
        let capacity = Timeline::bin_borders(end)
            .windows(2)
            .map(|border| scenario.link.capacity(border[0], border[1]))
            .sum();
        let delivered = link.delivered(Duration::ZERO, deadline) as f64;
        let utilization = ratio(delivered, capacity);
        let others = against.map_or(0, |against| against.flows);
        let others = usize::try_from(others).unwrap_or(usize::MAX);
        let (own, others) = outcome
            .flows
            .split_at(outcome.flows.len().saturating_sub(others));
        let rtts = own.iter().flat_map(|flow| &flow.rtts);
        let rtts = Millis::of(rtts.map(|sample| sample.rtt).collect());
        let read = |flows: &[FlowOutcome]| {
            let bytes: u64 = flows.iter().flat_map(|flow| &flow.received).sum();
            rounded(mbps(bytes as f64))
        };
        let delays = Millis::of(link.queue_delays(Duration::ZERO, deadline));
        let dropped = link.statistics.all_dropped().packets;
        let base_rtt = scenario.rtt.as_secs_f64() * 1e3;
        // What flows that share a link have come to.
        let late = outcome.shares(end - end / 3, Duration::MAX);
        let flow_row = |(index, flow): (usize, &FlowOutcome)| {
            let rtts: Vec<u64> = flow.rtts.iter().map(|sample| sample.rtt).collect();
            let packets = flow.address.and_then(|address| link.sources.get(&address));
            let packets = packets.copied().unwrap_or_default();
            FlowRow {
                controller: names
                    .get(index)
                    .map_or(controller, String::as_str)
                    .to_owned(),
                goodput_mbps: rounded(mbps(flow.received.iter().sum::<u64>() as f64)),
                rtt_mean_ms: stats::mean(&rtts).map(|mean| rounded(mean.round() / 1e6)),
                loss_rate: rounded(ratio(packets.dropped as f64, packets.offered as f64)),
            }
        };
        let calls = matches!(scenario.workload, Workload::Rpc(_)).then(|| Messages::of(own, end));
        let call_times = Millis::of(calls.iter().flat_map(|calls| calls.took.clone()).collect());
        let frames = match scenario.workload {
            Workload::Media(media) => {
                let judged = end.saturating_sub(media.deadline);
                Some((media, Messages::of(own, judged)))
            }
            _ => None,
        };
        let frame_times = frames.iter().flat_map(|(_, frames)| frames.took.clone());
        let frame_times = Millis::of(frame_times.collect());
        Self {
            trace: scenario.link.name().to_owned(),
            controller: controller.to_owned(),
            seed: scenario.seed,
            utilization: rounded(utilization),
            goodput_mbps: read(own),
            rtt_mean_ms: rtts.mean,
            rtt_p95_ms: rtts.p95,
            rtt_p99_ms: rtts.p99,
            queue_delay_mean_ms: delays.mean,
            queue_delay_p95_ms: delays.p95,
            queue_delay_p99_ms: delays.p99,
            loss_rate: rounded(ratio(
                dropped as f64,
                link.statistics.offered.packets as f64,
            )),
            drops: dropped,
            marks: link.statistics.marked.packets,
            power: rounded(
                rtts.mean
                    .map_or(0.0, |mean| ratio(utilization * base_rtt, mean)),
            ),
            jain: (late.len() > 1)
                .then(|| stats::jain(&late).map(rounded))
                .flatten(),
            closed: closed(&outcome.flows),
            capacity_mbps: rounded(mbps(capacity)),
            against: against.map(ToString::to_string),
            against_workload: against.map(|against| {
                let workload = against.workload.unwrap_or(scenario.workload);
                workload.to_string()
            }),
            against_first: against.map(|against| against.first),
            against_goodput_mbps: against.map(|_| read(others)),
            flow_count: u32::try_from(outcome.flows.len()).unwrap_or(u32::MAX),
            rtt_ms: rounded(base_rtt),
            queue: scenario.queue_label(),
            jitter_ms: rounded(scenario.jitter.as_secs_f64() * 1e3),
            up: scenario.way_back.as_ref().map(ToString::to_string),
            duration_s: rounded(seconds),
            loss: scenario.loss,
            host: scenario.host.name.clone(),
            workload: scenario.workload.to_string(),
            start_gap_s: rounded(scenario.start_gap.as_secs_f64()),
            flow_control: scenario.windows.name().to_owned(),
            messages: calls.as_ref().map(|calls| calls.due),
            messages_unfinished: calls.as_ref().map(Messages::missing),
            message_p50_ms: call_times.p50,
            message_p95_ms: call_times.p95,
            message_p99_ms: call_times.p99,
            frames: frames.as_ref().map(|(_, frames)| frames.due),
            frame_loss_rate: frames
                .as_ref()
                .map(|(media, frames)| rounded(frames.late(media.deadline))),
            frame_delay_p50_ms: frame_times.p50,
            frame_delay_p95_ms: frame_times.p95,
            frame_delay_p99_ms: frame_times.p99,
            flows: outcome.flows.iter().enumerate().map(flow_row).collect(),
        }
    }

    /// The scenario in a few words, for captions.
    pub fn scenario_caption(&self) -> String {
        format!("{}, seed {}", self.conditions(), self.seed)
    }

    /// The same without the seed.
    pub fn conditions(&self) -> String {
        let mut flows = match self.flow_count {
            1 => "1 flow".to_owned(),
            flows => format!("{flows} flows"),
        };
        if self.start_gap_s > 0.0 && self.flow_count > 1 {
            let gap = Duration::from_secs_f64(self.start_gap_s);
            flows += &format!(" {} apart", format_time(gap));
        }
        if self.workload != Workload::Bulk.to_string() {
            flows += &format!(", {}", self.workload);
        }
        let loss = if self.loss > 0.0 {
            format!(", random loss {} %", rounded(self.loss * 100.0))
        } else {
            String::new()
        };
        if let Some(against) = &self.against {
            flows += &format!(", of which {against}");
        }
        if let Some(workload) = &self.against_workload
            && *workload != self.workload
        {
            flows += &format!(" ({workload})");
        }
        if self.against_first == Some(true) {
            flows += ", which start first";
        }
        let jitter = if self.jitter_ms > 0.0 {
            let jitter = Duration::from_secs_f64(self.jitter_ms / 1e3);
            format!(", jitter {}", format_time(jitter))
        } else {
            String::new()
        };
        let up = self.up.as_ref();
        let up = up.map_or_else(String::new, |up| format!(", way back {up}"));
        let hosts = match self.host.as_str() {
            "ideal" => String::new(),
            host => format!(", {host} hosts"),
        };
        let windows = match self.flow_control.as_str() {
            "unlimited" => String::new(),
            windows => format!(", {windows} flow control"),
        };
        format!(
            "mean capacity {:.2} Mb/s, RTT {}, queue {}{loss}{jitter}{up}, {flows}{hosts}{windows}, {}",
            self.capacity_mbps,
            format_time(Duration::from_secs_f64(self.rtt_ms / 1e3)),
            self.queue,
            format_time(Duration::from_secs_f64(self.duration_s)),
        )
    }
}

/// The reasons of all closed connections, told apart when there are several flows.
fn closed(flows: &[FlowOutcome]) -> Option<String> {
    let several = flows.len() > 1;
    let reasons: Vec<String> = flows
        .iter()
        .enumerate()
        .filter_map(|(index, flow)| {
            let reason = flow.closed.as_ref()?;
            Some(if several {
                format!("flow {}: {reason}", index + 1)
            } else {
                reason.clone()
            })
        })
        .collect();
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

/// The statistics of samples in nanoseconds, in milliseconds.
struct Millis {
    mean: Option<f64>,
    p50: Option<f64>,
    p95: Option<f64>,
    p99: Option<f64>,
}

impl Millis {
    fn of(mut nanos: Vec<u64>) -> Self {
        nanos.sort_unstable();
        let percentile =
            |p| stats::percentile(&nanos, p).map(|nanos: u64| rounded(nanos as f64 / 1e6));
        Self {
            mean: stats::mean(&nanos).map(|nanos| rounded(nanos / 1e6)),
            p50: percentile(0.5),
            p95: percentile(0.95),
            p99: percentile(0.99),
        }
    }
}

/// `part / whole`, and zero of nothing.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::tests::served;
    use crate::scenario::Link;
    use crate::trial::{Packets, RttSample};

    const SECOND: Duration = Duration::from_secs(1);

    fn scenario(flows: u32) -> Scenario {
        Scenario {
            flows,
            seed: 7,
            ..Scenario::bulk(Link::constant("1Mbps".parse().unwrap()), SECOND)
        }
    }

    /// Fault: the caption of a single flow named the gap to the next one.
    #[test]
    fn only_several_flows_have_a_start_gap() {
        for (flows, apart) in [(1, false), (2, true)] {
            let mut row = row(vec![flow(1, 1, &[40]); flows], served(1000, 1, &[]));
            row.start_gap_s = 2.0;
            assert_eq!(row.conditions().contains("apart"), apart, "{flows}");
        }
    }

    /// A flow that reads so many bytes in the first bin and in the last, with these round-trip times in milliseconds.
    fn flow(early: u64, late: u64, rtts: &[u64]) -> FlowOutcome {
        let rtt = |millis: &u64| RttSample {
            at: 0,
            rtt: millis * 1_000_000,
        };
        FlowOutcome {
            received: [&[early], &[0; 8][..], &[late]].concat(),
            rtts: rtts.iter().map(rtt).collect(),
            ..FlowOutcome::default()
        }
    }

    fn row(flows: Vec<FlowOutcome>, link: LinkOutcome) -> Row {
        let scenario = scenario(flows.len() as u32);
        let outcome = Outcome {
            duration: SECOND,
            flows,
            links: [("forward".to_owned(), link)].into(),
        };
        Row::new(&scenario, "probe", &[], None, &outcome)
    }

    #[test]
    fn hand_computed() {
        // Departures at 10, 20, 30 and 40 ms; 50 and 110 ms: a mean of 80 ms is twice the base RTT.
        let link = served(2_500_000, 3, &[(0, 25_000); 5]);
        let row = row(vec![flow(90_000, 0, &[110, 50])], link);
        assert_eq!(row.trace, "1Mbps");
        assert_eq!(row.utilization, 0.8);
        assert_eq!(row.goodput_mbps, 0.72);
        assert_eq!(
            (row.rtt_mean_ms, row.rtt_p95_ms, row.rtt_p99_ms),
            (Some(80.0), Some(110.0), Some(110.0))
        );
        assert_eq!(
            (row.queue_delay_mean_ms, row.queue_delay_p95_ms),
            (Some(25.0), Some(40.0))
        );
        assert_eq!((row.loss_rate, row.drops), (0.2, 1));
        assert_eq!(row.power, 0.4);
        assert_eq!((row.jain, row.closed.clone()), (None, None));
        assert_eq!(
            (row.rtt_ms, row.duration_s, row.capacity_mbps),
            (40.0, 1.0, 1.0)
        );
        assert_eq!(
            row.scenario_caption(),
            "mean capacity 1.00 Mb/s, RTT 40ms, queue 3MB, 1 flow, 1s, seed 7"
        );
    }

    #[test]
    fn an_empty_run_has_no_statistics_and_no_power() {
        let row = row(vec![FlowOutcome::default()], LinkOutcome::default());
        assert_eq!((row.rtt_mean_ms, row.queue_delay_p99_ms), (None, None));
        assert_eq!((row.utilization, row.loss_rate, row.power), (0.0, 0.0, 0.0));
    }

    #[test]
    fn flows_are_weighed_and_distinguished() {
        let addresses = ["10.0.0.1:1", "10.0.0.1:2"].map(|address| address.parse().unwrap());
        let packets = Packets {
            offered: 8,
            dropped: 2,
        };
        let link = LinkOutcome {
            sources: addresses.map(|address| (address, packets)).into(),
            ..LinkOutcome::default()
        };
        let [mut one, mut other] = [(124_999, 1), (124_997, 3)].map(|(a, b)| flow(a, b, &[50]));
        [one.address, other.address] = addresses.map(Some);
        other.closed = Some("timed out".to_owned());
        let row = row(vec![one, other], link);
        assert_eq!(row.jain, Some(0.8));
        assert_eq!(row.closed.as_deref(), Some("flow 2: timed out"));
        let flow = FlowRow {
            controller: "probe".to_owned(),
            goodput_mbps: 1.0,
            rtt_mean_ms: Some(50.0),
            loss_rate: 0.25,
        };
        assert_eq!(row.flows, [flow.clone(), flow]);
        assert_eq!((row.flow_count, row.messages, row.frames), (2, None, None));
    }
}

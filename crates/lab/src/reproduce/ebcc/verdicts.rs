//! eBCC against BBR, as the tables have it.

use super::dumbbell::{Case, Run};
use super::grid::{Setting, change};
use crate::reproduce::report::{Section, Verdict};

/// Adds what the paper says of eBCC's throughput and loss in one setting.
pub(super) fn against_bbr(
    mut section: Section,
    setting: &Setting,
    results: &[(Case, Run)],
) -> Section {
    let (Some(bbr), Some(ebcc)) = (setting.paper("bbr"), setting.paper("ebcc:paper")) else {
        return section;
    };
    let label = setting.label;
    let paper = ebcc.received / bbr.received;
    let ours = setting.against_bbr(results, |run| run.received);
    section = section.verdict(Verdict::new(
        format!("rate received by `ebcc` against `bbr`, {label}"),
        change(paper),
        change(ours),
        (ours >= paper - 0.02, ours > 1.0),
        "`bbr` leaves nothing to gain, and `ebcc` pays for its probes: see the note.",
    ));
    let paper = ebcc.loss / bbr.loss;
    let ours = setting.against_bbr(results, |run| run.loss);
    section.verdict(Verdict::new(
        format!("loss of `ebcc` against `bbr`, {label}"),
        change(paper),
        change(ours),
        // A tenth of what BBR loses is as good as the paper's.
        (ours <= (paper + 0.1).max(0.1), ours < 1.0),
        if setting.flows > 1 {
            "A flow's part of the 60 packets in the queue is below gamma, 30 packets: its queue is short, and a loss with a short \
             queue has no line in Algorithm 1."
        } else {
            "Nearly all of it is lost in Startup, which eBCC does not change."
        },
    ))
}

/// Why `ebcc` receives less than `bbr` does.
pub(super) const THROUGHPUT: &str = "Throughput. It is BBR's rate that differs, not eBCC's: with buffers of 80 packets and more `ebcc` receives what the paper's \
     does, while the paper's BBR receives 83 % of the bottleneck's rate and ours all there is, with every buffer. The paper says \
     why (section 4.2): on heavy loss, its BBR begins again from its initial state, and the link is idle meanwhile. Here a loss costs \
     the packet and nothing else: `bbr` always has more in flight than the path holds, quinn sends again what is lost at once, and \
     nobody can receive more than all. `ebcc` answers the loss that ends Startup, and those of its steps beyond the buffer, with \
     ProbeRTT (Algorithm 1, line 10): the queue and the pipe drain, and four packets are in flight for 200 ms and a round. C1 \
     draws both.";

//! eBCC against BBR, as the tables have it.

use super::tables::{Measured, Setting};
use crate::reproduce::report::{Section, Verdict, change, near};

/// Adds what the paper says of eBCC's throughput, loss and fairness in one setting.
pub(super) fn against_bbr(
    mut section: Section,
    setting: &Setting,
    measured: &Measured<'_>,
) -> Section {
    let (Some(bbr), Some(ebcc)) = (setting.paper("bbr"), setting.paper("ebcc:paper")) else {
        return section;
    };
    let label = setting.label;
    let paper = ebcc.received / bbr.received;
    let ours = measured.against_bbr(setting, |run| run.received);
    section = section.verdict(Verdict::new(
        format!("rate received by `ebcc` against `bbr`, {label}"),
        change(paper),
        change(ours),
        (near(ours, paper), ours > 1.0),
        "`bbr` leaves nothing to gain, and `ebcc` pays for its probes: see the note.",
    ));
    let paper = ebcc.loss / bbr.loss;
    let ours = measured.against_bbr(setting, |run| run.loss);
    section = section.verdict(Verdict::new(
        format!("loss of `ebcc` against `bbr`, {label}"),
        change(paper),
        change(ours),
        (near(ours, paper), ours < 1.0),
        if setting.flows > 1 {
            "A flow's part of the 60 packets in the queue is below gamma, 30 packets: its queue is short, and a loss with a short \
             queue has no line in Algorithm 1."
        } else {
            "Nearly all of it is lost in Startup, which eBCC does not change."
        },
    ));
    let (Some(paper), Some(paper_bbr)) = (ebcc.jain, bbr.jain) else {
        return section;
    };
    let jain = |name| measured.chosen(setting, name).over(|run| run.jain).mean;
    let (ours, bbr) = (jain("ebcc:paper"), jain("bbr"));
    section.verdict(Verdict::new(
        format!("Jain's index of `ebcc` against `bbr`, {label}"),
        format!(
            "{paper:.3} to {paper_bbr:.3} ({})",
            change(paper / paper_bbr)
        ),
        format!("{ours:.3} to {bbr:.3} ({})", change(ours / bbr)),
        (ours > bbr && near(ours, paper), ours > bbr),
        "`bbr` is fair here already: the flows begin together and have the same round-trip time.",
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

//! C2: one flow over access links and bottlenecks of several rates.

use super::buffer;
use super::dumbbell::{Case, Dumbbell, Run};
use super::tables::{Measured, Setting, Tables};
use crate::reproduce::report::{Section, change};
use crate::reproduce::{About, Paper, Reproduction};

/// Tables 2 and 3.
pub(in crate::reproduce) static BANDWIDTHS: Reproduction<Case, Run> = Reproduction {
    about: About {
        id: "C2",
        paper: Paper::Ebcc,
        title: "One flow, several rates",
        figure: "tables 2 and 3",
        setup: "Access link, bottleneck, access link of 20, 10 and 20 ms; 19 s of transfer in packets of 1480 bytes with \
                headers (the paper: 1400).",
        claim: "eBCC receives 10.87 % more than BBR (50/15 Mb/s) and loses 74.58 % less (75/17.5 Mb/s).",
    },
    cases: |scale| TABLES.cases(scale),
    weight: Case::weight,
    run: Case::run,
    report: |scale, runs, section| TABLES.report(scale, runs, section),
};

const TABLES: Tables = Tables {
    settings: &[
        over("15/5", 15.0, 5.0).with(&[
            &[4.220, 4.188, 1.0617],
            &[3.245, 3.160, 4.8268],
            &[4.776, 4.697, 2.0855],
            &[4.776, 4.697, 2.0855],
        ]),
        over("30/10", 30.0, 10.0).with(&[
            &[6.845, 6.801, 1.008],
            &[6.509, 6.386, 3.4845],
            &[9.661, 8.870, 11.1037],
            &[9.576, 9.2662, 4.9245],
        ]),
        over("50/15", 50.0, 15.0).with(&[
            &[7.743, 7.692, 1.2216],
            &[8.840, 8.672, 3.4133],
            &[14.731, 12.465, 19.7338],
            &[14.353, 13.820, 5.6094],
        ]),
        over("75/17.5", 75.0, 17.5).with(&[
            &[8.769, 8.708, 1.2343],
            &[10.055, 9.855, 3.4354],
            &[17.413, 14.631, 19.9143],
            &[16.634, 16.087, 5.0625],
        ]),
    ],
    left_out: 2,
    swept: [&[32, buffer::CHOSEN, 127], &buffer::SWEPT],
    shown: "50/15",
    last: round_trips,
};

const fn over(label: &'static str, access: f64, bottleneck: f64) -> Setting {
    Setting::new(label, Dumbbell::new(access, bottleneck, buffer::CHOSEN), 1)
}

fn round_trips(section: Section, measured: &Measured<'_>) -> Section {
    let three: Vec<f64> = measured
        .settings
        .iter()
        .filter(|setting| setting.network.bottleneck_mbps > 5.0)
        .map(|setting| measured.against_bbr(setting, |run| run.rtt))
        .collect();
    let rtt = three.iter().sum::<f64>() / three.len().max(1) as f64;
    section
        .note(format!(
            "What eBCC does have for the throughput that it gives away, above 5 Mb/s: {} of mean round-trip time.",
            change(rtt)
        ))
        .note(
            "The sizes are one for all rates. A buffer in proportion to the BDP does not give the paper's pattern, in which \
             BBR loses next to nothing at 5 Mb/s and a fifth at 15 Mb/s: its window of 2 BDP fits into the pipe and 60 packets \
             only as long as one BDP does into these.",
        )
}

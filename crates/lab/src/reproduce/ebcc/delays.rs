//! C3: one flow over links of several delays.

use super::buffer;
use super::dumbbell::{Case, Dumbbell, Run};
use super::tables::{Setting, Tables};
use crate::reproduce::{About, Paper, Reproduction};

/// Tables 4 and 5.
pub(in crate::reproduce) static DELAYS: Reproduction<Case, Run> = Reproduction {
    about: About {
        id: "C3",
        paper: Paper::Ebcc,
        title: "One flow, several delays",
        figure: "tables 4 and 5",
        setup: "Access links of 50 Mb/s, a bottleneck of 15 Mb/s; one-way delays of access link and bottleneck as in the \
                heading; 19 s of transfer.",
        claim: "At 20/10 and 15/7.5 ms eBCC receives more than BBR and loses a third of what BBR does; at 10/5 ms they are alike.",
    },
    cases: |scale| TABLES.cases(scale),
    weight: Case::weight,
    run: Case::run,
    report: |scale, runs, section| TABLES.report(scale, runs, section),
};

const TABLES: Tables = Tables {
    settings: &[
        over("20/10 ms", 20.0, 10.0).with(&[
            &[7.743, 7.692, 1.222],
            &[8.840, 8.672, 3.217],
            &[14.126, 12.037, 18.928],
            &[14.353, 13.823, 5.609],
        ]),
        over("15/7.5 ms", 15.0, 7.5).with(&[
            &[11.737, 11.678, 0.661],
            &[10.717, 10.593, 2.118],
            &[14.650, 13.099, 14.023],
            &[14.469, 14.036, 4.617],
        ]),
        over("10/5 ms", 10.0, 5.0).with(&[
            &[12.860, 12.827, 0.456],
            &[11.154, 11.058, 1.573],
            &[14.448, 14.290, 1.712],
            &[14.220, 14.079, 1.744],
        ]),
    ],
    left_out: 2,
    swept: [&[buffer::CHOSEN], &buffer::SWEPT],
    shown: "15/7.5 ms",
    last: |section, _| section,
};

const fn over(label: &'static str, access_ms: f64, bottleneck_ms: f64) -> Setting {
    let network = Dumbbell {
        access_ms,
        bottleneck_ms,
        ..Dumbbell::new(50.0, 15.0, buffer::CHOSEN)
    };
    Setting::new(label, network, 1)
}

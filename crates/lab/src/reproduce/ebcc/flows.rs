//! C4: several flows of one controller.

use super::buffer;
use super::dumbbell::{Case, Dumbbell, Run};
use super::tables::{Setting, Tables};
use crate::reproduce::{About, Paper, Reproduction};

/// Tables 6 to 8.
pub(in crate::reproduce) static FLOWS: Reproduction<Case, Run> = Reproduction {
    about: About {
        id: "C4",
        paper: Paper::Ebcc,
        title: "Several flows",
        figure: "tables 6 to 8",
        setup: "Three and five flows, which begin together, over access links of 50 Mb/s and 20 ms each and one bottleneck of \
                15 Mb/s and 10 ms; 19 s of transfer. Jain's index is of what each receiver read in all of it.",
        claim: "eBCC is up to 8.39 % fairer than BBR (0.986 against 0.910 with five flows), receives more and loses about half.",
    },
    cases: |scale| TABLES.cases(scale),
    weight: Case::weight,
    run: Case::run,
    report: |scale, runs, section| TABLES.report(scale, runs, section),
};

const TABLES: Tables = Tables {
    settings: &[
        of("3 flows", 3).with(&[
            &[4.234, 4.209, 0.857, 0.999],
            &[4.511, 4.452, 2.392, 0.962],
            &[5.245, 4.076, 28.135, 0.951],
            &[5.005, 4.527, 14.488, 0.996],
        ]),
        of("5 flows", 5).with(&[
            &[2.796, 2.779, 0.929, 0.994],
            &[2.602, 2.554, 2.721, 0.991],
            &[3.281, 2.415, 35.430, 0.910],
            &[3.105, 2.677, 20.443, 0.986],
        ]),
    ],
    left_out: 1,
    swept: [&[], &[]],
    shown: "",
    last: |section, _| section,
};

const fn of(label: &'static str, flows: u64) -> Setting {
    Setting::new(label, Dumbbell::new(50.0, 15.0, buffer::CHOSEN), flows)
}

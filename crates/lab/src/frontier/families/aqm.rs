//! Queues that control delay by dropping or marking.

use kneepoint_emulator::link::{CoDel, FqCoDel, Limit, Pie, Queue, StepMark};
use kneepoint_emulator::time::Nanos;

use crate::frontier::{Case, Family, Path, seconds};

pub(super) fn cases() -> Vec<Case> {
    let limit = Some(Limit::packets(1000));
    let codel = CoDel {
        limit,
        ecn: true,
        ..CoDel::default()
    };
    let queues = [
        ("CoDel, marks", Queue::CoDel(codel)),
        ("FQ-CoDel", Queue::FqCoDel(FqCoDel::default())),
        (
            "PIE, drops",
            Queue::Pie(Pie {
                limit,
                ..Pie::default()
            }),
        ),
        (
            "marks above 5ms",
            Queue::StepMark(StepMark {
                threshold: Limit::time(Nanos::from_millis(5)),
                drop_not_ect: true,
                limit,
            }),
        ),
    ];
    queues
        .into_iter()
        .map(|(name, queue)| {
            let path = Path::constant(50.0, 40.0, 2.0).queue(queue);
            let name = format!("50Mbps 40ms {name}");
            Case::bulk(Family::Aqm, name, path, seconds(10.0))
        })
        .collect()
}

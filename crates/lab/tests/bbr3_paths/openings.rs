//! Links that open and close, and applications that do.

use kneepoint_lab::controllers::resolve;
use kneepoint_lab::workload::Load;

use crate::paths::{bdp, constant, goodput, links, seconds, with};

/// 4 Mb/s of frames, 30 a second, and every 2 s one of 100 kB, into a queue of 0.3 bandwidth-delay products.
#[test]
fn intra_coded_frames_lose_little() {
    let end = 20.0;
    let mut application = Vec::new();
    for start in 0..10 {
        let start = 2.0 * f64::from(start);
        let frames = |until: f64, bytes, period: f64| {
            Load::Frames {
                bytes,
                period: seconds(period),
            }
            .until(seconds(until))
        };
        application.push(frames(start + 1.0 / 30.0, 100_000, 1.0));
        application.push(frames(start + 2.0, 15_000, 1.0 / 30.0));
    }
    for name in ["bbr3", "bbr3-s"] {
        let links = links(constant(20.0), 0.04, bdp(20.0, 0.04, 0.3));
        let controller = resolve(name, 1).expect("a known controller");
        let outcome = with(controller, links, end, Some(application.clone()));
        let lost = outcome.links["forward"].loss_rate();
        assert!(lost <= 0.01, "{name}: {lost}");
        assert!(goodput(&outcome, 2.0, end) > 3.8, "{name}");
    }
}

//! Applications that do not always have data: responses, frames, pages, and bulk data with pauses.

use std::time::Duration;

use super::rate_name;
use crate::frontier::case::Sender;
use crate::frontier::path::rate;
use crate::frontier::{Case, Family, Path, ms, seconds};
use crate::units::Rate;
use crate::workload::{IFrames, Load, Media, Phase, Workload};

pub(super) fn cases() -> Vec<Case> {
    let rpc = RPC_RTTS.iter().map(|&rtt_ms| {
        let calls = Load::Calls {
            bytes: 100_000,
            interval: ms(100),
            count: None,
        };
        // As a switch has it: more than one response.
        let path = Path::new(rate(1_000.0), rtt_ms, 500_000);
        let phases = vec![until(5.0, calls)];
        (format!("RPC 100kB, 1Gbps {rtt_ms}ms"), path, phases)
    });
    let media = MEDIA.iter().map(|&(mbps, i_bytes, link, rtt_ms, bdps)| {
        let media = Workload::Media(Media {
            rate: Rate::from_bits_per_second((mbps * 1e6) as u64),
            fps: 30,
            i_frames: (i_bytes > 0).then_some(IFrames {
                bytes: i_bytes,
                interval: ms(2000),
            }),
            deadline: ms(400),
        });
        let name = format!(
            "media {} i={}kB, {} {rtt_ms}ms {bdps}bdp",
            rate_name(mbps),
            i_bytes / 1000,
            rate_name(link)
        );
        let path = Path::constant(link, rtt_ms, bdps);
        (name, path, media.phases(Duration::ZERO, seconds(20.0)))
    });
    let web = WEB.iter().map(|&(mbps, rtt_ms)| {
        let name = format!("web pages, {} {rtt_ms}ms", rate_name(mbps));
        (name, Path::constant(mbps, rtt_ms, 1.0), pages())
    });
    let messages = rpc.chain(media).chain(web).map(|(name, path, phases)| {
        let end = phases.last().map_or(Duration::ZERO, |phase| phase.until);
        let senders = vec![Sender::doing(phases)];
        // What is on its way at the end has time to arrive.
        Case::bulk(Family::Applications, name, path, end + seconds(10.0)).senders(senders)
    });
    let on_off = ON_OFF.iter().map(|&(on, off, mbps)| {
        let end = seconds(24.0);
        let workload = Workload::OnOff {
            on: seconds(on),
            off: seconds(off),
        };
        let senders = vec![Sender::doing(workload.phases(Duration::ZERO, end))];
        let name = format!("on {on}s off {off}s, {} 40ms", rate_name(mbps));
        let path = Path::constant(mbps, 40.0, 2.0);
        Case::bulk(Family::Applications, name, path, end).senders(senders)
    });
    messages.chain(on_off).collect()
}

/// Four pages: a document of 50 kB, then 25 objects of 40 kB within 50 ms, then a pause.
fn pages() -> Vec<Phase> {
    let calls = |bytes, interval, count| Load::Calls {
        bytes,
        interval,
        count: Some(count),
    };
    (0_u32..4)
        .flat_map(|page| {
            let start = 5.0 * f64::from(page);
            [
                until(start + 0.5, calls(50_000, ms(1000), 1)),
                until(start + 5.0, calls(40_000, ms(2), 25)),
            ]
        })
        .collect()
}

fn until(end: f64, load: Load) -> Phase {
    Phase {
        until: seconds(end),
        load,
    }
}

/// In ms.
const RPC_RTTS: [f64; 4] = [0.1, 0.3, 2.0, 10.0];

/// Mb/s of the frames, bytes of each I-frame, Mb/s of the link, ms, and BDP.
const MEDIA: [(f64, u64, f64, f64, f64); 3] = [
    (4.0, 100_000, 20.0, 40.0, 0.3),
    (4.0, 100_000, 6.0, 40.0, 2.0),
    (2.0, 0, 10.0, 100.0, 1.0),
];

/// Mb/s and ms.
const WEB: [(f64, f64); 2] = [(5.0, 100.0), (50.0, 20.0)];

/// Seconds of data, seconds of silence, and Mb/s.
const ON_OFF: [(f64, f64, f64); 2] = [(2.0, 1.0, 20.0), (0.3, 0.5, 20.0)];

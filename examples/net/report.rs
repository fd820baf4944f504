//! A line of figures for each second of a connection.

use std::time::Duration;

use kneepoint::Snapshot;
use quinn::Connection;
use tokio::time::{MissedTickBehavior, interval};

/// Prints what a connection sends and receives until it ends.
pub(crate) async fn report(connection: Connection, print: fn(&str)) {
    let mut seconds = interval(Duration::from_secs(1));
    seconds.set_missed_tick_behavior(MissedTickBehavior::Skip);
    // The first tick is now.
    seconds.tick().await;
    let (mut sent, mut received) = (0, 0);
    loop {
        tokio::select! {
            _ = seconds.tick() => {}
            _ = connection.closed() => return,
        }
        let stats = connection.stats();
        let rate = |now: u64, before: u64| (now - before) as f64 * 8e-6;
        print(&format!(
            "{}: out {:6.2} Mb/s, in {:6.2} Mb/s, RTT {:6.1} ms, {} packets lost, {}",
            connection.remote_address(),
            rate(stats.udp_tx.bytes, sent),
            rate(stats.udp_rx.bytes, received),
            connection.rtt().as_secs_f64() * 1e3,
            stats.path.lost_packets,
            describe(
                kneepoint::quinn::snapshot(connection.congestion_state()),
                stats.path.cwnd
            ),
        ));
        (sent, received) = (stats.udp_tx.bytes, stats.udp_rx.bytes);
    }
}

/// The controller's estimates; of quinn's own controllers only the window is visible.
fn describe(state: Option<Snapshot>, window: u64) -> String {
    let Some(state) = state else {
        return format!("window {} kB", window / 1000);
    };
    let mut text = format!(
        "{} {:?}, window {} kB",
        state.algorithm,
        state.mode,
        window / 1000
    );
    if let Some(bandwidth) = state.bandwidth {
        text += &format!(", estimate {:.2} Mb/s", bandwidth.megabits_per_second());
    }
    if let Some(min_rtt) = state.min_rtt {
        text += &format!(" at {:.1} ms", min_rtt.as_secs_f64() * 1e3);
    }
    text
}

//! Every order in which the steps of the relay's threads may come, by loom. Its waits never time out, so a wake-up that is missed is a
//! deadlock, which loom reports.

use std::sync::Arc;

use loom::thread;

use super::Clock;
use super::backlog::Backlog;
use super::path::{Path, Turn};
use crate::link::{Link, LinkConfig, Shaper};
use crate::packet::Packet;
use crate::time::Nanos;

fn path() -> Arc<Path> {
    let link = Link::new(LinkConfig::new(Shaper::Unlimited), 1).expect("it is valid");
    let backlog = Arc::new(Backlog::new(u64::MAX));
    Arc::new(Path::new(link, Clock::start(), u64::MAX, false, backlog))
}

fn packet() -> Packet {
    Packet {
        source: ([127, 0, 0, 1], 1).into(),
        destination: ([127, 0, 0, 1], 2).into(),
        ecn: None,
        payload: vec![0; 100],
    }
}

fn offer(path: &Path, packets: usize) {
    path.offer(Nanos(1), (0..packets).map(|_| packet()));
}

#[test]
fn a_packet_wakes_the_sender() {
    loom::model(|| {
        let path = path();
        let waiting = Arc::clone(&path);
        let sender = thread::spawn(move || {
            let mut turn = Turn::default();
            assert!(waiting.wait(&mut turn));
            turn.due.len()
        });
        offer(&path, 1);
        assert_eq!(sender.join().expect("it does not panic"), 1);
    });
}

/// What was offered is with the sender or in the link, and the sender ends.
#[test]
fn a_stop_loses_no_packet() {
    loom::model(|| {
        let path = path();
        let waiting = Arc::clone(&path);
        let sender = thread::spawn(move || {
            let mut sent = 0;
            loop {
                let mut turn = Turn::default();
                let goes_on = waiting.wait(&mut turn);
                sent += turn.due.len() as u64;
                if !goes_on {
                    return sent;
                }
            }
        });
        let receiving = Arc::clone(&path);
        let receiver = thread::spawn(move || {
            offer(&receiving, 1);
            offer(&receiving, 1);
        });
        path.stop();
        let sent = sender.join().expect("it does not panic");
        receiver.join().expect("it does not panic");
        let (statistics, _, overflow) = path.statistics();
        assert_eq!((statistics.offered.packets, overflow), (2, 0));
        assert_eq!(statistics.delivered.packets, sent);
    });
}

/// An entry that the recorder takes over counts as the sender's until it counts as the recorder's.
#[test]
fn an_entry_of_the_log_always_counts() {
    loom::model(|| {
        let backlog = Arc::new(Backlog::new(1));
        backlog.add(1);
        let taking = Arc::clone(&backlog);
        let recorder = thread::spawn(move || taking.hand_over(1, 1));
        assert!(backlog.is_exhausted());
        recorder.join().expect("it does not panic");
        assert!(backlog.is_exhausted());
    });
}

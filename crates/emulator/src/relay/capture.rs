//! Copies of what the relay's clients send and receive.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};

use super::lock;
use crate::packet::Packet;
use crate::time::Nanos;

/// Takes copies of datagrams, as they pass on the clients' side of the relay: those that clients send when the relay has read
/// them, those to clients when it has sent them. They have the server's address, as if there were no relay.
pub trait CaptureSink: Send {
    /// Takes a datagram that passed at a time since the relay's start.
    ///
    /// # Errors
    /// Those of a writer.
    fn datagram(&mut self, at: Nanos, packet: &Packet) -> io::Result<()>;

    /// Learns that there are no more.
    ///
    /// # Errors
    /// Those of a writer.
    fn finish(&mut self) -> io::Result<()>;
}

/// What a thread of the relay copies datagrams into. Clones share it.
#[derive(Debug, Clone)]
pub(super) struct Tap {
    copies: SyncSender<(Nanos, Packet)>,
    left_out: Arc<AtomicU64>,
}

impl Tap {
    /// A tap that counts what it has to leave out, and its other end.
    pub(super) fn new(left_out: Arc<AtomicU64>) -> (Self, Receiver<(Nanos, Packet)>) {
        let (copies, taken) = sync_channel(WAITING);
        (Self { copies, left_out }, taken)
    }

    /// Copies datagrams. A sink that is slow, or has failed, must not delay what it sees.
    pub(super) fn copy<'a>(&self, at: Nanos, packets: impl IntoIterator<Item = &'a Packet>) {
        for packet in packets {
            if self.copies.try_send((at, packet.clone())).is_err() {
                self.left_out.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

/// Feeds a sink until there is no tap. An error is told at once.
pub(super) fn run(
    mut sink: Box<dyn CaptureSink>,
    copies: &Receiver<(Nanos, Packet)>,
    failure: &Mutex<Option<String>>,
) -> io::Result<()> {
    let mut work = || {
        for (at, packet) in copies {
            sink.datagram(at, &packet)?;
        }
        sink.finish()
    };
    work().inspect_err(|error| *lock(failure) = Some(error.to_string()))
}

/// How many datagrams may wait for the sink: 6 MB of full ones.
const WAITING: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails at the third datagram.
    struct Short(Vec<Nanos>);

    impl CaptureSink for Short {
        fn datagram(&mut self, at: Nanos, _: &Packet) -> io::Result<()> {
            if self.0.len() == 2 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.0.push(at);
            Ok(())
        }

        fn finish(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_is_not_taken_is_counted() {
        let left_out = Arc::new(AtomicU64::new(0));
        let (tap, copies) = Tap::new(Arc::clone(&left_out));
        let packet = Packet {
            source: ([127, 0, 0, 1], 1).into(),
            destination: ([127, 0, 0, 1], 2).into(),
            ecn: None,
            payload: vec![0; 10],
        };
        for _ in 0..WAITING + 5 {
            tap.copy(Nanos(1), [&packet]);
        }
        assert_eq!(left_out.load(Ordering::Relaxed), 5);
        let failure = Mutex::default();
        let error = run(Box::new(Short(Vec::new())), &copies, &failure).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert_eq!(*lock(&failure), Some(error.to_string()));
        drop(copies);
        tap.copy(Nanos(2), [&packet]);
        assert_eq!(left_out.load(Ordering::Relaxed), 6);
    }
}

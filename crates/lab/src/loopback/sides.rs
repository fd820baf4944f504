//! The two sides of a transfer, over either QUIC stack, on sockets of the system.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::path::LOOPBACK;
use super::{End, LoopbackError};
use crate::controllers::{Candidate, Stack};
use crate::probe::{Recorder, Recording};
use crate::real_clock::{Moment, Passed};
use crate::stack::{Close, Connection, Endpoint, Limits, ReceiveStream, SendStream, Windows};

/// A transfer, as its sender is told.
#[derive(Debug)]
pub(super) struct Transfer {
    pub(super) candidate: Candidate,
    /// The receiver, or the relay before it.
    pub(super) to: SocketAddr,
    pub(super) size: u64,
    /// After this time it ends unfinished; the handshake has as much again.
    pub(super) limit: Duration,
    pub(super) socket_buffer: Option<usize>,
}

/// A transfer, as its sender saw it.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) end: End,
    /// From the first write until the receiver had everything, or until the end.
    pub(super) passed: Passed,
    pub(super) recording: Recording,
}

/// A transfer, as its receiver saw it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Received {
    /// Bytes that the application has read.
    pub(super) bytes: u64,
    /// The processor time of its thread, from the end of the handshake on; `None` if the system does not provide it.
    pub(super) processor_seconds: Option<f64>,
}

/// Sends, on this thread.
pub(super) fn send(transfer: Transfer) -> Result<Sent, LoopbackError> {
    let socket = bind(transfer.socket_buffer)?;
    let sending = async {
        match &transfer.candidate {
            Candidate::Quinn(factory) => {
                carry_out::<quinn::Endpoint>(socket, factory, &transfer).await
            }
            Candidate::Noq(factory) => carry_out::<noq::Endpoint>(socket, factory, &transfer).await,
        }
    };
    runtime()?.block_on(sending)
}

/// Receives one transfer, on this thread, and stays until it is told to stop.
pub(super) fn receive(
    stack: Stack,
    socket: UdpSocket,
    stop: oneshot::Receiver<()>,
) -> Result<Received, LoopbackError> {
    let progress = Arc::new(Progress::default());
    let receiving = async {
        let result = match stack {
            Stack::Quinn => serve::<quinn::Endpoint>(socket, &progress),
            Stack::Noq => serve::<noq::Endpoint>(socket, &progress),
        };
        result.map_err(LoopbackError::system("open an endpoint"))?;
        // An error is a parent that is gone, and a reason to stop too.
        let _ = stop.await;
        Ok(progress.received())
    };
    runtime()?.block_on(receiving)
}

/// A socket on this machine, with buffers of the requested size, as far as the system grants it.
pub(super) fn bind(buffer: Option<usize>) -> Result<UdpSocket, LoopbackError> {
    let bind = || {
        let socket = UdpSocket::bind(LOOPBACK)?;
        if let Some(size) = buffer {
            let options = socket2::SockRef::from(&socket);
            options.set_recv_buffer_size(size)?;
            options.set_send_buffer_size(size)?;
        }
        Ok(socket)
    };
    bind().map_err(LoopbackError::system("open a socket"))
}

/// One thread for everything, so that this thread's processor time is that of the side.
fn runtime() -> Result<Runtime, LoopbackError> {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.map_err(LoopbackError::system("start a runtime"))
}

/// How far a receiver is. All its tasks run on one thread.
#[derive(Debug, Default)]
struct Progress {
    bytes: AtomicU64,
    finished_streams: AtomicUsize,
    processor: Mutex<Processor>,
}

/// The processor time of a receiver.
#[derive(Debug, Default, Clone, Copy)]
enum Processor {
    /// No handshake is complete.
    #[default]
    Idle,
    /// The time since which it receives.
    Working(Moment),
    /// It has everything, and needed this.
    Done(Passed),
}

impl Progress {
    fn begin(&self) {
        *self.lock() = Processor::Working(Moment::now());
    }

    fn read(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// A stream is at its end. Returns whether all `streams` are.
    fn finish_stream(&self, streams: usize) -> bool {
        let done = self.finished_streams.fetch_add(1, Ordering::Relaxed) + 1 == streams;
        if done {
            let mut processor = self.lock();
            if let Processor::Working(begin) = *processor {
                *processor = Processor::Done(begin.passed());
            }
        }
        done
    }

    fn received(&self) -> Received {
        let processor = match *self.lock() {
            Processor::Idle => None,
            Processor::Working(begin) => begin.passed().processor,
            Processor::Done(passed) => passed.processor,
        };
        Received {
            bytes: self.bytes.load(Ordering::Relaxed),
            processor_seconds: processor.map(|time| time.as_secs_f64()),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Processor> {
        // Every value is written at once.
        self.processor
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

async fn carry_out<E: Endpoint>(
    socket: UdpSocket,
    factory: &E::Factory,
    transfer: &Transfer,
) -> Result<Sent, LoopbackError> {
    let recorder = Recorder::new(Moment::now().wall());
    let endpoint = E::on_system(socket, None).map_err(LoopbackError::system("open an endpoint"))?;
    let connecting = endpoint
        .connect(transfer.to, LIMITS, factory, &recorder)
        .map_err(LoopbackError::Connect)?;
    let handshake = Moment::now();
    let connection = match timeout(transfer.limit, connecting).await {
        Ok(Ok(connection)) => connection,
        failed => {
            return Ok(Sent {
                end: match failed {
                    Ok(Err(error)) => End::Closed(error),
                    _ => End::TimedOut,
                },
                passed: handshake.passed(),
                recording: recorder.take(),
            });
        }
    };
    let begin = Moment::now();
    let end = match timeout(transfer.limit, upload(&connection, transfer.size)).await {
        Ok(end) => end,
        Err(_elapsed) => End::TimedOut,
    };
    Ok(Sent {
        end,
        passed: begin.passed(),
        recording: recorder.take(),
    })
}

/// Writes to its streams in turn, then waits until the receiver, who has everything, closes the connection.
async fn upload<C: Connection>(connection: &C, size: u64) -> End {
    let mut streams = Vec::new();
    while streams.len() < C::BULK_STREAMS
        && let Ok(stream) = connection.open_uni().await
    {
        streams.push(stream);
    }
    let mut left = size;
    'sending: while left > 0 && !streams.is_empty() {
        for stream in &mut streams {
            let length = usize::try_from(left).unwrap_or(usize::MAX).min(CHUNK.len());
            let chunk = Bytes::from_static(&CHUNK).slice(..length);
            if stream.write(chunk).await.is_err() {
                break 'sending;
            }
            left -= length as u64;
        }
    }
    for stream in &mut streams {
        // An error here has closed the connection, which the next line detects.
        let _ = stream.finish();
    }
    match connection.closed().await {
        Close::ByPeer(code) if code == u64::from(DONE) => End::Finished,
        Close::ByPeer(code) => End::Closed(format!("by the receiver, code {code}")),
        Close::Because(reason) => End::Closed(reason),
    }
}

/// Starts to receive one connection's streams.
fn serve<E: Endpoint>(socket: UdpSocket, progress: &Arc<Progress>) -> io::Result<()> {
    let endpoint = E::on_system(socket, Some(LIMITS))?;
    let progress = Arc::clone(progress);
    tokio::spawn(async move {
        if let Some((_, handshake)) = endpoint.accept().await
            && let Ok(connection) = handshake.await
        {
            progress.begin();
            for _ in 0..E::Connection::BULK_STREAMS {
                if let Ok(stream) = connection.accept_uni().await {
                    tokio::spawn(drain(connection.clone(), stream, Arc::clone(&progress)));
                }
            }
            connection.closed().await;
        }
    });
    Ok(())
}

/// Reads a stream to its end. The last one to end closes the connection.
async fn drain<C: Connection>(connection: C, mut stream: C::Receive, progress: Arc<Progress>) {
    while let Ok(next) = stream.read().await {
        match next {
            Some(bytes) => progress.read(bytes.len()),
            None if progress.finish_stream(C::BULK_STREAMS) => return connection.close(DONE),
            None => return,
        }
    }
}

/// The sender's data, which it repeats.
static CHUNK: [u8; 256 * 1024] = [0; 256 * 1024];

/// The receiver's close code once it has everything.
const DONE: u32 = 1;

/// The sender's buffer of unacknowledged data: 25 ms at 20 Gb/s. A larger one would measure the memory instead.
const LIMITS: Limits = Limits {
    windows: Windows::Large { send: 64 << 20 },
    idle_timeout: true,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_has_everything_when_all_streams_are_at_their_end() {
        let progress = Progress::default();
        assert_eq!(progress.received(), Received::default());
        progress.begin();
        progress.read(7);
        assert!(!progress.finish_stream(2));
        progress.read(8);
        assert!(progress.finish_stream(2));
        let received = progress.received();
        assert_eq!(received.bytes, 15);
        // It does not count on.
        assert_eq!(progress.received(), received);
    }
}

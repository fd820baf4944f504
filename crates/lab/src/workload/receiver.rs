//! What a receiving application does, and what it sees.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quinn::{Connection, Endpoint, RecvStream};

use super::clock::Clock;

/// A stream that has arrived to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// When its sender began it.
    pub began: Duration,
    /// When its last byte had been read.
    pub arrived: Duration,
    /// Its size.
    pub bytes: u64,
}

/// What was received from one address. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Received(Arc<Mutex<Content>>);

#[derive(Debug, Default)]
struct Content {
    bins: Vec<u64>,
    messages: Vec<Message>,
}

impl Received {
    /// Stream bytes by the time at which they were read, in bins of [`BIN`](Self::BIN).
    pub fn bins(&self) -> Vec<u64> {
        self.lock().bins.clone()
    }

    /// The streams that have arrived to their ends, in the order in which they did.
    pub fn messages(&self) -> Vec<Message> {
        self.lock().messages.clone()
    }

    /// The width of a bin.
    pub const BIN: Duration = Duration::from_millis(100);

    /// So many more were read.
    pub(crate) fn count(&self, at: Duration, bytes: u64) {
        let bin = usize::try_from(at.as_nanos() / Self::BIN.as_nanos()).unwrap_or(usize::MAX);
        let bins = &mut self.lock().bins;
        if bin >= bins.len() {
            bins.resize(bin.saturating_add(1), 0);
        }
        bins[bin] += bytes;
    }

    fn lock(&self) -> MutexGuard<'_, Content> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads every stream of every connection, answers requests, and sorts what comes by the address that it comes from.
///
/// Returns when the endpoint is closed.
pub async fn receive(clock: Clock, endpoint: Endpoint, senders: HashMap<SocketAddr, Received>) {
    while let Some(incoming) = endpoint.accept().await {
        let received = senders.get(&incoming.remote_address()).cloned();
        let Ok(connecting) = incoming.accept() else {
            continue;
        };
        let tasks = clock.clone();
        clock.spawn(async move {
            if let Ok(connection) = connecting.await {
                read_streams(&tasks, connection, received.unwrap_or_default());
            }
        });
    }
}

fn read_streams(clock: &Clock, connection: Connection, received: Received) {
    let (tasks, requests, answered) = (clock.clone(), connection.clone(), received.clone());
    clock.spawn(async move {
        while let Ok((mut answer, mut request)) = requests.accept_bi().await {
            let (clock, received) = (tasks.clone(), answered.clone());
            tasks.spawn(async move {
                if read(&clock, &mut request, &received).await.is_some() {
                    // An answer without content; a connection that has closed needs none.
                    _ = answer.finish();
                }
            });
        }
    });
    let tasks = clock.clone();
    clock.spawn(async move {
        while let Ok(mut stream) = connection.accept_uni().await {
            let (clock, received) = (tasks.clone(), received.clone());
            tasks.spawn(async move {
                read(&clock, &mut stream, &received).await;
            });
        }
    });
}

/// Reads a stream to its end; `None` if it is cut off.
async fn read(clock: &Clock, stream: &mut RecvStream, received: &Received) -> Option<()> {
    let (mut header, mut bytes) = ([0; 8], 0_u64);
    while let Some(chunk) = stream.read_chunk(usize::MAX, true).await.ok()? {
        for (place, byte) in header
            .iter_mut()
            .skip(usize::try_from(bytes).ok()?)
            .zip(chunk.bytes.iter())
        {
            *place = *byte;
        }
        let size = chunk.bytes.len() as u64;
        bytes += size;
        received.count(clock.now(), size);
    }
    received.lock().messages.push(Message {
        began: Duration::from_nanos(u64::from_be_bytes(header)),
        arrived: clock.now(),
        bytes,
    });
    Some(())
}

//! What a receiving application does, and what it sees.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::clock::Clock;
use super::due::{Due, Series};
use super::load::{Load, Phase, write_request};
use crate::stack::{Connection, Endpoint, ReceiveStream, SendStream};

/// A stream that has arrived to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// When its sender was to begin it; of a response, when its request was due.
    pub began: Duration,
    /// When its last byte had been read.
    pub arrived: Duration,
    /// Its size.
    pub bytes: u64,
}

/// What was received from one address. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Received {
    content: Arc<Mutex<Content>>,
    due: Due,
    /// The sender's phases, as far as the receiver must know them.
    expected: Arc<[Phase]>,
}

#[derive(Debug, Default)]
struct Content {
    bins: Vec<u64>,
    messages: Vec<Message>,
}

impl Received {
    /// What is to come from a sender with this application. Only [`Load::Calls`] need it, as it is the receiver that calls.
    pub fn expecting(application: &[Phase]) -> Self {
        let calls = |phase: &Phase| matches!(phase.load, Load::Calls { .. });
        let expected = if application.iter().any(calls) {
            application.into()
        } else {
            Arc::default()
        };
        Self {
            expected,
            ..Self::default()
        }
    }

    /// The messages that were due: the requests, and the frames if the sender [notes](super::send_noting) them here.
    pub fn due(&self) -> &Due {
        &self.due
    }

    /// Stream bytes by the time at which they were read, in bins of [`BIN`](Self::BIN).
    pub fn bins(&self) -> Vec<u64> {
        self.lock().bins.clone()
    }

    /// The streams that have arrived to their ends, in the order in which they did.
    pub fn messages(&self) -> Vec<Message> {
        self.lock().messages.clone()
    }

    /// Stream bytes read since a time, to the bin.
    pub fn bytes_since(&self, from: Duration) -> u64 {
        let first = from.as_nanos() / Self::BIN.as_nanos();
        let first = usize::try_from(first).unwrap_or(usize::MAX);
        self.lock().bins.iter().skip(first).sum()
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
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads every stream of every connection, answers requests, sends those that the sender expects, and sorts what comes by
/// the address that it comes from.
///
/// Returns when the endpoint is closed.
pub async fn receive<E: Endpoint>(
    clock: Clock,
    endpoint: E,
    senders: HashMap<SocketAddr, Received>,
) {
    while let Some((peer, handshake)) = endpoint.accept().await {
        let received = senders.get(&peer).cloned().unwrap_or_default();
        let tasks = clock.clone();
        clock.spawn(async move {
            if let Ok(connection) = handshake.await {
                if !received.expected.is_empty() {
                    tasks.spawn(call(tasks.clone(), connection.clone(), received.clone()));
                }
                read_streams(&tasks, connection, received);
            }
        });
    }
}

pub(crate) fn read_streams(clock: &Clock, connection: impl Connection, received: Received) {
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

/// Calls as the sender's application expects it, until it is over or the connection is closed.
async fn call<C: Connection>(clock: Clock, connection: C, received: Received) {
    for phase in received.expected.iter() {
        if let Load::Calls {
            bytes,
            interval,
            count,
        } = phase.load
        {
            let calls = Series {
                first: clock.now(),
                period: interval,
                until: phase.until,
                max: count,
            };
            received.due.begin(calls);
            for due in calls.times() {
                clock.sleep_until(due).await;
                let Ok((mut request, mut response)) = connection.open_bi().await else {
                    return;
                };
                let (tasks, received) = (clock.clone(), received.clone());
                clock.spawn(async move {
                    if write_request(&mut request, due, bytes).await.is_some() {
                        read(&tasks, &mut response, &received).await;
                    }
                });
            }
        }
        clock.sleep_until(phase.until).await;
    }
}

/// Reads a stream to its end; `None` if it is cut off.
async fn read(clock: &Clock, stream: &mut impl ReceiveStream, received: &Received) -> Option<()> {
    let (mut header, mut bytes) = ([0; 8], 0_u64);
    while let Some(chunk) = stream.read().await.ok()? {
        for (place, byte) in header
            .iter_mut()
            .skip(usize::try_from(bytes).ok()?)
            .zip(chunk.iter())
        {
            *place = *byte;
        }
        let size = chunk.len() as u64;
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

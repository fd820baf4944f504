//! Counts the socket calls of a QUIC endpoint, between quinn and tokio.

use std::fmt;
use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use quinn::udp::{RecvMeta, Transmit};
use quinn::{AsyncTimer, AsyncUdpSocket, Runtime, TokioRuntime, UdpPoller};

use crate::real_clock::now;

/// How often each number of datagrams was handled at once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sizes(Vec<u64>);

impl Sizes {
    pub(crate) fn add(&mut self, datagrams: usize) {
        if self.0.len() <= datagrams {
            self.0.resize(datagrams + 1, 0);
        }
        if let Some(count) = self.0.get_mut(datagrams) {
            *count += 1;
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.0.resize(self.0.len().max(other.0.len()), 0);
        for (count, more) in self.0.iter_mut().zip(&other.0) {
            *count += more;
        }
    }

    /// How often, in all.
    pub(crate) fn times(&self) -> u64 {
        self.0.iter().sum()
    }

    /// How many datagrams, in all.
    pub(crate) fn datagrams(&self) -> u64 {
        (0..).zip(&self.0).map(|(size, count)| size * count).sum()
    }

    /// The smallest number that at least the fraction `p` of the times did not exceed; zero of nothing.
    pub(crate) fn percentile(&self, p: f64) -> usize {
        let rank = (p * self.times() as f64).ceil() as u64;
        let mut seen = 0;
        for (size, count) in self.0.iter().enumerate() {
            seen += count;
            if seen >= rank.max(1) {
                return size;
            }
        }
        0
    }

    /// The largest number.
    pub(crate) fn max(&self) -> usize {
        self.0.iter().rposition(|&count| count > 0).unwrap_or(0)
    }
}

/// The socket calls of an endpoint.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Datagrams of each batch: what is read after one wake-up, for [`CYCLE`] at most.
    pub(crate) batches: Sizes,
    /// Datagrams of each call that reads.
    pub(crate) reads: Sizes,
    /// Bytes of UDP payload that were read.
    pub(crate) received_bytes: u64,
    /// Datagrams of each call that sends.
    pub(crate) bursts: Sizes,
    /// Bytes of UDP payload that were sent.
    pub(crate) sent_bytes: u64,
    batch: Option<Batch>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Batch {
    begin: Instant,
    datagrams: usize,
}

impl Counts {
    fn read(&mut self, at: Instant, metas: &[RecvMeta]) {
        let datagrams = metas
            .iter()
            .map(|meta| meta.len.div_ceil(meta.stride.max(1)))
            .sum();
        self.reads.add(datagrams);
        self.received_bytes += metas.iter().map(|meta| meta.len as u64).sum::<u64>();
        match &mut self.batch {
            Some(batch) if at.saturating_duration_since(batch.begin) < CYCLE => {
                batch.datagrams += datagrams;
            }
            _ => {
                self.end_batch();
                self.batch = Some(Batch {
                    begin: at,
                    datagrams,
                });
            }
        }
    }

    /// There is nothing more to read.
    fn end_batch(&mut self) {
        if let Some(batch) = self.batch.take() {
            self.batches.add(batch.datagrams);
        }
    }

    fn sent(&mut self, transmit: &Transmit<'_>) {
        let size = transmit.segment_size.unwrap_or(transmit.contents.len());
        self.bursts
            .add(transmit.contents.len().div_ceil(size.max(1)));
        self.sent_bytes += transmit.contents.len() as u64;
    }
}

/// tokio for quinn, which counts what its sockets do. Clones count together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counting(Arc<Mutex<Counts>>);

impl Counting {
    /// Everything so far.
    pub(crate) fn take(&self) -> Counts {
        let mut counts = std::mem::take(&mut *self.lock());
        counts.end_batch();
        counts
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        // Counts are valid after every statement.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Runtime for Counting {
    fn new_timer(&self, at: Instant) -> Pin<Box<dyn AsyncTimer>> {
        TokioRuntime.new_timer(at)
    }

    fn spawn(&self, future: Pin<Box<dyn Future<Output = ()> + Send>>) {
        TokioRuntime.spawn(future);
    }

    fn wrap_udp_socket(&self, socket: UdpSocket) -> io::Result<Arc<dyn AsyncUdpSocket>> {
        Ok(Arc::new(Socket {
            inner: TokioRuntime.wrap_udp_socket(socket)?,
            counting: self.clone(),
        }))
    }
}

struct Socket {
    inner: Arc<dyn AsyncUdpSocket>,
    counting: Counting,
}

impl AsyncUdpSocket for Socket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Arc::clone(&self.inner).create_io_poller()
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        self.inner.try_send(transmit)?;
        self.counting.lock().sent(transmit);
        Ok(())
    }

    fn poll_recv(
        &self,
        context: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
        metas: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        let result = self.inner.poll_recv(context, buffers, metas);
        match &result {
            Poll::Ready(Ok(count)) => {
                let metas = metas.get(..*count).unwrap_or_default();
                self.counting.lock().read(now(), metas);
            }
            Poll::Ready(Err(_)) => {}
            Poll::Pending => self.counting.lock().end_batch(),
        }
        result
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.inner.local_addr()
    }

    fn max_transmit_segments(&self) -> usize {
        self.inner.max_transmit_segments()
    }

    fn max_receive_segments(&self) -> usize {
        self.inner.max_receive_segments()
    }

    fn may_fragment(&self) -> bool {
        self.inner.may_fragment()
    }
}

impl fmt::Debug for Socket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.inner, f)
    }
}

/// How long quinn reads before it lets its connections run.
pub(crate) const CYCLE: Duration = Duration::from_micros(50);

#[cfg(test)]
mod tests {
    use super::*;

    fn meta(len: usize, stride: usize) -> RecvMeta {
        RecvMeta {
            len,
            stride,
            ..RecvMeta::default()
        }
    }

    fn sizes(all: &[usize]) -> Sizes {
        let mut sizes = Sizes::default();
        all.iter().for_each(|&size| sizes.add(size));
        sizes
    }

    #[test]
    fn sizes_are_counted() {
        let mut some = sizes(&[1, 1, 4]);
        assert_eq!((some.times(), some.datagrams(), some.max()), (3, 6, 4));
        assert_eq!((some.percentile(0.5), some.percentile(0.95)), (1, 4));
        some.merge(&sizes(&[9]));
        assert_eq!((some.times(), some.max()), (4, 9));
        let none = Sizes::default();
        assert_eq!((none.times(), none.percentile(0.5), none.max()), (0, 0, 0));
    }

    #[test]
    fn a_read_batch_ends_at_its_time_or_with_an_empty_socket() {
        let at = |micros| now() + Duration::from_secs(1) + Duration::from_micros(micros);
        let begin = at(0);
        let mut counts = Counts::default();
        counts.read(begin, &[meta(2500, 1000), meta(700, 700)]);
        counts.read(begin + Duration::from_micros(10), &[meta(100, 100)]);
        counts.end_batch();
        // Longer than a cycle.
        counts.read(begin + Duration::from_micros(20), &[meta(1, 1)]);
        counts.read(begin + Duration::from_micros(75), &[meta(1, 1), meta(1, 1)]);
        counts.end_batch();
        counts.end_batch();
        assert_eq!(counts.batches, sizes(&[5, 1, 2]));
        assert_eq!(counts.reads, sizes(&[4, 1, 1, 2]));
        assert_eq!(counts.received_bytes, 3303);
    }

    #[test]
    fn a_burst_is_the_datagrams_of_one_call() {
        let mut counts = Counts::default();
        let contents = [0; 2500];
        let transmit = |segment_size| Transmit {
            destination: "127.0.0.1:1".parse().unwrap(),
            ecn: None,
            contents: &contents,
            segment_size,
            src_ip: None,
        };
        counts.sent(&transmit(Some(1000)));
        counts.sent(&transmit(None));
        assert_eq!(counts.bursts, sizes(&[3, 1]));
        assert_eq!(counts.sent_bytes, 5000);
    }
}

//! A QUIC endpoint's view of its host.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};

use super::hosts::{Grid, HostPort};
use super::lock;
use super::ready::BoxFuture;
use super::shared::Shared;
use crate::time::Nanos;

/// The host of one endpoint: when its timers expire, and what time its reader takes.
///
/// quinn and noq look at the clock once and then read all that there is: a batch has the time stamp of its beginning, and is
/// there when the processor is done with it. So the task that reads, which is the first that an endpoint spawns, sees the time at
/// which the processor began, and everybody else the time that it is.
#[derive(Debug)]
pub(super) struct HostView {
    port: HostPort,
    grid: Grid,
    reader_spawned: AtomicBool,
    /// The time that the reader sees while it is polled.
    shown: AtomicU64,
    /// The latest time that it has seen: its time does not go back.
    seen: AtomicU64,
}

impl HostView {
    pub(super) fn new(port: HostPort, grid: Grid) -> Arc<Self> {
        Arc::new(Self {
            port,
            grid,
            reader_spawned: AtomicBool::new(false),
            shown: AtomicU64::new(NOTHING),
            seen: AtomicU64::new(0),
        })
    }

    /// The time that the caller sees.
    pub(super) fn now(&self, shared: &Shared) -> Nanos {
        match self.shown.load(Ordering::Relaxed) {
            NOTHING => shared.clock.now(),
            shown => Nanos(shown),
        }
    }

    /// When a timer with this deadline expires.
    pub(super) fn expiry(&self, deadline: Nanos) -> Nanos {
        self.grid.round_up(deadline)
    }

    /// Lets the reader see the time stamps of what it reads; others' futures stay as they are.
    pub(super) fn wrap(self: &Arc<Self>, shared: &Arc<Shared>, future: BoxFuture) -> BoxFuture {
        if self.reader_spawned.swap(true, Ordering::Relaxed) {
            return future;
        }
        Box::pin(Reader {
            view: Arc::clone(self),
            shared: Arc::clone(shared),
            future,
        })
    }

    fn begin(&self, shared: &Shared) {
        let hosts = shared.hosts.get().map(lock);
        let stamp = hosts.and_then(|hosts| hosts.machine(self.port).stamp(self.port.port));
        let time = stamp.unwrap_or_else(|| shared.clock.now()).0;
        let time = time.max(self.seen.load(Ordering::Relaxed));
        self.seen.store(time, Ordering::Relaxed);
        self.shown.store(time, Ordering::Relaxed);
    }

    fn end(&self) {
        self.shown.store(NOTHING, Ordering::Relaxed);
    }
}

struct Reader {
    view: Arc<HostView>,
    shared: Arc<Shared>,
    future: BoxFuture,
}

impl Future for Reader {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        this.view.begin(&this.shared);
        let poll = this.future.as_mut().poll(cx);
        this.view.end();
        poll
    }
}

/// The end of time, which never comes.
const NOTHING: u64 = u64::MAX;

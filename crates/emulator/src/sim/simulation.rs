//! A network, a clock, and the tasks that live in them.

use std::any::Any;
use std::future::{Future, pending};
use std::io;
use std::net::SocketAddr;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use quinn::{Endpoint, EndpointConfig, ServerConfig};

use super::clock::Clock;
use super::error::SimError;
use super::executor::{End, Executor, Halt, Payload};
use super::handle::Handle;
use super::lock;
use super::nested;
use super::ready::ReadyQueue;
use super::shared::Shared;
use super::socket::Socket;
use super::task::TaskName;
use super::tokio_runtime::Tokio;
use super::unfinished::Unfinished;
use crate::host::HostConfig;
use crate::network::{Network, Side};
use crate::time::Nanos;

/// Runs tasks over an emulated network in virtual time.
///
/// Tasks run only inside of [`block_on`](Self::block_on) and its kin, those of `tokio::spawn` too. They run on the calling
/// thread, or on one of their own if that is inside of another tokio runtime. They survive from one run to the next. Dropping
/// the simulation drops them all.
///
/// A panic of a task goes through the run that polled it. The simulation then leaks its tasks
/// instead of dropping them: quinn's destructors do not stand a poisoned lock.
#[derive(Debug)]
pub struct Simulation {
    shared: Arc<Shared>,
    executor: Mutex<Executor>,
}

/// Settings of a [`Simulation`].
#[derive(Debug, Clone)]
#[must_use = "a builder does nothing until it builds"]
pub struct Builder {
    step_limit: u64,
    transmit_segments: usize,
    hosts: Option<HostConfig>,
    tokio: bool,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            step_limit: STEP_LIMIT,
            transmit_segments: TRANSMIT_SEGMENTS,
            hosts: None,
            tokio: true,
        }
    }
}

impl Builder {
    /// How many steps (polls of tasks, batches of events) may happen at one instant before the run
    /// ends with [`SimError::Livelock`]; a million unless set.
    pub fn step_limit(mut self, steps: u64) -> Self {
        self.step_limit = steps;
        self
    }

    /// How many datagrams quinn may hand over in one transmit (generic segmentation offload); 1
    /// unless set, up to 10.
    ///
    /// All datagrams of a transmit enter the network at one instant, so the network cannot tell.
    /// But quinn itself decides a little differently within a batch, which moves packets by
    /// a few milliseconds: its pacer and congestion check count the datagram under construction at
    /// full size, and its congestion controller hears of a batch once. Set 10 to see what quinn
    /// does on Linux; it is no faster here.
    pub fn transmit_segments(mut self, segments: usize) -> Self {
        self.transmit_segments = segments.max(1);
        self
    }

    /// What time all hosts take that have no model of their own; the network's own choice unless set. Binding a socket fails if
    /// the model is not valid.
    ///
    /// On a host that takes time, its [bursts](crate::host::Sending::burst_datagrams) are in the place of
    /// [`transmit_segments`](Self::transmit_segments).
    pub fn hosts(mut self, config: HostConfig) -> Self {
        self.hosts = Some(config);
        self
    }

    /// Whether `tokio::spawn`, `tokio::time` and whatever else needs tokio's runtime work inside of runs; yes unless set.
    ///
    /// Without, a run is a little faster. Inside of another runtime, as in `#[tokio::test]`, all of its tasks then run on the calling
    /// thread.
    pub fn tokio(mut self, works: bool) -> Self {
        self.tokio = works;
        self
    }

    /// A simulation over `network`, at time zero.
    pub fn build(self, mut network: Network) -> Simulation {
        if let Some(config) = self.hosts {
            network.set_hosts(config);
        }
        let seed = network.seed();
        let ready = Arc::<ReadyQueue>::default();
        let tokio = self.tokio.then(|| Tokio::new(seed, Arc::clone(&ready)));
        let tokio = tokio.flatten();
        let epoch = tokio.as_ref().map_or_else(Clock::epoch, Tokio::epoch);
        let shared = Shared::new(network, self.transmit_segments, epoch, ready);
        Simulation {
            shared: Arc::new(shared),
            executor: Mutex::new(Executor::new(self.step_limit, tokio)),
        }
    }
}

impl Simulation {
    /// A simulation over `network`, at time zero.
    pub fn new(network: Network) -> Self {
        Self::builder().build(network)
    }

    /// Settings for a simulation.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// A handle for use within tasks: clock, timers, spawning, sockets.
    pub fn handle(&self) -> Handle {
        Handle::new(Arc::clone(&self.shared))
    }

    /// The virtual time.
    pub fn now(&self) -> Nanos {
        self.shared.clock.now()
    }

    /// Binds a socket; see [`Handle::bind`].
    ///
    /// # Errors
    ///
    /// As [`Handle::bind`].
    pub fn bind(&self, side: Side, address: SocketAddr) -> io::Result<Arc<Socket>> {
        self.handle().bind(side, address)
    }

    /// Opens a quinn endpoint; see [`Handle::endpoint`].
    ///
    /// # Errors
    ///
    /// As [`Handle::bind`].
    pub fn endpoint(
        &self,
        side: Side,
        address: SocketAddr,
        config: EndpointConfig,
        server: Option<ServerConfig>,
    ) -> io::Result<Endpoint> {
        self.handle().endpoint(side, address, config, server)
    }

    /// Reads or changes the network; see [`Handle::with_network`].
    pub fn with_network<T>(&self, f: impl FnOnce(&mut Network) -> T) -> T {
        f(&mut lock(&self.shared.wire).network)
    }

    /// Runs all tasks until `future` completes.
    ///
    /// # Errors
    ///
    /// Nothing is left that could complete it, time stopped, or the simulation runs already.
    ///
    /// # Panics
    ///
    /// If a task panics, with that panic.
    pub fn block_on<F: Future>(&self, future: F) -> Result<F::Output, SimError> {
        self.block_on_until(Nanos::MAX, future)
    }

    /// Runs all tasks until `future` completes, but not beyond `deadline`. What happens at the
    /// deadline itself still happens.
    ///
    /// `future` is dropped at the end; pass `future.as_mut()` of a pinned one to go on with it.
    ///
    /// # Errors
    ///
    /// As [`block_on`](Self::block_on), and [`SimError::Deadline`].
    ///
    /// # Panics
    ///
    /// If a task panics, with that panic.
    pub fn block_on_until<F: Future>(
        &self,
        deadline: Nanos,
        future: F,
    ) -> Result<F::Output, SimError> {
        self.run(End::at(deadline), future)?
            .map_err(|(_, payload)| resume_unwind(payload))
    }

    /// As [`block_on_until`](Self::block_on_until), but a panic of a task that was spawned is an error, which says what
    /// task it was.
    ///
    /// # Errors
    ///
    /// As [`block_on_until`](Self::block_on_until), and [`SimError::Panic`].
    ///
    /// # Panics
    ///
    /// If `future` panics, with that panic.
    pub fn try_block_on_until<F: Future>(
        &self,
        deadline: Nanos,
        future: F,
    ) -> Result<F::Output, SimError> {
        self.run(End::at(deadline), future)?
            .map_err(|(task, payload)| match task {
                TaskName::Main => resume_unwind(payload),
                task => SimError::Panic {
                    at: self.now(),
                    task,
                    message: message(payload.as_ref()),
                },
            })
    }

    /// The unfinished tasks, and what each waits for.
    ///
    /// # Errors
    ///
    /// The simulation runs.
    pub fn unfinished(&self) -> Result<Unfinished, SimError> {
        Ok(self.executor()?.unfinished(&self.shared, None))
    }

    fn executor(&self) -> Result<MutexGuard<'_, Executor>, SimError> {
        match self.executor.try_lock() {
            Ok(executor) => Ok(executor),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => Err(SimError::Nested),
        }
    }

    /// The inner result is that of `future`, or a panic.
    fn run<F: Future>(
        &self,
        end: End,
        future: F,
    ) -> Result<Result<F::Output, (TaskName, Payload)>, SimError> {
        let mut executor = self.executor()?;
        let nested = tokio::runtime::Handle::try_current().is_ok();
        let tokio = executor.tokio();
        let _inside = tokio.as_ref().map(tokio::runtime::Handle::enter);
        let mut output = None;
        let mut main = Box::pin(async { output = Some(future.await) });
        let result = if nested && tokio.is_some() {
            nested::run(&mut executor, &self.shared, main.as_mut(), end)
        } else {
            executor.run(&self.shared, main.as_mut(), end)
        };
        drop(executor);
        if let Err(Halt::Panic(task, payload)) = result {
            // Its destructors may find locks that the panic poisoned, and abort the process.
            std::mem::forget(main);
            return Ok(Err((task, payload)));
        }
        drop(main);
        match (result, output) {
            (Err(Halt::Error(error)), _) => Err(error),
            (Ok(()), Some(output)) => Ok(Ok(output)),
            _ => unreachable!("a run without an error ends with an output"),
        }
    }

    /// Runs all tasks up to `deadline`, events at the deadline included.
    ///
    /// # Errors
    ///
    /// Time stopped before, or the simulation runs already.
    ///
    /// # Panics
    ///
    /// If a task panics, with that panic.
    pub fn run_until(&self, deadline: Nanos) -> Result<(), SimError> {
        let end = End {
            deadline,
            look_beyond: false,
        };
        match self.run(end, pending::<()>()) {
            Ok(result) => result.map_err(|(_, payload)| resume_unwind(payload)),
            Err(SimError::Deadline { .. }) => Ok(()),
            Err(SimError::Deadlock(_)) => {
                self.shared.clock.advance(deadline);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

impl Drop for Simulation {
    fn drop(&mut self) {
        // Destructors of tasks may wake and spawn: from here on that has no effect.
        let queued = self.shared.ready.close();
        let executor = self.executor.get_mut();
        let executor = executor.unwrap_or_else(PoisonError::into_inner);
        if let Err(payload) = executor.clear(queued)
            && !std::thread::panicking()
        {
            resume_unwind(payload);
        }
    }
}

/// The message of a panic.
fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "something that is not a text".to_owned())
}

/// Far more than a busy instant needs, and reached within a second.
const STEP_LIMIT: u64 = 1_000_000;
/// The congestion controller hears of every packet.
const TRANSMIT_SEGMENTS: usize = 1;

//! A plan, carried out.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use super::machine::processor_share;
use super::receiver::Receiver;
use super::row::Row;
use super::sides::{self, Transfer};
use super::{LoopbackError, Machine, Path, Plan, Run};
use crate::controllers::candidate;

/// What a plan has shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// A row for each controller over each path, in the plan's order; without those that have no run.
    pub rows: Vec<Row>,
    /// How many of the plan's [`transfers`](Plan::transfers) were made.
    pub transfers: u64,
    /// Whether it was stopped before the end.
    pub stopped: bool,
}

/// Carries out a plan, path after path, and condenses the runs to a row for each controller over each path, in the plan's
/// order. Calls `progress` after each of the plan's [`transfers`](Plan::transfers), and asks `stop` about ten times a second
/// whether to leave out the rest, the transfer under way included.
///
/// The first transfer over each path is not measured: it brings the machine into the state in which the others find it.
///
/// # Errors
/// A controller is unknown, the system refuses a socket or a thread, or the receiver's process fails. A transfer that does
/// not finish in time is a result.
pub fn measure(
    plan: &Plan,
    progress: &dyn Fn(),
    stop: &dyn Fn() -> bool,
) -> Result<Measured, LoopbackError> {
    for name in &plan.controllers {
        candidate(name, plan.seed)?;
    }
    let machine = Machine::now();
    let mut measured = Measured {
        rows: Vec::new(),
        transfers: 0,
        stopped: false,
    };
    for path in &plan.paths {
        let mut runs: Vec<Vec<Run>> = vec![Vec::new(); plan.controllers.len()];
        let all = over_path(plan, path, &mut runs, stop, &mut || {
            measured.transfers += 1;
            progress();
        })?;
        let rows = Row::of_path(plan, path, &machine, runs);
        measured.rows.extend(rows);
        if all.is_none() {
            measured.stopped = true;
            break;
        }
    }
    Ok(measured)
}

/// All transfers over a path; `None` if they were stopped. The runs that were made are there in any case.
fn over_path(
    plan: &Plan,
    path: &Path,
    runs: &mut [Vec<Run>],
    stop: &dyn Fn() -> bool,
    made: &mut dyn FnMut(),
) -> Result<Option<()>, LoopbackError> {
    if let Some(first) = plan.controllers.first() {
        let size = plan.size.min(WARM_UP);
        if transfer(plan, path, first, size, stop)?.is_none() {
            return Ok(None);
        }
        made();
    }
    for run in 0..plan.runs {
        for place in plan.order(run) {
            let (Some(name), Some(runs)) = (plan.controllers.get(place), runs.get_mut(place))
            else {
                continue;
            };
            let processor_share = processor_share();
            let Some(run) = transfer(plan, path, name, plan.size, stop)? else {
                return Ok(None);
            };
            runs.push(Run {
                processor_share,
                ..run
            });
            made();
        }
    }
    Ok(Some(()))
}

/// One transfer, on a thread that can be left behind; `None` if it was stopped.
fn transfer(
    plan: &Plan,
    path: &Path,
    name: &str,
    size: u64,
    stop: &dyn Fn() -> bool,
) -> Result<Option<Run>, LoopbackError> {
    if stop() {
        return Ok(None);
    }
    let limit = plan.time_limit(path);
    let (report, result) = channel();
    let (path, name) = (*path, name.to_owned());
    let controller = name.clone();
    let plan = plan.clone();
    thread::Builder::new()
        .name("sender".to_owned())
        .spawn(move || {
            // Nobody waits any longer for what comes too late.
            let _ = report.send(run(&plan, &path, &name, size, limit));
        })
        .map_err(LoopbackError::system("start a thread"))?;
    // The handshake has a limit as well.
    let mut left = limit.saturating_mul(2).saturating_add(GRACE);
    loop {
        let wait = left.min(LOOK);
        match result.recv_timeout(wait) {
            Ok(Ok(run)) => return Ok(Some(run)),
            Ok(Err(error)) => {
                // Ctrl-C ends the receiver's process too, and may do so first.
                thread::park_timeout(LOOK);
                return if stop() { Ok(None) } else { Err(error) };
            }
            Err(RecvTimeoutError::Timeout) if stop() => return Ok(None),
            Err(RecvTimeoutError::Timeout) if left > wait => left -= wait,
            Err(RecvTimeoutError::Timeout) => {
                return Err(LoopbackError::Stuck {
                    controller,
                    seconds: GRACE.as_secs(),
                });
            }
            Err(RecvTimeoutError::Disconnected) => return Err(LoopbackError::Panicked("sender")),
        }
    }
}

fn run(
    plan: &Plan,
    path: &Path,
    name: &str,
    size: u64,
    limit: Duration,
) -> Result<Run, LoopbackError> {
    let candidate = candidate(name, plan.seed)?;
    let receiver = Receiver::start(plan.processes, candidate.stack(), plan.socket_buffer)?;
    let relay = path.relay(receiver.address(), plan.seed)?;
    let to = relay
        .as_ref()
        .map_or(receiver.address(), |relay| relay.local_addr());
    let sent = sides::send(Transfer {
        candidate,
        to,
        size,
        limit,
        socket_buffer: plan.socket_buffer,
    })?;
    let received = receiver.stop()?;
    let relayed = relay.map(|relay| relay.stop().summary);
    Ok(Run {
        relay_late_p99_us: relayed.map(|relayed| relayed.up.lateness.p99.0 as f64 / 1e3),
        ..Run::new(sent, received)
    })
}

/// Bytes at most of the first transfer.
const WARM_UP: u64 = 100_000_000;

/// How often to ask whether to stop.
const LOOK: Duration = Duration::from_millis(100);

/// How long a sender may take to notice that its time is up, on a busy machine.
const GRACE: Duration = Duration::from_secs(30);

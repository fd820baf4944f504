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

/// Carries out a plan, path after path, and condenses the runs to a row for each controller over each path, in the plan's
/// order. Calls `progress` after each of the plan's [`transfers`](Plan::transfers).
///
/// The first transfer over each path is not measured: it brings the machine into the state in which the others find it.
///
/// # Errors
/// A controller is unknown, the system refuses a socket or a thread, or the receiver's process fails. A transfer that does
/// not finish in time is a result.
pub fn measure(plan: &Plan, progress: &dyn Fn()) -> Result<Vec<Row>, LoopbackError> {
    for name in &plan.controllers {
        candidate(name, plan.seed)?;
    }
    let machine = Machine::now();
    let mut rows = Vec::new();
    for path in &plan.paths {
        if let Some(first) = plan.controllers.first() {
            transfer(plan, path, first, plan.size.min(WARM_UP))?;
            progress();
        }
        let mut runs: Vec<Vec<Run>> = vec![Vec::new(); plan.controllers.len()];
        for run in 0..plan.runs {
            for place in plan.order(run) {
                let (Some(name), Some(runs)) = (plan.controllers.get(place), runs.get_mut(place))
                else {
                    continue;
                };
                let share = processor_share();
                runs.push(Run {
                    processor_share: share,
                    ..transfer(plan, path, name, plan.size)?
                });
                progress();
            }
        }
        rows.extend(Row::of_path(plan, path, &machine, runs));
    }
    Ok(rows)
}

/// One transfer, on a thread that can be left behind.
fn transfer(plan: &Plan, path: &Path, name: &str, size: u64) -> Result<Run, LoopbackError> {
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
    match result.recv_timeout(limit.saturating_mul(2).saturating_add(GRACE)) {
        Ok(run) => run,
        Err(RecvTimeoutError::Timeout) => Err(LoopbackError::Stuck {
            controller,
            seconds: GRACE.as_secs(),
        }),
        Err(RecvTimeoutError::Disconnected) => Err(LoopbackError::Panicked("sender")),
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

/// How long a sender may take to notice that its time is up, on a busy machine.
const GRACE: Duration = Duration::from_secs(30);

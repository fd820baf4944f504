//! The executor, its clock and its guards.
#![cfg(feature = "quinn")]
#![allow(clippy::unwrap_used, reason = "this is test code")]

mod sim_support;

use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use kneepoint_emulator::network::Side;
use kneepoint_emulator::sim::{SimError, Simulation, TaskName, Wait};
use kneepoint_emulator::time::Nanos;
use sim_support::{link, network, seconds, simulation};

const MS: Duration = Duration::from_millis(1);

#[test]
fn sleep_takes_exactly_its_time() {
    let sim = simulation();
    let handle = sim.handle();
    let start = handle.instant();
    sim.block_on(async {
        handle.sleep(Duration::from_nanos(1)).await;
        assert_eq!(handle.now(), Nanos(1));
        handle.sleep(3600 * 1000 * MS).await;
        handle.sleep(Duration::ZERO).await;
        handle.sleep_until(Nanos::ZERO).await;
    })
    .unwrap();
    assert_eq!(sim.now(), Nanos(3_600_000_000_001));
    assert_eq!(handle.instant() - start, Duration::from(sim.now()));
    assert_eq!(handle.time_of(handle.instant()), sim.now());
}

#[test]
fn timers_fire_by_deadline_and_then_in_the_order_of_arming() {
    let sim = simulation();
    let handle = sim.handle();
    let order = Arc::new(Mutex::new(Vec::new()));
    for (name, ms) in [(0, 5), (1, 3), (2, 5), (3, 1), (4, 3), (5, 0), (6, 5)] {
        let (order, sleep) = (Arc::clone(&order), handle.sleep(ms * MS));
        handle.spawn(async move {
            sleep.await;
            order.lock().unwrap().push(name);
        });
    }
    sim.run_until(seconds(1)).unwrap();
    assert_eq!(*order.lock().unwrap(), [5, 3, 1, 4, 0, 2, 6]);
    assert_eq!(sim.now(), seconds(1));
}

#[test]
fn a_sleep_can_be_reset_while_waited_for() {
    let sim = simulation();
    let handle = sim.handle();
    sim.block_on(async {
        let mut sleep = handle.sleep(5 * MS);
        poll_fn(|cx| {
            assert!(Future::poll(Pin::new(&mut sleep), cx).is_pending());
            Poll::Ready(())
        })
        .await;
        sleep.reset(Nanos::from_millis(9));
        sleep.await;
        assert_eq!(handle.now(), Nanos::from_millis(9));
        let mut sleep = handle.sleep(100 * MS);
        poll_fn(|cx| {
            assert!(Future::poll(Pin::new(&mut sleep), cx).is_pending());
            Poll::Ready(())
        })
        .await;
        sleep.reset(Nanos::from_millis(10));
        sleep.await;
        assert_eq!(handle.now(), Nanos::from_millis(10));
    })
    .unwrap();
}

#[test]
fn timeout_bounds_a_future() {
    let sim = simulation();
    let handle = sim.handle();
    sim.block_on(async {
        let slow = handle.timeout(2 * MS, handle.sleep(3 * MS)).await;
        assert_eq!(slow.unwrap_err().at, Nanos::from_millis(2));
        // At one instant the output counts.
        let exact = handle.timeout(2 * MS, handle.sleep(2 * MS)).await;
        assert_eq!(exact, Ok(()));
        assert_eq!(handle.timeout(2 * MS, async { 7 }).await, Ok(7));
    })
    .unwrap();
    assert_eq!(sim.now(), Nanos::from_millis(4));
}

#[test]
fn spawned_tasks_are_joined() {
    let sim = simulation();
    let handle = sim.handle();
    let sum = sim.block_on(async {
        let inner = handle.clone();
        let tasks = [3u64, 1, 2].map(|n| {
            let handle = inner.clone();
            inner.spawn(async move {
                handle.sleep(MS * n as u32).await;
                n
            })
        });
        let mut sum = 0;
        for task in tasks {
            sum += task.await;
        }
        sum
    });
    assert_eq!(sum, Ok(6));
    assert_eq!(sim.now(), Nanos::from_millis(3));
}

#[test]
fn a_run_stops_at_its_deadline_and_goes_on() {
    let sim = simulation();
    let handle = sim.handle();
    let mut work = Box::pin(async {
        handle.sleep(10 * MS).await;
        handle.now()
    });
    let deadline = Nanos::from_millis(4);
    assert_eq!(
        sim.block_on_until(deadline, work.as_mut()),
        Err(SimError::Deadline { at: deadline })
    );
    assert_eq!(sim.now(), deadline);
    // What happens at the deadline still happens.
    let end = Nanos::from_millis(10);
    assert_eq!(sim.block_on_until(end, work), Ok(end));
}

fn is_livelock(error: &SimError, when: Nanos, count: u64) -> bool {
    matches!(error, SimError::Livelock { at, steps, .. } if (*at, *steps) == (when, count))
}

#[test]
fn deadlock_is_reported() {
    let sim = simulation();
    let handle = sim.handle();
    let result = sim.block_on(async {
        handle.sleep(MS).await;
        pending::<()>().await;
    });
    let Err(SimError::Deadlock(unfinished)) = result else {
        panic!("{result:?}");
    };
    assert_eq!(unfinished.at, Nanos::from_millis(1));
    assert_eq!(unfinished.tasks.len(), 1);
    assert_eq!(unfinished.tasks[0].name, TaskName::Main);
}

#[test]
fn tasks_that_wake_each_other_for_ever_are_a_livelock() {
    let sim = Simulation::builder()
        .step_limit(1000)
        .build(network(link()));
    let handle = sim.handle();
    handle.spawn({
        let handle = handle.clone();
        async move {
            handle.sleep(MS).await;
            poll_fn(|cx| {
                cx.waker().wake_by_ref();
                Poll::<()>::Pending
            })
            .await;
        }
    });
    let at = Nanos::from_millis(1);
    let error = sim.block_on(handle.sleep(2 * MS)).unwrap_err();
    assert!(is_livelock(&error, at, 1000), "{error}");
}

#[test]
fn a_past_timer_armed_for_ever_is_a_livelock() {
    let sim = Simulation::builder()
        .step_limit(1000)
        .build(network(link()));
    let handle = sim.handle();
    let runtime = handle.runtime();
    let result = sim.block_on(async {
        handle.sleep(MS).await;
        let mut timer = runtime.new_timer(handle.instant() + MS);
        loop {
            timer.as_mut().reset(handle.instant());
            poll_fn(|cx| timer.as_mut().poll(cx)).await;
            // A task that yields and comes back at the same instant.
            handle.spawn(async {}).await;
        }
    });
    let at = Nanos::from_millis(1);
    let error = result.unwrap_err();
    assert!(is_livelock(&error, at, 1000), "{error}");
}

#[test]
fn the_end_of_time_never_comes() {
    let sim = simulation();
    let handle = sim.handle();
    let result = sim.block_on(handle.sleep(Duration::MAX));
    let Err(SimError::Deadlock(unfinished)) = result else {
        panic!("{result:?}");
    };
    assert_eq!(unfinished.at, Nanos::ZERO);
    assert_eq!(unfinished.tasks[0].waits_for, [Wait::Timer(Nanos::MAX)]);
}

#[test]
fn many_steps_are_fine_while_time_advances() {
    let sim = Simulation::builder().step_limit(10).build(network(link()));
    let handle = sim.handle();
    sim.block_on(async {
        for _ in 0..1000 {
            handle.sleep(MS).await;
        }
    })
    .unwrap();
}

#[test]
fn a_run_within_a_run_is_refused() {
    let sim = simulation();
    let nested = sim.block_on(async { sim.block_on(async {}) });
    assert_eq!(nested, Ok(Err(SimError::Nested)));
    assert_eq!(sim.block_on(async { 1 }), Ok(1));
}

#[test]
fn a_panic_in_a_task_ends_the_run() {
    let sim = simulation();
    let handle = sim.handle();
    handle.spawn({
        let handle = handle.clone();
        async move {
            handle.sleep(MS).await;
            panic!("the task is broken");
        }
    });
    let run = catch_unwind(AssertUnwindSafe(|| sim.block_on(handle.sleep(2 * MS))));
    let payload = run.unwrap_err();
    assert_eq!(payload.downcast_ref(), Some(&"the task is broken"));
    // Everyone else lives on.
    assert_eq!(
        sim.block_on(async { handle.now() }),
        Ok(Nanos::from_millis(1))
    );
}

#[test]
fn dropping_the_simulation_drops_its_tasks() {
    let sim = simulation();
    let handle = sim.handle();
    let token = Arc::new(());
    for started in [true, false] {
        let (held, handle) = (Arc::clone(&token), handle.clone());
        sim.handle().spawn(async move {
            // A task that holds a handle, and whose waker is held by a timer.
            handle.sleep(seconds(1).into()).await;
            drop(held);
        });
        if started {
            sim.run_until(Nanos::ZERO).unwrap();
        }
    }
    assert_eq!(Arc::strong_count(&token), 3);
    drop(sim);
    assert_eq!(Arc::strong_count(&token), 1);
    // A handle that outlives the simulation drops what it is given.
    let held = Arc::clone(&token);
    let task = handle.spawn(async move { drop(held) });
    assert_eq!(Arc::strong_count(&token), 1);
    assert!(!task.is_finished());
}

#[test]
fn destructors_of_tasks_may_use_the_simulation() {
    struct OnDrop(Box<dyn FnMut() + Send>);
    impl Drop for OnDrop {
        fn drop(&mut self) {
            (self.0)();
        }
    }
    let sim = simulation();
    let handle = sim.handle();
    let ran = Arc::new(AtomicBool::new(false));
    let guard = OnDrop(Box::new({
        let (handle, ran) = (handle.clone(), Arc::clone(&ran));
        move || {
            drop(handle.spawn(async {}));
            drop(handle.bind(Side::Left, "10.0.0.9:1".parse().unwrap()));
            ran.store(true, Ordering::Relaxed);
        }
    }));
    handle.spawn(async move {
        pending::<()>().await;
        drop(guard);
    });
    sim.run_until(Nanos::ZERO).unwrap();
    drop(sim);
    assert!(ran.load(Ordering::Relaxed));
}

#[test]
fn sockets_come_from_the_simulation() {
    let sim = simulation();
    let address = "10.0.0.1:5".parse().unwrap();
    let socket = sim.bind(Side::Left, address).unwrap();
    let kind = |result: std::io::Result<_>| result.map(drop).unwrap_err().kind();
    assert_eq!(
        kind(sim.bind(Side::Left, address)),
        std::io::ErrorKind::AddrInUse
    );
    assert_eq!(
        kind(sim.bind(Side::Left, "0.0.0.0:5".parse().unwrap())),
        std::io::ErrorKind::AddrNotAvailable
    );
    drop(socket);
    sim.bind(Side::Left, address).unwrap();

    let os_socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let error = sim
        .handle()
        .runtime()
        .wrap_udp_socket(os_socket)
        .unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::Unsupported);
}

#[test]
fn ports_are_given_out_in_order() {
    let sim = simulation();
    let any = "10.0.0.1:0".parse().unwrap();
    let sockets = [(); 3].map(|()| sim.bind(Side::Left, any).unwrap());
    let ports = sockets.map(|socket| quinn::AsyncUdpSocket::local_addr(&*socket).unwrap().port());
    assert_eq!(ports, [49152, 49153, 49154]);
}

//! tokio's tasks, timers and channels inside of a simulation.

#![cfg(feature = "quinn")]
#![allow(clippy::unwrap_used, reason = "this is test code")]

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use kneepoint_emulator::link::LinkConfig;
use kneepoint_emulator::sim::{Net, SimError, Simulation, TaskName, Testbed, tls};
use kneepoint_emulator::time::Nanos;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, interval, sleep, sleep_until, timeout};

const MS: Duration = Duration::from_millis(1);

/// 10 Mb/s, 20 ms each way.
fn bed() -> Testbed {
    let link = LinkConfig {
        delay: Nanos::from_millis(20).into(),
        ..LinkConfig::constant(1_250_000)
    };
    Testbed::symmetric(link, 1).unwrap()
}

fn millis(times: impl IntoIterator<Item = u64>) -> Vec<Nanos> {
    times.into_iter().map(Nanos::from_millis).collect()
}

/// What was seen, and when.
#[derive(Debug, Clone)]
struct Log(Arc<Mutex<Vec<(Nanos, String)>>>, Net);

impl Log {
    fn new(net: &Net) -> Self {
        Self(Arc::default(), net.clone())
    }

    fn note(&self, what: impl Into<String>) {
        let entry = (self.1.now(), what.into());
        self.0.lock().unwrap().push(entry);
    }

    fn take(&self) -> Vec<(Nanos, String)> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// The same in a plain test and inside of a runtime.
fn everywhere(test: fn()) {
    test();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async { test() });
}

#[test]
fn timers_expire_in_virtual_time() {
    everywhere(|| {
        let times = bed().run(async |net| {
            let mut times = vec![net.now()];
            sleep(10 * MS).await;
            times.push(net.now());
            let mut ticks = interval(100 * MS);
            for _ in 0..3 {
                ticks.tick().await;
                times.push(net.now());
            }
            assert!(timeout(5 * MS, std::future::pending::<()>()).await.is_err());
            times.push(net.now());
            // An hour is no longer than a millisecond.
            sleep_until(Instant::now() + Duration::from_secs(1800)).await;
            times.push(net.now());
            times
        });
        let expected = millis([0, 10, 10, 110, 210, 215, 1_800_215]);
        assert_eq!(times.unwrap(), expected);
    });
}

#[test]
fn tasks_that_are_not_send_run_in_a_local_set() {
    everywhere(|| {
        let time = bed().run(async |net| {
            let shared = std::rc::Rc::new(net.clone());
            let local = tokio::task::LocalSet::new();
            let task = local.run_until(async {
                let task = tokio::task::spawn_local(async move {
                    sleep(3 * MS).await;
                    shared.now()
                });
                task.await.unwrap()
            });
            task.await
        });
        assert_eq!(time, Ok(Nanos::from_millis(3)));
    });
}

#[test]
fn who_yields_is_polled_again_at_once() {
    everywhere(|| {
        let times = bed().run(async |net| {
            let seen = Arc::new(Mutex::new(Vec::new()));
            let other = Arc::clone(&seen);
            tokio::spawn(async move { other.lock().unwrap().push(0) });
            for turn in 1..4 {
                tokio::task::yield_now().await;
                seen.lock().unwrap().push(turn);
            }
            sleep(MS).await;
            tokio::task::yield_now().await;
            let mut seen = seen.lock().unwrap().clone();
            seen.sort_unstable();
            (seen, net.now())
        });
        assert_eq!(times, Ok((vec![0, 1, 2, 3], Nanos::from_millis(1))));
    });
}

#[test]
fn the_clocks_agree_and_tokio_is_never_early() {
    everywhere(|| {
        let bed = bed();
        bed.run(async |net| {
            let start = Instant::now();
            assert_eq!(start.into_std(), net.handle().instant());
            for micros in [1, 999, 1, 700, 2_500, 123_456] {
                let nap = Duration::from_nanos(micros * 1000 + 1);
                net.sleep(nap).await;
                assert_eq!(start.elapsed(), net.now().into());
                let before = net.now();
                sleep(nap).await;
                let late = net.now() - before - nap.into();
                assert!(net.now() - before >= nap.into() && late < Nanos::from_millis(1));
                assert_eq!(net.now().0 % 1_000_000, 0);
                assert_eq!(start.elapsed(), net.now().into());
            }
        })
        .unwrap();
    });
}

#[test]
fn at_one_instant_the_simulation_comes_first() {
    everywhere(|| {
        let log = bed().run(async |net| {
            let log = Log::new(&net);
            let of = |name: &'static str| {
                let log = log.clone();
                move || log.note(name)
            };
            for (name, time) in [("tokio 2", 2), ("tokio 1", 1)] {
                let note = of(name);
                tokio::spawn(async move {
                    sleep(time * MS).await;
                    note();
                });
            }
            for (name, micros) in [("ours 1.999", 1999), ("ours 2", 2000), ("ours 2.001", 2001)] {
                let (note, nap) = (of(name), net.sleep(Duration::from_micros(micros)));
                net.spawn(async move {
                    nap.await;
                    note();
                });
            }
            sleep(3 * MS).await;
            log.take()
        });
        let log: Vec<_> = log.unwrap();
        let seen: Vec<_> = log
            .iter()
            .map(|(time, name)| (time.0 / 1000, name.as_str()))
            .collect();
        assert_eq!(
            seen,
            [
                (1000, "tokio 1"),
                (1999, "ours 1.999"),
                (2000, "ours 2"),
                (2000, "tokio 2"),
                (2001, "ours 2.001")
            ]
        );
    });
}

#[test]
fn tasks_channels_and_joins_take_no_time() {
    everywhere(|| {
        let (sum, time) = bed()
            .run(async |net| {
                let (send, mut receive) = mpsc::channel(1);
                let (done, over) = oneshot::channel();
                let notify = Arc::new(Notify::new());
                let (told, tell) = (Arc::clone(&notify), notify);
                let sum = tokio::spawn(async move {
                    told.notified().await;
                    let mut sum = 0;
                    while let Some(number) = receive.recv().await {
                        tokio::task::yield_now().await;
                        sum += number;
                    }
                    done.send(()).unwrap();
                    sum
                });
                // A task of each kind.
                let also = send.clone();
                net.spawn(async move {
                    for number in 0..1000 {
                        also.send(number).await.unwrap();
                    }
                });
                tokio::spawn(async move {
                    for number in 0..1000 {
                        send.send(number).await.unwrap();
                        tokio::task::yield_now().await;
                    }
                });
                tell.notify_one();
                over.await.unwrap();
                (sum.await.unwrap(), net.now())
            })
            .unwrap();
        assert_eq!((sum, time), (999_000, Nanos::ZERO));
    });
}

/// An application that does as on real sockets.
async fn application(net: Net) -> Vec<(Nanos, String)> {
    let log = Log::new(&net);
    let (server, client) = (net.server().unwrap(), net.client().unwrap());
    let address = server.local_addr().unwrap();
    tokio::spawn(async move {
        while let Some(incoming) = server.accept().await {
            tokio::spawn(async move {
                let connection = incoming.await.unwrap();
                while let Ok((mut send, mut recv)) = connection.accept_bi().await {
                    tokio::spawn(async move {
                        let request = recv.read_to_end(100).await.unwrap();
                        sleep(Duration::from_micros(u64::from(request[0]) * 700)).await;
                        send.write_all(&vec![request[0]; 50_000]).await.unwrap();
                        send.finish().unwrap();
                    });
                }
            });
        }
    });
    let connection = client
        .connect(address, tls::SERVER_NAME)
        .unwrap()
        .await
        .unwrap();
    let mut requests = tokio::task::JoinSet::new();
    for number in 0..20 {
        let (connection, log) = (connection.clone(), log.clone());
        requests.spawn(async move {
            sleep(number * 3 * MS).await;
            let (mut send, mut recv) = connection.open_bi().await.unwrap();
            send.write_all(&[number as u8]).await.unwrap();
            send.finish().unwrap();
            tokio::select! {
                biased;
                response = recv.read_to_end(100_000) => assert_eq!(response.unwrap().len(), 50_000),
                () = sleep(600 * MS) => log.note(format!("{number} was late")),
            }
            log.note(number.to_string());
        });
    }
    while requests.join_next().await.is_some() {}
    log.note(format!(
        "{:?}",
        net.statistics(kneepoint_emulator::network::Direction::Reverse)
    ));
    log.take()
}

/// A waker that starts a task: tokio calls it while it lets timers expire.
struct Spawns(Log, Arc<Notify>);

impl Wake for Spawns {
    fn wake(self: Arc<Self>) {
        let (log, ran) = (self.0.clone(), Arc::clone(&self.1));
        tokio::spawn(async move {
            log.note("ran");
            ran.notify_one();
        });
    }
}

#[test]
fn a_task_that_begins_while_timers_expire_runs_at_once() {
    // At the first tick and later, and with little and with much time to the next event of the simulation.
    for (time, nap) in [(1, 700), (1, 10_000), (3, 700), (3, 10_000)] {
        let seen = bed().run(async |net| {
            let log = Log::new(&net);
            let ran = Arc::new(Notify::new());
            let waker = Waker::from(Arc::new(Spawns(log.clone(), Arc::clone(&ran))));
            let mut timer = Box::pin(sleep(time * MS));
            assert!(
                timer
                    .as_mut()
                    .poll(&mut Context::from_waker(&waker))
                    .is_pending()
            );
            let other = net.clone();
            net.spawn(async move {
                loop {
                    other.sleep(Duration::from_micros(nap)).await;
                }
            });
            ran.notified().await;
            log.note("heard");
            log.take()
        });
        let at = Nanos::from_millis(time.into());
        let expected = ["ran", "heard"].map(|what| (at, what.to_owned()));
        assert_eq!(seen.unwrap(), expected, "{time} ms, {nap} us");
    }
}

#[test]
fn a_seed_gives_the_same_run_wherever_it_runs() {
    let alone = bed().run(application).unwrap();
    assert!(
        alone.len() > 20 && alone.iter().any(|(_, what)| what.contains("late")),
        "{alone:?}"
    );
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let there = runtime.block_on(async { bed().run(application).unwrap() });
    assert_eq!(alone, there);
    assert_eq!(alone, bed().run(application).unwrap());
}

#[test]
fn a_run_goes_on_where_the_last_one_ended() {
    everywhere(|| {
        let bed = bed().deadline(Nanos(1_500_000_700));
        let simulation = bed.simulation();
        let handle = simulation.handle();
        let log = bed
            .run(async |net| {
                let log = Log::new(&net);
                let writer = log.clone();
                tokio::spawn(async move {
                    let mut ticks = interval(500 * MS);
                    loop {
                        ticks.tick().await;
                        writer.note("tick");
                    }
                });
                log
            })
            .unwrap();
        let times =
            |log: Vec<(Nanos, String)>| log.into_iter().map(|entry| entry.0).collect::<Vec<_>>();
        simulation.run_until(Nanos(1_200_000_300)).unwrap();
        assert_eq!(
            (times(log.take()), handle.now()),
            (millis([0, 500, 1000]), Nanos(1_200_000_300))
        );
        simulation.run_until(Nanos(1_200_000_400)).unwrap();
        let late = simulation.block_on(async {
            let before = handle.now();
            sleep(MS).await;
            handle.now() - before
        });
        assert_eq!(late, Ok(Nanos(1_999_600)));
        // A timer is left, beyond the deadline.
        let end = bed.run(async |_| std::future::pending::<()>().await);
        assert_eq!(
            end,
            Err(SimError::Deadline {
                at: Nanos(1_500_000_700)
            })
        );
        assert_eq!(bed.unfinished().unwrap().tokio_tasks, 1);
        assert_eq!(times(log.take()), millis([1500]));
        simulation.run_until(Nanos::from_millis(2500)).unwrap();
        assert_eq!(times(log.take()), millis([2000, 2500]));
    });
}

#[test]
fn a_deadlock_is_found_and_nothing_has_changed() {
    everywhere(|| {
        let bed = bed();
        for _ in 0..3 {
            let error = bed.run(async |net| {
                net.sleep(Duration::from_nanos(1_234_567)).await;
                tokio::spawn(std::future::pending::<()>());
                std::future::pending::<()>().await;
            });
            let text = error.unwrap_err().to_string();
            assert!(text.starts_with("deadlock"), "{text}");
            assert!(text.contains("of `tokio::spawn`"), "{text}");
            let now = bed.simulation().now();
            assert_eq!(now.0 % 1_234_567, 0);
            // Time has not passed, and timers are as exact as before.
            let woken = bed.run(async |net| {
                sleep(2 * MS).await;
                net.sleep(Duration::from_nanos(1_234_567 * 2 - (net.now() - now).0))
                    .await;
                net.now()
            });
            assert_eq!(woken, Ok(now + Nanos(1_234_567 * 2)));
        }
    });
}

#[test]
fn a_task_of_tokio_that_does_not_rest_is_named() {
    everywhere(|| {
        let spinning: [fn(); 2] = [
            || {
                drop(tokio::spawn(async {
                    loop {
                        tokio::task::yield_now().await
                    }
                }))
            },
            || {
                drop(tokio::spawn(std::future::poll_fn(|cx| {
                    cx.waker().wake_by_ref();
                    std::task::Poll::<()>::Pending
                })));
            },
        ];
        for spin in spinning {
            let simulation = Simulation::builder().step_limit(1000);
            let bed = Testbed::with(simulation.build(network()), 1);
            let error = bed.run(async |_| {
                sleep(MS).await;
                spin();
                sleep(MS).await;
            });
            let error = error.unwrap_err();
            let text = error.to_string();
            assert!(
                matches!(
                    error,
                    SimError::Livelock {
                        task: Some(TaskName::Tokio),
                        ..
                    }
                ),
                "{text}"
            );
            assert!(
                text.contains("0.001000 s") && text.contains("a task of `tokio::spawn`"),
                "{text}"
            );
        }
    });
}

fn network() -> kneepoint_emulator::network::Network {
    use kneepoint_emulator::network::{Network, NetworkConfig};
    let link = LinkConfig::constant(1_250_000);
    Network::new(NetworkConfig {
        forward: link.clone(),
        reverse: link,
        seed: 1,
    })
    .unwrap()
}

/// Whether the thread is done before the run looks, is up to the operating system: it must not matter.
#[test]
fn a_thread_for_blocking_work_is_refused() {
    everywhere(|| {
        for _ in 0..200 {
            let error = bed().run(async |_| spawn_blocking(|| 1).await.unwrap());
            assert!(matches!(error, Err(SimError::Blocking { .. })), "{error:?}");
            let error = bed().run(async |_| drop(spawn_blocking(|| 1)));
            assert!(matches!(error, Err(SimError::Blocking { .. })), "{error:?}");
            let error = bed().run(async |_| {
                let (send, done) = std::sync::mpsc::channel();
                let task = spawn_blocking(move || send.send(1));
                done.recv().unwrap();
                task.await.unwrap().unwrap();
            });
            assert!(matches!(error, Err(SimError::Blocking { .. })), "{error:?}");
        }
        let error = bed().run(async |_| {
            tokio::spawn(async { spawn_blocking(|| 1).await.unwrap() });
            sleep(3600 * 1000 * MS).await;
        });
        assert!(matches!(error, Err(SimError::Blocking { .. })), "{error:?}");
        let text = error.unwrap_err().to_string();
        assert!(
            text.contains("spawn_blocking") && text.contains("tokio::fs"),
            "{text}"
        );
    });
}

#[test]
fn panics_of_tokio_tasks_go_to_their_handles_and_others_end_the_run() {
    everywhere(|| {
        let joined = bed().run(async |_| tokio::spawn(async { panic!("on purpose") }).await);
        assert!(joined.unwrap().unwrap_err().is_panic());
        let error = bed().run(async |net| {
            net.spawn_named("ours", async { panic!("on purpose") });
            sleep(MS).await;
        });
        assert!(error.unwrap_err().to_string().contains("`ours`"));
        let own = std::panic::catch_unwind(|| bed().run(async |_| panic!("my own")));
        assert_eq!(own.unwrap_err().downcast_ref(), Some(&"my own"));
    });
}

#[test]
fn sockets_of_the_operating_system_are_refused() {
    everywhere(|| {
        let bind = tokio::net::UdpSocket::bind("127.0.0.1:0");
        let task = bed().run(async |_| tokio::spawn(bind).await).unwrap();
        let panic = task.unwrap_err().into_panic();
        let text = panic.downcast_ref::<String>().unwrap();
        assert!(text.contains("IO is disabled"), "{text}");
    });
}

#[test]
fn without_tokio_all_is_as_it_was() {
    let simulation = Simulation::builder().tokio(false).build(network());
    let there = simulation.block_on(async { tokio::runtime::Handle::try_current().is_ok() });
    assert!(!there.unwrap());
}

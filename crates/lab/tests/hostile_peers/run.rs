//! A sender, its hostile receiver and a neighbour, over one bottleneck.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use kneepoint_emulator::link::{
    Delay, DelayStep, Interval, Limit, LinkConfig, Queue, Record, StepMark,
};
use kneepoint_emulator::network::{Duplex, Topology};
use kneepoint_emulator::sim::{Handle, Simulation, endpoint_config, tls};
use kneepoint_emulator::time::Nanos;
use kneepoint_lab::controllers::{Candidate, candidate};
use kneepoint_lab::probe::Recorder;
use kneepoint_lab::stack::{
    Connection, Endpoint, FLOW_CONTROL_WINDOW, Limits, ReceiveStream, Windows,
};
use kneepoint_lab::workload::{Clock, Load, receive, send};
use quinn::{AsyncUdpSocket, TransportConfig};
use quinn_proto::TimeSource;

use crate::attack::{Attack, Kind};
use crate::meddler::Meddler;
use crate::seal;

/// What was seen of the sender and of its neighbour.
#[derive(Debug)]
pub(crate) struct Seen {
    /// What the sender offered to the bottleneck, in bytes by round trip.
    pub(crate) offered: Vec<u64>,
    /// What the bottleneck passed on for the sender and for the neighbour, in bytes by round trip.
    pub(crate) passed: [Vec<u64>; 2],
    /// The sender's window, in bytes.
    pub(crate) windows: Vec<(Duration, u64)>,
    /// When packets were acknowledged.
    pub(crate) acked: Vec<Duration>,
    /// When and why the sender's connection closed, if it did.
    pub(crate) closed: Option<(Duration, String)>,
}

type Closed = Arc<Mutex<Option<(Duration, String)>>>;

/// Runs an attack until so long after its end, beside a neighbour with the same controller if there is one.
pub(crate) fn run(
    controller: &str,
    attack: Attack,
    neighbour: bool,
    after: Duration,
    seed: u64,
) -> Seen {
    let end = attack.during().end + after;
    let simulation = Simulation::new(topology(attack).build(seed).unwrap());
    let handle = simulation.handle();
    let clock = Clock::new(handle.runtime());
    serve_hostile(&handle, &clock, attack);
    let recorder = Recorder::new(handle.instant());
    let closed = Closed::default();
    let hostile = Flow {
        number: 0,
        handle: &handle,
        clock: &clock,
        end,
        seed: 2 * seed,
    };
    hostile.start(controller, &recorder, &closed);
    if neighbour {
        let socket = handle.bind_attached(receiver(1)).unwrap();
        let endpoint = quinn::Endpoint::simulated(&handle, socket, 12, Some(LIMITS)).unwrap();
        clock.spawn(receive(clock.clone(), endpoint, HashMap::new()));
        let other = Flow {
            number: 1,
            seed: 2 * seed + 1,
            ..hostile
        };
        other.start(
            controller,
            &Recorder::new(handle.instant()),
            &Closed::default(),
        );
    }
    simulation.run_until(end.into()).unwrap();

    let recording = recorder.take();
    let bins = usize::try_from(end.as_nanos() / RTT.as_nanos()).unwrap();
    let mut seen = Seen {
        offered: vec![0; bins],
        passed: [vec![0; bins], vec![0; bins]],
        windows: recording.windows,
        acked: recording
            .rtts
            .iter()
            .map(|rtt| Duration::from_nanos(rtt.at))
            .collect(),
        closed: closed.lock().unwrap().take(),
    };
    simulation.with_network(|network| {
        let log = network.link_named("forward").unwrap().log().unwrap();
        let add = |bins: &mut [u64], at: Nanos, record: &Record| {
            let bin = usize::try_from(at.0 / Nanos::from(RTT).0).unwrap();
            if let Some(bin) = bins.get_mut(bin) {
                *bin += record.size;
            }
        };
        for record in log.records() {
            let other = log.flow(record.flow).unwrap().source == sender(1);
            if !other {
                add(&mut seen.offered, record.arrival, record);
            }
            if let Some(departure) = record.departure() {
                add(&mut seen.passed[usize::from(other)], departure, record);
            }
        }
    });
    seen
}

/// The sender on one side of the bottleneck, and on the other a receiver behind a link of its own.
fn topology(attack: Attack) -> Topology {
    let quarter = LinkConfig {
        delay: (RTT / 4).into(),
        ..LinkConfig::constant(100 * RATE)
    };
    let limit = Limit::bytes(2 * BDP);
    let bottleneck = LinkConfig {
        queue: match attack.marks {
            false => Queue::DropTail(limit),
            true => Queue::StepMark(StepMark {
                threshold: Limit::bytes(BDP / 2),
                drop_not_ect: true,
                limit: Some(limit),
            }),
        },
        log: true,
        delay: (RTT / 4).into(),
        ..LinkConfig::constant(RATE)
    };
    let mut hostile = Duplex::both(quarter.clone());
    let Range { start, end } = attack.during();
    if attack.kind == Kind::Blackout {
        let (from, to) = (start.into(), end.into());
        hostile.reverse.impairments.blackouts = vec![Interval { from, to }];
    }
    if let Kind::Late(delay, seconds) = attack.kind {
        let step = |from: Duration, delay: Duration| DelayStep {
            from: from.into(),
            delay: delay.into(),
        };
        hostile.forward.delay = Delay::Steps {
            steps: vec![
                step(Duration::ZERO, RTT / 4),
                step(start, delay),
                step(start + Duration::from_secs(seconds.into()), RTT / 4),
            ],
            reordering: false,
        };
    }
    let bottleneck = Duplex {
        forward: bottleneck,
        reverse: quarter.clone(),
    };
    let mut topology = Topology::dumbbell(bottleneck, &[], &[hostile, Duplex::both(quarter)]);
    for flow in [0, 1] {
        topology.host("left", sender(flow)).unwrap();
        let node = format!("right-{}", flow + 1);
        topology.host(&node, receiver(flow)).unwrap();
    }
    topology
}

/// quinn's server, with what the attack makes of it.
fn serve_hostile(handle: &Handle, clock: &Clock, attack: Attack) {
    let during = attack.during();
    let socket = handle.bind_attached(receiver(0)).unwrap();
    let socket: Arc<dyn AsyncUdpSocket> = match attack.kind {
        Kind::Path(meddling) => {
            let handle = handle.clone();
            Arc::new(Meddler::new(socket, handle, meddling, during.clone()))
        }
        _ => socket,
    };
    let not_reading = attack.kind == Kind::NotReading;
    let window = if not_reading {
        SMALL_WINDOW
    } else {
        FLOW_CONTROL_WINDOW
    };
    let mut transport = TransportConfig::default();
    transport
        .receive_window(window.into())
        .stream_receive_window(window.into())
        .max_idle_timeout(None);
    let mut config = tls::server_config();
    config.transport_config(Arc::new(transport));
    config.time_source(Arc::new(Epoch));
    if let Kind::Lie(lie) = attack.kind {
        seal::forge(&mut config, lie.forger(handle.clone(), during.clone()));
    }
    let endpoint = endpoint_config(11);
    let runtime = handle.runtime();
    let endpoint =
        quinn::Endpoint::new_with_abstract_socket(endpoint, Some(config), socket, runtime);
    let pause = if not_reading { during } else { end_of_time() };
    clock.spawn(read(clock.clone(), endpoint.unwrap(), pause));
}

/// Reads the one stream of the one connection, but not in a pause.
async fn read(clock: Clock, endpoint: quinn::Endpoint, pause: Range<Duration>) {
    let Some((_, handshake)) = Endpoint::accept(&endpoint).await else {
        return;
    };
    let Ok(connection) = handshake.await else {
        return;
    };
    while let Ok(mut stream) = Connection::accept_uni(&connection).await {
        let (clock, pause) = (clock.clone(), pause.clone());
        clock.clone().spawn(async move {
            while let Ok(Some(_)) = ReceiveStream::read(&mut stream).await {
                if pause.contains(&clock.now()) {
                    clock.sleep_until(pause.end).await;
                }
            }
        });
    }
}

#[derive(Clone, Copy)]
struct Flow<'a> {
    number: u8,
    handle: &'a Handle,
    clock: &'a Clock,
    end: Duration,
    seed: u64,
}

impl Flow<'_> {
    fn start(self, controller: &str, recorder: &Recorder, closed: &Closed) {
        match candidate(controller, self.seed).unwrap() {
            Candidate::Quinn(factory) => self.send::<quinn::Endpoint>(factory, recorder, closed),
            Candidate::Noq(factory) => self.send::<noq::Endpoint>(factory, recorder, closed),
        }
    }

    fn send<E: Endpoint>(self, factory: E::Factory, recorder: &Recorder, closed: &Closed) {
        let socket = self.handle.bind_attached(sender(self.number)).unwrap();
        let endpoint = E::simulated(self.handle, socket, self.seed, None).unwrap();
        let handshake = endpoint.connect(receiver(self.number), LIMITS, &factory, recorder);
        let (handshake, clock, closed) =
            (handshake.unwrap(), self.clock.clone(), Arc::clone(closed));
        self.clock.spawn(async move {
            let _endpoint = endpoint;
            let connection = handshake.await.unwrap();
            send(&clock, &connection, &[Load::Greedy.until(self.end)]).await;
            if let Some(reason) = connection.close_reason() {
                *closed.lock().unwrap() = Some((clock.now(), reason));
            }
        });
    }
}

#[derive(Debug)]
struct Epoch;

impl TimeSource for Epoch {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }
}

fn end_of_time() -> Range<Duration> {
    Duration::MAX..Duration::MAX
}

fn sender(flow: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 1 + flow], 10_000))
}

fn receiver(flow: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 1, 1 + flow], 4433))
}

/// Neither the sender's buffer nor silence ends anything.
const LIMITS: Limits = Limits {
    windows: Windows::Large {
        send: FLOW_CONTROL_WINDOW as u64,
    },
    idle_timeout: false,
};

/// The bottleneck's, in bytes per second.
pub(crate) const RATE: u64 = 1_250_000;
/// Without queues.
pub(crate) const RTT: Duration = Duration::from_millis(40);
/// In bytes.
pub(crate) const BDP: u64 = RATE * RTT.as_millis() as u64 / 1000;
/// What a receiver that does not read has room for: more than the path.
const SMALL_WINDOW: u32 = 5 * BDP as u32;

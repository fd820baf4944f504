//! Properties of every controller, for any events.

use std::collections::VecDeque;
use std::time::Duration;

use kneepoint_controllers::{Control, ControllerSpec};
use kneepoint_testkit::events::{Adapted, Event, NeutralPath, World, survive};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

type Sender = World<NeutralPath>;

/// Lets something happen, and checks what has to hold.
fn apply(world: &mut Sender, event: Event) -> Result<(), TestCaseError> {
    let before = control(world).window;
    world.apply(event);
    if let Event::Application { .. } | Event::Discard { .. } = event {
        prop_assert_eq!(
            before,
            control(world).window,
            "nobody told the controller anything"
        );
    }
    world.check().map_err(TestCaseError::fail)
}

fn control(world: &Sender) -> Control {
    world.state().control
}

fn send(packets: u8) -> Event {
    Event::Send {
        packets,
        bytes: None,
    }
}

fn wait(nanos: u64) -> Event {
    Event::Wait {
        nanos,
        timers: true,
    }
}

/// The oldest packets are acknowledged.
fn acknowledge(packets: u8) -> Event {
    Event::Ack {
        skip: 0,
        packets,
        newest_first: false,
        ends: true,
    }
}

/// Nothing, or anything from a nanosecond to a minute, each order of magnitude as likely as the others.
fn spans() -> impl Strategy<Value = u64> {
    prop_oneof![
        1 => Just(0),
        6 => (0.0..10.8f64).prop_map(|exponent| 10f64.powf(exponent) as u64),
    ]
}

/// A path that serves packets at a rate between 64 kb/s and 100 Gb/s, the RTT from nothing to a minute.
#[derive(Debug, Clone, Copy)]
struct Path {
    bytes_per_second: f64,
    rtt: Duration,
    mtu: u16,
    /// Every so many-th packet is lost.
    lose_every: u64,
    ack_every: u8,
    /// Each acknowledgement brings a mark.
    marks: bool,
    /// Each loss is persistent congestion.
    persistent: bool,
    /// Each loss turns out to have been none.
    spurious: bool,
}

fn paths() -> impl Strategy<Value = Path> {
    (
        (3.9..10.1f64),
        spans(),
        1200..=65_527u16,
        5..2000u64,
        1..20u8,
        [any::<bool>(), any::<bool>(), any::<bool>()],
    )
        .prop_map(|(exponent, rtt, mtu, lose_every, ack_every, flags)| {
            let [marks, persistent, spurious] = flags;
            Path {
                bytes_per_second: 10f64.powf(exponent),
                rtt: Duration::from_nanos(rtt),
                mtu,
                lose_every,
                ack_every,
                marks,
                persistent,
                spurious,
            }
        })
}

/// Sends `packets` over `path`, window-limited; checks after every acknowledgement.
fn run_over(world: &mut Sender, path: Path, packets: u64) -> Result<(), TestCaseError> {
    let mut arrivals: VecDeque<Duration> = VecDeque::new();
    let mut link_free = world.now();
    let mut sent = 0;
    while sent < packets {
        while world.has_room(None) {
            world.apply(send(1));
            sent += 1;
            let service = f64::from(world.mtu()) / path.bytes_per_second;
            link_free = link_free.max(world.now()) + Duration::from_secs_f64(service);
            arrivals.push_back(link_free + path.rtt);
        }
        let batch = arrivals.len().min(usize::from(path.ack_every));
        let Some(&next) = arrivals.get(batch.saturating_sub(1)) else {
            break;
        };
        let span = next.saturating_sub(world.now());
        world.apply(wait(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)));
        arrivals.drain(..batch);
        let mut acked = u8::try_from(batch).expect("at most ack_every");
        if path.marks {
            apply(world, Event::Mark { skip: 0 })?;
        }
        if sent % path.lose_every < u64::from(acked) {
            acked -= 1;
            let persistent = path.persistent;
            apply(
                world,
                Event::Lose {
                    skip: 0,
                    packets: 1,
                    persistent,
                },
            )?;
            if path.spurious {
                apply(world, Event::Spurious)?;
            }
        }
        apply(world, acknowledge(acked))?;
    }
    Ok(())
}

fn reproducible() -> ProptestConfig {
    ProptestConfig {
        cases: 192,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(reproducible())]

    /// Trap: what a search finds in times that are out of order depends on where they lie in memory, and a clone's lie elsewhere.
    #[test]
    fn any_events_keep_the_window_in_bounds_and_clones_alike(words in prop::collection::vec(any::<u64>(), 1..400)) {
        for survive in [survive::<NeutralPath>, survive::<Adapted>] {
            survive(&words).map_err(TestCaseError::fail)?;
        }
    }

    #[test]
    fn any_path_keeps_the_window_in_bounds(
        first in paths(),
        second in paths(),
        silence in spans(),
        larger_mtu in 1200..=65_527u16,
    ) {
        for spec in ControllerSpec::all() {
            let mut world = Sender::new(&spec, first.mtu);
            run_over(&mut world, first, 1500)?;
            // The path changes under the connection.
            world.apply(wait(silence));
            apply(&mut world, Event::Mtu { bytes: larger_mtu })?;
            run_over(&mut world, second, 1500)?;
            prop_assert!(world.delivered() > 0);
        }
    }

    /// A packet at a time, acknowledged before the next one: however long that goes on, it shows a path that carries one
    /// packet per round trip. Twice that, and room for batches, is what any controller may make of it.
    #[test]
    fn a_trickle_grows_no_window(
        mtu in 1200..=9000u16,
        rtt in 1_000..1_000_000_000u64,
        pause in 0..1_000_000_000u64,
    ) {
        for spec in ControllerSpec::all() {
            let mut world = Sender::new(&spec, mtu);
            apply(&mut world, Event::Application { limits: true })?;
            let initial = control(&world).window;
            for _ in 0..2000 {
                for event in [send(1), wait(rtt), acknowledge(1), wait(pause)] {
                    apply(&mut world, event)?;
                }
            }
            let control = control(&world);
            let max = initial * 2 + control.send_quantum * 3;
            prop_assert!(control.window <= max, "{spec}: {control:?}");
        }
    }
}

//! Properties of every controller, for any events.

mod host;

use std::collections::VecDeque;
use std::time::Duration;

use kneepoint_controllers::{Bytes, ControllerSpec, FilterSnapshot};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use self::host::{Host, Step};

/// A sender and what has to hold for it.
#[derive(Debug, Clone)]
struct World {
    host: Host,
    largest_mtu: Bytes,
    probed: Bytes,
}

impl World {
    fn new(spec: &ControllerSpec, mtu: u16) -> Self {
        Self {
            host: Host::new(spec, mtu),
            largest_mtu: Bytes(mtu.into()),
            probed: Bytes::ZERO,
        }
    }

    fn apply(&mut self, step: Step) -> Result<(), TestCaseError> {
        if let Step::Probe = step {
            self.probed += Bytes(self.host.mtu);
        }
        let before = self.host.adapter.controller.control().window;
        self.host.apply(step);
        self.largest_mtu = self.largest_mtu.max(Bytes(self.host.mtu));
        let after = self.host.adapter.controller.control().window;
        if let Step::Application { .. } | Step::Discard { .. } = step {
            prop_assert_eq!(before, after, "nobody told the controller anything");
        }
        self.check()
    }

    /// The initial window or the smallest, of the largest packets so far; what was delivered; and what was sent past
    /// the window, since a window in recovery follows what is in flight.
    fn window_bound(&self) -> Bytes {
        (self.largest_mtu * 4).max(Bytes(14_720))
            + self.host.adapter.sampler.delivered()
            + self.probed
    }

    fn check(&self) -> Result<(), TestCaseError> {
        let (host, bound) = (&self.host, self.window_bound());
        let control = host.adapter.controller.control();
        prop_assert!(control.window >= Bytes(2 * host.mtu), "{control:?}");
        prop_assert!(control.window <= bound, "{control:?} > {bound}");
        prop_assert!(control.send_quantum >= Bytes(host.mtu));
        let snapshot = host.adapter.controller.snapshot();
        prop_assert_eq!(snapshot.congestion_window, control.window);
        if control.pacing_rate.is_some() {
            prop_assert_eq!(snapshot.pacing_rate, control.pacing_rate);
        }
        // No bandwidth and no threshold out of nothing, nor the largest number there is.
        let rates = [snapshot.bandwidth, snapshot.pacing_rate];
        for rate in rates.into_iter().flatten() {
            prop_assert!(rate.bytes_per_second() < u64::MAX / 2, "{snapshot:?}");
        }
        if let FilterSnapshot::Skip {
            mean,
            variance,
            process_noise,
            measurement_noise,
            ..
        } = snapshot.filter
        {
            for value in [mean, variance, process_noise, measurement_noise] {
                prop_assert!(value.is_finite() && value >= 0.0, "{snapshot:?}");
            }
        }
        Ok(())
    }
}

/// Nothing, or anything from a nanosecond to a minute, each order of magnitude as likely as the others.
fn spans() -> impl Strategy<Value = u64> {
    prop_oneof![
        1 => Just(0),
        6 => (0.0..10.8f64).prop_map(|exponent| 10f64.powf(exponent) as u64),
    ]
}

fn steps() -> impl Strategy<Value = Step> {
    prop_oneof![
        10 => (spans(), any::<bool>()).prop_map(|(nanos, timers)| Step::Wait { nanos, timers }),
        10 => (1..=64u8).prop_map(|packets| Step::Send { packets }),
        1 => Just(Step::Probe),
        10 => (0..3u8, 0..=64u8).prop_map(|(skip, packets)| Step::Ack { skip, packets }),
        2 => (0..3u8, 1..=64u8, any::<bool>())
            .prop_map(|(skip, packets, persistent)| Step::Lose { skip, packets, persistent }),
        1 => Just(Step::Spurious),
        1 => Just(Step::Mark),
        1 => (1..=8u8).prop_map(|packets| Step::Discard { packets }),
        1 => any::<bool>().prop_map(|limits| Step::Application { limits }),
        1 => (1200..=65_527u16).prop_map(|bytes| Step::Mtu { bytes }),
    ]
}

/// Any of them, while the clock now and then runs backwards by up to 10 ms.
fn steps_of_a_faulty_clock() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => steps(),
        1 => (0.0..7.0f64).prop_map(|exponent| Step::Back { nanos: 10f64.powf(exponent) as u64 }),
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
fn run_over(world: &mut World, path: Path, packets: u64) -> Result<(), TestCaseError> {
    let mut arrivals: VecDeque<Duration> = VecDeque::new();
    let mut link_free = world.host.now;
    let mut sent = 0;
    while sent < packets {
        let host = &mut world.host;
        while host.has_room(0) {
            host.send(1);
            sent += 1;
            let service = host.mtu as f64 / path.bytes_per_second;
            link_free = link_free.max(host.now) + Duration::from_secs_f64(service);
            arrivals.push_back(link_free + path.rtt);
        }
        let batch = arrivals.len().min(usize::from(path.ack_every));
        let Some(&next) = arrivals.get(batch.saturating_sub(1)) else {
            break;
        };
        host.wait(next.saturating_sub(host.now), true);
        arrivals.drain(..batch);
        let mut acked = u8::try_from(batch).expect("at most ack_every");
        if path.marks {
            world.apply(Step::Mark)?;
        }
        if sent % path.lose_every < u64::from(acked) {
            acked -= 1;
            let persistent = path.persistent;
            world.apply(Step::Lose {
                skip: 0,
                packets: 1,
                persistent,
            })?;
            if path.spurious {
                world.apply(Step::Spurious)?;
            }
        }
        world.apply(Step::Ack {
            skip: 0,
            packets: acked,
        })?;
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

    #[test]
    fn any_interleaving_keeps_the_window_in_bounds(
        mtu in 1200..=9000u16,
        events in prop::collection::vec(steps(), 1..400),
        fork in any::<prop::sample::Index>(),
    ) {
        let fork = fork.index(events.len());
        for spec in ControllerSpec::all() {
            let mut world = World::new(&spec, mtu);
            let mut again = Host::new(&spec, mtu);
            let mut copy = None;
            for (index, &event) in events.iter().enumerate() {
                if index == fork {
                    copy = Some(world.host.clone());
                }
                world.apply(event)?;
                // The same events give the same windows.
                again.apply(event);
                prop_assert_eq!(world.host.seen(), again.seen());
                // A copy goes on as the original does.
                if let Some(copy) = &mut copy {
                    copy.apply(event);
                    prop_assert_eq!(world.host.seen(), copy.seen());
                }
            }
        }
    }

    /// Trap: what a search finds in times that are out of order depends on where they lie in memory, and a clone's lie elsewhere.
    #[test]
    fn no_clock_makes_a_clone_differ(
        mtu in 1200..=9000u16,
        events in prop::collection::vec(steps_of_a_faulty_clock(), 1..200),
        fork in any::<prop::sample::Index>(),
    ) {
        let fork = fork.index(events.len());
        for spec in ControllerSpec::all() {
            let mut original = Host::new(&spec, mtu);
            let mut again = Host::new(&spec, mtu);
            let mut copy = None;
            for (index, &event) in events.iter().enumerate() {
                if index == fork {
                    copy = Some(original.clone());
                }
                original.apply(event);
                again.apply(event);
                prop_assert_eq!(original.seen(), again.seen());
                if let Some(copy) = &mut copy {
                    copy.apply(event);
                    prop_assert_eq!(original.seen(), copy.seen());
                }
            }
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
            let mut world = World::new(&spec, first.mtu);
            run_over(&mut world, first, 1500)?;
            // The path changes under the connection.
            world.host.wait(Duration::from_nanos(silence), true);
            world.apply(Step::Mtu { bytes: larger_mtu })?;
            run_over(&mut world, second, 1500)?;
            prop_assert!(world.host.adapter.sampler.delivered() > Bytes::ZERO);
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
            let mut world = World::new(&spec, mtu);
            world.apply(Step::Application { limits: true })?;
            let initial = world.host.adapter.controller.control().window;
            for _ in 0..2000 {
                world.apply(Step::Send { packets: 1 })?;
                world.apply(Step::Wait { nanos: rtt, timers: true })?;
                world.apply(Step::Ack { skip: 0, packets: 1 })?;
                world.apply(Step::Wait { nanos: pause, timers: true })?;
            }
            let control = world.host.adapter.controller.control();
            let max = initial * 2 + control.send_quantum * 3;
            prop_assert!(control.window <= max, "{spec}: {control:?}");
        }
    }
}

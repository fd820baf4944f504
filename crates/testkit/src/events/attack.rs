//! Long attacks from a seed.

use std::panic::{AssertUnwindSafe, catch_unwind};

use kneepoint_controllers::ControllerSpec;

use super::alphabet::Alphabet;
use super::subject::{State, Subject};
use super::world::World;

/// Lets so many events happen to every controller with every preset. Returns how many did to which, and panics if something did not
/// hold.
pub fn attack_all<S: Subject>(seed: u64, events: u64) -> String {
    let ended = ControllerSpec::all().map(|spec| attack::<S>(&spec, seed, events));
    let (survived, broken): (Vec<_>, Vec<_>) = ended.partition(Result::is_ok);
    assert!(broken.is_empty(), "{broken:#?}");
    let events: u64 = survived.iter().flatten().sum();
    format!(
        "{events} events of {} controllers and presets",
        survived.len()
    )
}

/// Lets so many events happen to a controller, in connections of any length up to 32,768 events. Returns how many did.
///
/// # Errors
/// What did not hold, and the seed of the connection: [`replay`] it with its [`words`].
pub fn attack<S: Subject>(spec: &ControllerSpec, seed: u64, events: u64) -> Result<u64, String> {
    let mut done = 0;
    for seed in words(seed) {
        let length = 16 << (seed % 12);
        let connection = || replay::<S>(spec, words(seed).take(length));
        let blame = |what| format!("{spec}, connection {seed}, {length} words: {what}");
        let ended = catch_unwind(AssertUnwindSafe(connection));
        let ended = ended.unwrap_or_else(|_| Err("panic".to_owned()));
        let state = ended.map_err(blame)?;
        // The same events give the same state.
        if seed >> 61 == 0 && connection() != Ok(state) {
            return Err(blame("another state the second time".to_owned()));
        }
        done += length as u64;
        if done >= events {
            break;
        }
    }
    Ok(done)
}

/// Lets the events of these words happen to every controller with every preset, twice.
///
/// # Errors
/// What did not hold.
pub fn survive<S: Subject>(words: &[u64]) -> Result<(), String> {
    for spec in ControllerSpec::all() {
        let run = || replay::<S>(&spec, words.iter().copied());
        let end = run().map_err(|what| format!("{spec}: {what}"))?;
        if run() != Ok(end) {
            return Err(format!("{spec}: another state the second time"));
        }
    }
    Ok(())
}

/// Lets the events of these words happen to a controller, and to clones of it, and checks after each. The first word is that of the
/// alphabet, the size of the first packets, and the number of events from one clone to the next.
///
/// # Errors
/// Which event came before what does not hold.
pub fn replay<S: Subject>(
    spec: &ControllerSpec,
    words: impl IntoIterator<Item = u64>,
) -> Result<State, String> {
    let mut words = words.into_iter();
    let first = words.next().unwrap_or_default();
    let alphabet = Alphabet::from_word(first);
    let [.., low, high, period, _] = first.to_le_bytes();
    let mtu = u16::from_le_bytes([low, high]).clamp(1200, 65_527);
    let mut world = World::<S>::new(spec, mtu);
    let mut copy = world.clone();
    for (index, word) in words.enumerate() {
        if index % (1 + 16 * usize::from(period)) == 0 {
            // The clone goes on as the original, and the next clone is one of it.
            world = copy.clone();
        }
        let event = alphabet.event(word);
        world.apply(event);
        let blame = |what| format!("event {index}, {event:?}: {what}");
        world.check().map_err(blame)?;
        copy.apply(event);
        let (state, copied) = (world.state(), copy.state());
        if state != copied {
            return Err(blame(format!("a clone differs: {state:?}, {copied:?}")));
        }
    }
    Ok(world.state())
}

/// The words of a seed, without end: SplitMix64 (G. Steele et al., OOPSLA 2014).
pub fn words(seed: u64) -> impl Iterator<Item = u64> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    })
}

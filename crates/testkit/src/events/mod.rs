//! Attacks on congestion controllers: one alphabet of events, a sender to which they happen, and what has to hold after each.
//!
//! The same words make the same events, whoever makes the words: a seed, proptest, or a fuzzer.

mod alphabet;
mod attack;
mod subject;
mod world;

pub use alphabet::{Alphabet, Event};
pub use attack::{attack, attack_all, replay, survive, words};
pub use subject::{Adapted, NeutralPath, State, Subject, origin};
pub use world::World;

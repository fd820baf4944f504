//! Applications, as plain asynchronous quinn code: they run in virtual time, and in real time over the relay.
//!
//! A sender lives through [`Phase`]s, each with a [`Load`]. A receiver ([`receive`]) reads all that comes. The only thing
//! that they take from their surroundings is a [`Clock`], which any [`quinn::Runtime`] provides.

mod clock;
mod load;
mod receiver;

pub use clock::{Clock, Elapsed};
pub use load::{Load, Phase, send};
pub use receiver::{Message, Received, receive};

//! Adaptive video over a token bucket: the study of BBR-Sampled.
//!
//! A [`Session`] is one film, fetched segment by segment over one QUIC connection through a [`Path`], with the server's
//! congestion controller under test. Its [`Outcome`] is what the viewer saw and what the controller did. The same seed gives
//! the same session.
//!
//! [`play`] and [`serve`] are plain applications over either [stack](crate::stack): they run on any endpoint and any runtime,
//! in real time too.

pub mod abr;
mod buffer;
mod outcome;
mod player;
mod server;
mod session;
mod video;

pub use self::buffer::PlaybackBuffer;
pub use self::outcome::{Outcome, Segment, States};
pub use self::player::{PlayError, Playback, play};
pub use self::server::serve;
pub use self::session::{Path, Session};
pub use self::video::{SEGMENTS, Video};

//! Adaptive bit rates: which level of the next segment to fetch, and when.
//!
//! Each algorithm is a file and follows the article that it comes from. None reads a clock, none does any I/O: a player
//! hands over what it knows and does what it is told.

mod bba;
mod bola;
mod dynamic;
mod festive;
mod rate;
#[cfg(test)]
mod testing;
mod throughput;

use std::time::Duration;

use clap::ValueEnum;
use serde::Serialize;

pub use self::bba::Bba;
pub use self::bola::Bola;
pub use self::dynamic::Dynamic;
pub use self::festive::Festive;
pub use self::rate::RateBased;
use super::video::Video;

/// Chooses the levels of a video's segments.
pub trait Abr: Send {
    /// The next decision. After [`Decision::Fetch`] the next call follows once that segment has arrived.
    fn choose(&mut self, state: &PlayerState<'_>) -> Decision;
}

/// The next action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Fetch the next segment at this level, now.
    Fetch(usize),
    /// Ask again after this time: the buffer holds enough.
    Wait(Duration),
}

/// The state of a player. Times are since the session began.
#[derive(Debug, Clone, Copy)]
pub struct PlayerState<'a> {
    /// The time.
    pub now: Duration,
    /// How much is left to show.
    pub buffer: Duration,
    /// The number of stalls so far.
    pub stalls: u32,
    /// Every segment fetched so far.
    pub downloads: &'a [Download],
    /// The video.
    pub video: &'a Video,
}

/// One segment's way to the player. Times are since the session began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Download {
    /// The level it was fetched at.
    pub level: usize,
    /// Its size.
    pub bytes: u64,
    /// When the request left.
    pub requested: Duration,
    /// How much was left to show then.
    pub buffer: Duration,
    /// When the first byte came.
    pub first_byte: Duration,
    /// When the last byte came.
    pub finished: Duration,
}

impl PlayerState<'_> {
    /// The level of the segment before; the lowest before the first.
    fn last_level(&self) -> usize {
        self.downloads.last().map_or(0, |download| download.level)
    }
}

/// The algorithms by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// dash.js' throughput rule.
    Rb,
    /// BBA-0.
    Bba,
    /// BOLA, as dash.js has it.
    Bola,
    /// FESTIVE.
    Festive,
    /// DYNAMIC, the default of dash.js.
    Dynamic,
}

impl Algorithm {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rb => "rb",
            Self::Bba => "bba",
            Self::Bola => "bola",
            Self::Festive => "festive",
            Self::Dynamic => "dynamic",
        }
    }

    /// One of it, with its article's constants. `seed` is for those that draw at random.
    pub fn build(self, video: &Video, seed: u64) -> Box<dyn Abr> {
        match self {
            Self::Rb => Box::new(RateBased),
            Self::Bba => Box::new(Bba::new()),
            Self::Bola => Box::new(Bola::new(video)),
            Self::Festive => Box::new(Festive::new(seed)),
            Self::Dynamic => Box::new(Dynamic::new(video)),
        }
    }
}

/// How much film dash.js keeps: `stableBufferTime`, or `bufferTimeAtTopQualityLongForm` once it fetches the best level of a
/// film of ten minutes or more, `bufferTimeAtTopQuality` of a shorter one (dash.js 3.0, `Settings.js`).
fn dash_js_target(state: &PlayerState<'_>) -> Duration {
    if state.last_level() < state.video.top() {
        STABLE_BUFFER
    } else if state.video.length() < LONG_FORM {
        TOP_QUALITY_BUFFER
    } else {
        LARGEST_BUFFER
    }
}

/// How long dash.js waits before it fetches more, if it has enough.
fn dash_js_wait(state: &PlayerState<'_>) -> Option<Duration> {
    let excess = state.buffer.checked_sub(dash_js_target(state))?;
    (!excess.is_zero()).then_some(excess)
}

/// dash.js 3.0, `stableBufferTime`.
const STABLE_BUFFER: Duration = Duration::from_secs(12);

/// dash.js 3.0, `bufferTimeAtTopQuality`.
const TOP_QUALITY_BUFFER: Duration = Duration::from_secs(30);

/// dash.js 3.0, `bufferTimeAtTopQualityLongForm`: the most film it ever keeps, but for the segment on its way.
const LARGEST_BUFFER: Duration = Duration::from_secs(60);

/// dash.js 3.0, `longFormContentDurationThreshold`.
const LONG_FORM: Duration = Duration::from_secs(600);

#[cfg(test)]
mod tests {
    use super::testing::{fetched, state, video};
    use super::*;

    #[test]
    fn everybody_begins_at_the_lowest_level_and_at_once() {
        for algorithm in Algorithm::value_variants() {
            let mut abr = algorithm.build(&video(), 1);
            let decision = abr.choose(&state(&video(), 0.0, &[]));
            assert_eq!(decision, Decision::Fetch(0), "{algorithm:?}");
        }
    }

    /// The video is longer than ten minutes.
    #[test]
    fn the_best_level_is_worth_a_larger_buffer() {
        let (video, low, top) = (video(), fetched(9, 20.0, 0.1), fetched(10, 20.0, 0.1));
        let wait = |buffer, download| dash_js_wait(&state(&video, buffer, &[download]));
        assert_eq!(wait(12.0, low), None);
        assert_eq!(wait(13.5, low), Some(Duration::from_millis(1500)));
        assert_eq!(wait(60.0, top), None);
        assert_eq!(wait(62.0, top), Some(Duration::from_secs(2)));
    }
}

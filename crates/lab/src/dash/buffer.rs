//! The playback buffer.

use std::time::Duration;

/// The playback buffer: what plays, and what stalls, as whole segments arrive.
///
/// The film starts with its first segment and, after a stall, goes on with the next one: dash.js waits for no more unless
/// told to (its `initialBufferLevel` is unset), and a browser's video element plays what it has. It stalls when the last
/// byte has been shown, not before. Times are since the session began; they must not decrease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaybackBuffer {
    state: State,
    /// Until when all of this holds.
    now: Duration,
    level: Duration,
    played: Duration,
    stalls: u32,
    stalled: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing has arrived yet.
    Starting,
    Playing {
        /// How long the start took.
        startup: Duration,
    },
    Stalled {
        startup: Duration,
    },
}

impl PlaybackBuffer {
    /// An empty buffer at time zero.
    pub const fn new() -> Self {
        Self {
            state: State::Starting,
            now: Duration::ZERO,
            level: Duration::ZERO,
            played: Duration::ZERO,
            stalls: 0,
            stalled: Duration::ZERO,
        }
    }

    /// Plays until `now`.
    pub fn advance(&mut self, now: Duration) {
        let passed = now.saturating_sub(self.now);
        self.now = self.now.max(now);
        match self.state {
            State::Starting => {}
            State::Stalled { .. } => self.stalled += passed,
            State::Playing { startup } => {
                let shown = passed.min(self.level);
                self.level -= shown;
                self.played += shown;
                if passed > shown {
                    self.state = State::Stalled { startup };
                    self.stalls += 1;
                    self.stalled += passed - shown;
                }
            }
        }
    }

    /// A segment of this length has arrived.
    pub fn append(&mut self, now: Duration, segment: Duration) {
        self.advance(now);
        self.level += segment;
        self.state = match self.state {
            State::Starting => State::Playing { startup: self.now },
            State::Playing { startup } | State::Stalled { startup } => State::Playing { startup },
        };
    }

    /// The video is complete: shows the rest. It then ends without a stall.
    pub fn finish(&mut self) {
        self.advance(self.now + self.level);
    }

    /// How much is left to show.
    pub fn level(&self) -> Duration {
        self.level
    }

    /// How much has been shown.
    pub fn played(&self) -> Duration {
        self.played
    }

    /// How long the first segment took; `None` before it arrived.
    pub fn startup(&self) -> Option<Duration> {
        match self.state {
            State::Starting => None,
            State::Playing { startup } | State::Stalled { startup } => Some(startup),
        }
    }

    /// The number of stalls, without the start.
    pub fn stalls(&self) -> u32 {
        self.stalls
    }

    /// For how long in all.
    pub fn stalled(&self) -> Duration {
        self.stalled
    }

    /// Until when all of this holds.
    pub fn now(&self) -> Duration {
        self.now
    }
}

impl Default for PlaybackBuffer {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_start_a_stall_and_the_end() {
        let mut buffer = PlaybackBuffer::new();
        buffer.advance(s(1));
        assert_eq!((buffer.startup(), buffer.level()), (None, s(0)));
        // Plays from 2 to 7, has nothing from 7 to 10, and plays from 10 to 20.
        buffer.append(s(2), s(5));
        buffer.advance(s(4));
        assert_eq!((buffer.level(), buffer.played()), (s(3), s(2)));
        buffer.append(s(10), s(5));
        assert_eq!((buffer.stalls(), buffer.stalled()), (1, s(3)));
        buffer.append(s(11), s(5));
        assert_eq!(buffer.level(), s(9));
        buffer.finish();
        assert_eq!(buffer.startup(), Some(s(2)));
        assert_eq!((buffer.now(), buffer.played()), (s(20), s(15)));
        assert_eq!((buffer.stalls(), buffer.stalled()), (1, s(3)));
    }

    #[test]
    fn running_dry_at_the_moment_of_an_arrival_is_no_stall() {
        let mut buffer = PlaybackBuffer::new();
        buffer.append(s(0), s(5));
        buffer.append(s(5), s(5));
        assert_eq!((buffer.stalls(), buffer.level()), (0, s(5)));
    }

    proptest! {
        /// In any order of arrival: all time is start, playback or stall, and all that arrived is either shown or left.
        #[test]
        fn time_and_film_add_up(
            arrivals in prop::collection::vec((0_u64..20_000, 1_u64..10_000, any::<bool>()), 1..60)
        ) {
            let mut buffer = PlaybackBuffer::new();
            let (mut now, mut video) = (Duration::ZERO, Duration::ZERO);
            for (gap, segment, arrives) in arrivals {
                now += Duration::from_millis(gap);
                if arrives {
                    let segment = Duration::from_millis(segment);
                    buffer.append(now, segment);
                    video += segment;
                } else {
                    buffer.advance(now);
                }
                prop_assert_eq!(buffer.now(), now);
                prop_assert_eq!(buffer.played() + buffer.level(), video);
                let start = buffer.startup().unwrap_or(now);
                prop_assert_eq!(start + buffer.played() + buffer.stalled(), now);
            }
            buffer.finish();
            let start = buffer.startup().unwrap_or(now);
            prop_assert_eq!(start + video + buffer.stalled(), buffer.now());
            prop_assert_eq!((buffer.played(), buffer.level()), (video, Duration::ZERO));
        }
    }
}

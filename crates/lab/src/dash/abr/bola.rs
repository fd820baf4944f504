//! BOLA: utility against the risk of running dry.

use std::time::Duration;

use super::throughput::sustainable_level;
use super::{Abr, Decision, PlayerState, STABLE_BUFFER, dash_js_wait};
use crate::dash::video::Video;

/// BOLA of K. Spiteri, R. Urgaonkar, R. Sitaraman, "BOLA: Near-Optimal Bitrate Adaptation for Online Videos", INFOCOM 2016,
/// as dash.js 3.0 has it (`BolaRule.js`): of all levels the one with the largest
///
/// ```text
/// (V (utility + g) - buffer) / size,    utility = ln(rate / lowest rate) + 1
/// ```
///
/// V and g make the lowest level the best one up to 10 s, and the highest worth its price at the target. A
/// player that holds less than that would never see the highest levels, so dash.js adds a placeholder to the buffer: all the
/// time in which the player could have fetched and did not want to. It begins as what the throughput of the first segments
/// would have filled, and a stall empties it. As in the article's BOLA-O, a step up goes no further than the throughput
/// keeps up with.
#[derive(Debug, Clone)]
pub struct Bola {
    /// V, in seconds.
    control: f64,
    /// g, times a segment's length.
    gain: f64,
    /// By level.
    utilities: Vec<f64>,
    phase: Phase,
    /// In seconds.
    placeholder: f64,
    /// The player's state at the last decision.
    seen: Seen,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The buffer says nothing yet: the throughput decides.
    Startup,
    Steady,
}

#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    at: Duration,
    downloads: usize,
    stalls: u32,
}

impl Bola {
    /// A rule for the levels of this video.
    pub fn new(video: &Video) -> Self {
        let lowest = video.bits_per_second(0);
        let levels = 0..video.levels().len();
        let utilities: Vec<f64> = levels
            .map(|level| (video.bits_per_second(level) / lowest).ln() + 1.0)
            .collect();
        let target = (LOW_BUFFER + BUFFER_PER_LEVEL * utilities.len() as f64)
            .max(STABLE_BUFFER.as_secs_f64());
        let highest = utilities.last().map_or(0.0, |utility| utility - 1.0);
        // V g = low and V (highest - 1 + g) = target.
        let gain = highest / (target / LOW_BUFFER - 1.0);
        Self {
            control: LOW_BUFFER / gain,
            gain,
            utilities,
            phase: Phase::Startup,
            placeholder: 0.0,
            seen: Seen::default(),
        }
    }

    /// The best level for a buffer in seconds, by the formula alone.
    fn level_for(&self, video: &Video, buffer: f64) -> usize {
        let score =
            |level: usize| (self.largest_buffer(level) - buffer) / video.bits_per_second(level);
        let levels = 0..self.utilities.len();
        let best = levels.max_by(|&a, &b| score(a).total_cmp(&score(b)));
        best.unwrap_or(0)
    }

    /// The maximum buffer at which it fetches this level instead of waiting, in seconds.
    fn largest_buffer(&self, level: usize) -> f64 {
        self.control * (self.gain + self.utilities.get(level).copied().unwrap_or(1.0))
    }

    /// The minimum buffer at which it prefers this level to all lower ones, in seconds.
    fn smallest_buffer(&self, video: &Video, level: usize) -> f64 {
        let (rate, utility) = (video.bits_per_second(level), self.utilities[level]);
        (0..level)
            .map(|lower| {
                let (low_rate, low_utility) = (video.bits_per_second(lower), self.utilities[lower]);
                let meet = (rate * low_utility - low_rate * utility) / (rate - low_rate);
                self.control * (self.gain + meet)
            })
            .fold(0.0, f64::max)
    }

    /// The decision, without the player's buffer target.
    pub(super) fn decide(&mut self, state: &PlayerState<'_>) -> Decision {
        let decision = match (state.downloads.is_empty(), self.phase) {
            (true, _) => Decision::Fetch(0),
            (false, Phase::Startup) => self.start(state),
            (false, Phase::Steady) => self.go_on(state),
        };
        self.seen = Seen {
            at: state.now,
            downloads: state.downloads.len(),
            stalls: state.stalls,
        };
        decision
    }

    fn start(&mut self, state: &PlayerState<'_>) -> Decision {
        let level = sustainable_level(state);
        let wanted = self.smallest_buffer(state.video, level);
        self.placeholder = (wanted - state.buffer.as_secs_f64()).max(0.0);
        if state.buffer >= state.video.segment() {
            self.phase = Phase::Steady;
        }
        Decision::Fetch(level)
    }

    fn go_on(&mut self, state: &PlayerState<'_>) -> Decision {
        self.update_placeholder(state);
        let buffer = state.buffer.as_secs_f64() + self.placeholder;
        let (wanted, last) = (self.level_for(state.video, buffer), state.last_level());
        let level = wanted.min(sustainable_level(state).max(last));
        let excess = (buffer - self.largest_buffer(level)).max(0.0);
        if excess <= self.placeholder {
            self.placeholder -= excess;
            return Decision::Fetch(level);
        }
        let wait = excess - self.placeholder;
        self.placeholder = 0.0;
        if level == state.video.top() {
            Decision::Fetch(level)
        } else {
            Decision::Wait(Duration::from_secs_f64(wait))
        }
    }

    fn update_placeholder(&mut self, state: &PlayerState<'_>) {
        if state.stalls > self.seen.stalls {
            self.placeholder = 0.0;
        }
        let mut idle_since = self.seen.at;
        if let Some(last) = state.downloads.last()
            && state.downloads.len() > self.seen.downloads
        {
            let room = (self.largest_buffer(last.level) - last.buffer.as_secs_f64()).max(0.0);
            self.placeholder = (self.placeholder * DECAY).min(room);
            idle_since = idle_since.max(last.finished);
        }
        self.placeholder += state.now.saturating_sub(idle_since).as_secs_f64();
    }
}

impl Abr for Bola {
    fn choose(&mut self, state: &PlayerState<'_>) -> Decision {
        match dash_js_wait(state) {
            Some(wait) => Decision::Wait(wait),
            None => self.decide(state),
        }
    }
}

/// Up to this buffer, in seconds, the lowest level is the best one (`MINIMUM_BUFFER_S`).
const LOW_BUFFER: f64 = 10.0;

/// The target is this much above it for each level, in seconds (`MINIMUM_BUFFER_PER_BITRATE_LEVEL_S`).
const BUFFER_PER_LEVEL: f64 = 2.0;

/// The factor of the placeholder per segment (`PLACEHOLDER_BUFFER_DECAY`).
const DECAY: f64 = 0.99;

#[cfg(test)]
mod tests {
    use super::super::testing::{fetched, state, video};
    use super::*;

    fn steady() -> Bola {
        Bola {
            phase: Phase::Steady,
            ..Bola::new(&video())
        }
    }

    /// 11 levels: the target is 10 + 2 x 11 = 32 s. ln 25 = 3.2189, so g = 3.2189 / (3.2 - 1) = 1.4631 and
    /// V = 10 / 1.4631 = 6.8346.
    #[test]
    fn the_parameters() {
        let bola = Bola::new(&video());
        assert!((bola.gain - 1.4631).abs() < 1e-4, "{}", bola.gain);
        assert!((bola.control - 6.8346).abs() < 1e-4, "{}", bola.control);
        // 10 s + V, and the target + V.
        assert!((bola.largest_buffer(0) - 16.8346).abs() < 1e-4);
        assert!((bola.largest_buffer(10) - 38.8346).abs() < 1e-4);
    }

    /// Level 1 beats level 0 from V (g + (2.5 x 1 - 1 x 1.9163) / 1.5) = 6.8346 x 1.8523 = 12.66 s on; level 10 beats
    /// level 9 from V (g + (25 x 4.1135 - 22.5 x 4.2189) / 2.5) = 6.8346 x 4.6284 = 31.63 s on.
    #[test]
    fn the_buffer_decides() {
        let (bola, video) = (steady(), video());
        assert!((bola.smallest_buffer(&video, 1) - 12.66).abs() < 0.01);
        assert!((bola.smallest_buffer(&video, 10) - 31.63).abs() < 0.01);
        for (buffer, level) in [(0.0, 0), (12.6, 0), (12.7, 1), (31.6, 9), (31.7, 10)] {
            assert_eq!(bola.level_for(&video, buffer), level, "{buffer}");
        }
    }

    /// 0.9 x 12 = 10.8 Mb/s: level 4, which wants V (g + (10 x 3.0149 - 7.5 x 3.3026) / 2.5) = 6.8346 x 3.6149 = 24.7 s.
    /// With 5 s of film the placeholder is 19.7 s.
    #[test]
    fn it_starts_with_the_throughput() {
        let (mut bola, video, downloads) = (Bola::new(&video()), video(), [fetched(0, 12.0, 0.0)]);
        let state = state(&video, 5.0, &downloads);
        assert_eq!(bola.choose(&state), Decision::Fetch(4));
        assert_eq!(bola.phase, Phase::Steady);
        assert!(
            (bola.placeholder - 19.68).abs() < 0.05,
            "{}",
            bola.placeholder
        );
    }

    /// 32 s of film and placeholder want the highest level; 12 Mb/s keep up with level 4. Level 6 stays: only steps up are
    /// held back.
    #[test]
    fn a_step_up_goes_no_further_than_the_throughput() {
        let video = video();
        for (last, level) in [(2, 4), (6, 6)] {
            let downloads = [fetched(last, 12.0, 0.0)];
            let mut bola = Bola {
                placeholder: 25.0,
                ..steady()
            };
            bola.seen.downloads = 1;
            bola.seen.at = downloads[0].finished;
            let decision = bola.choose(&state(&video, 11.0, &downloads));
            assert_eq!(decision, Decision::Fetch(level));
        }
    }

    #[test]
    fn a_stall_empties_the_placeholder() {
        let (video, downloads) = (video(), [fetched(6, 20.0, 0.0)]);
        let mut bola = Bola {
            placeholder: 25.0,
            ..steady()
        };
        let mut state = state(&video, 5.0, &downloads);
        state.stalls = 1;
        assert_eq!(bola.choose(&state), Decision::Fetch(0));
        assert_eq!(bola.placeholder, 0.0);
    }

    /// 0.5 s after the segment came: the placeholder is 0.99 x 4 + 0.5 = 4.46 s.
    #[test]
    fn time_that_the_player_did_not_use_counts_as_playback() {
        let (video, downloads) = (video(), [fetched(6, 20.0, 0.0)]);
        let mut bola = Bola {
            placeholder: 4.0,
            ..steady()
        };
        let mut state = state(&video, 5.0, &downloads);
        state.now += Duration::from_millis(500);
        assert_eq!(bola.choose(&state), Decision::Fetch(0));
        assert!((bola.placeholder - 4.46).abs() < 1e-9);
    }
}

//! BBA-0: nothing but the buffer.

use std::time::Duration;

use super::{Abr, Decision, LARGEST_BUFFER, PlayerState};

/// BBA-0 of T.-Y. Huang et al., "A Buffer-Based Approach to Rate Adaptation", SIGCOMM 2014, section 4: the lowest level up
/// to a reservoir, the highest beyond a cushion, and a straight line of rates between. The level changes only when the line
/// reaches the next level up or down.
///
/// The article's buffer holds 240 s, of which the reservoir takes 90 s and the cushion 126 s. Here they take the same shares
/// of what the player holds at most: a player of 60 s would otherwise never leave the reservoir.
#[derive(Debug, Clone, Copy)]
pub struct Bba {
    buffer: Duration,
}

impl Bba {
    /// For a player that holds 60 s, as dash.js does at most.
    pub const fn new() -> Self {
        Self {
            buffer: LARGEST_BUFFER,
        }
    }

    /// The rate of the map, in bits per second.
    fn rate(&self, state: &PlayerState<'_>) -> f64 {
        let size = self.buffer.as_secs_f64();
        let level = (state.buffer.as_secs_f64() - RESERVOIR * size) / (CUSHION * size);
        let lowest = state.video.bits_per_second(0);
        let highest = state.video.bits_per_second(state.video.top());
        lowest + level.clamp(0.0, 1.0) * (highest - lowest)
    }
}

impl Default for Bba {
    fn default() -> Self {
        Self::new()
    }
}

impl Abr for Bba {
    fn choose(&mut self, state: &PlayerState<'_>) -> Decision {
        let room = self.buffer.saturating_sub(state.video.segment());
        if state.buffer > room {
            return Decision::Wait(state.buffer - room);
        }
        let (video, last) = (state.video, state.last_level());
        let rate = self.rate(state);
        let up = video.bits_per_second((last + 1).min(video.top()));
        let down = video.bits_per_second(last.saturating_sub(1));
        // Algorithm 1: the best level below the line where it reaches the next one up, the worst above it where it reaches
        // the next one down. At both ends the line is flat.
        let level = if rate >= video.bits_per_second(video.top()) {
            video.top()
        } else if rate >= up {
            video.level_within(rate)
        } else if rate <= down {
            let above = |level: &usize| video.bits_per_second(*level) >= rate;
            (0..=last).find(above).unwrap_or(last)
        } else {
            last
        };
        Decision::Fetch(level)
    }
}

/// Of the buffer: 90 s of 240 s (section 4).
const RESERVOIR: f64 = 90.0 / 240.0;

/// Of the buffer: up to 216 s of 240 s, which leaves 10 % of it at the highest level (section 4).
const CUSHION: f64 = 126.0 / 240.0;

#[cfg(test)]
mod tests {
    use super::super::testing::{fetched, state, video};
    use super::*;

    /// Of 60 s the reservoir is 22.5 s and the cushion 31.5 s: the line climbs 24 Mb/s from 22.5 s to 54 s,
    /// 0.762 Mb/s for each second.
    #[test]
    fn a_line_with_hysteresis() {
        let video = video();
        for (buffer, last, level) in [
            (5.0, 10, 0),
            (22.5, 7, 0),
            // 1 + 0.762 x 2.5 = 2.9 Mb/s: beyond level 1 of 2.5.
            (25.0, 0, 1),
            // 1 + 0.762 x 12.5 = 10.5 Mb/s: from level 4 of 10 neither 12.5 nor 7.5 is reached.
            (35.0, 4, 4),
            // From below it goes up to 10, from above down to 12.5.
            (35.0, 2, 4),
            (35.0, 6, 5),
            (54.0, 3, 10),
            (55.0, 10, 10),
        ] {
            let downloads = [fetched(last, 20.0, 0.1)];
            let decision = Bba::new().choose(&state(&video, buffer, &downloads));
            assert_eq!(decision, Decision::Fetch(level), "{buffer} s from {last}");
        }
    }

    #[test]
    fn it_waits_for_room() {
        let (video, downloads) = (video(), [fetched(10, 20.0, 0.1)]);
        let decision = Bba::new().choose(&state(&video, 57.0, &downloads));
        assert_eq!(decision, Decision::Wait(Duration::from_secs(2)));
    }
}

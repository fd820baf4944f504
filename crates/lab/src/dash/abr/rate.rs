//! RB: what the last segments came at.

use super::throughput::sustainable_level;
use super::{Abr, Decision, PlayerState, dash_js_wait};

/// dash.js' `ThroughputRule`, the `THROUGHPUT` of K. Spiteri et al., "From Theory to Practice: Improving Bitrate Adaptation
/// in the DASH Reference Player", MMSys 2018: the best level within 90 % of the mean throughput of the last segments. It
/// keeps no state: the player has the downloads.
#[derive(Debug, Clone, Copy, Default)]
pub struct RateBased;

impl Abr for RateBased {
    fn choose(&mut self, state: &PlayerState<'_>) -> Decision {
        match dash_js_wait(state) {
            Some(wait) => Decision::Wait(wait),
            None => Decision::Fetch(sustainable_level(state)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::testing::{fetched, state, video};
    use super::*;

    /// 0.9 x 12 x (1 - 0.1 / 5) = 10.58 Mb/s: level 4 of 10 Mb/s.
    #[test]
    fn the_throughput_decides_and_the_buffer_only_when() {
        let (video, downloads) = (video(), [fetched(2, 12.0, 0.1)]);
        for buffer in [0.5, 12.0] {
            let decision = RateBased.choose(&state(&video, buffer, &downloads));
            assert_eq!(decision, Decision::Fetch(4), "{buffer}");
        }
        let decision = RateBased.choose(&state(&video, 14.0, &downloads));
        assert_eq!(decision, Decision::Wait(Duration::from_secs(2)));
    }
}

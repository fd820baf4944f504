//! DYNAMIC: the throughput rule while the buffer is short, BOLA from then on.

use super::throughput::sustainable_level;
use super::{Abr, Bola, Decision, PlayerState, dash_js_wait};
use crate::dash::video::Video;

/// DYNAMIC of K. Spiteri, R. Sitaraman, D. Sparacio, "From Theory to Practice: Improving Bitrate Adaptation in the DASH
/// Reference Player", MMSys 2018, section 5: the throughput rule at first; BOLA once there are 10 s of
/// film and it chooses at least as high a level; the throughput rule again below that, once BOLA chooses a lower one.
///
/// Both are asked every time. dash.js is the reference for what either does.
#[derive(Debug, Clone)]
pub struct Dynamic {
    bola: Bola,
    rule: Rule,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    Throughput,
    Bola,
}

impl Dynamic {
    /// A rule for the levels of this video.
    pub fn new(video: &Video) -> Self {
        Self {
            bola: Bola::new(video),
            rule: Rule::Throughput,
        }
    }
}

impl Abr for Dynamic {
    fn choose(&mut self, state: &PlayerState<'_>) -> Decision {
        if let Some(wait) = dash_js_wait(state) {
            return Decision::Wait(wait);
        }
        let bola = self.bola.decide(state);
        let throughput = sustainable_level(state);
        // BOLA waits because what there is suits it: it would not choose less.
        let lower = matches!(bola, Decision::Fetch(level) if level < throughput);
        let enough = state.buffer.as_secs_f64() >= LOW_BUFFER;
        self.rule = match self.rule {
            Rule::Throughput if enough && !lower => Rule::Bola,
            Rule::Bola if !enough && lower => Rule::Throughput,
            rule => rule,
        };
        match self.rule {
            Rule::Throughput => Decision::Fetch(throughput),
            Rule::Bola => bola,
        }
    }
}

/// In seconds (section 5).
const LOW_BUFFER: f64 = 10.0;

#[cfg(test)]
mod tests {
    use super::super::testing::{fetched, state, video};
    use super::super::{Download, STABLE_BUFFER};
    use super::*;

    /// At 12 Mb/s: 0.9 x 12 = 10.8 Mb/s is level 4. BOLA has no placeholder, and wants level 0 below 12.66 s of film.
    fn without_placeholder(rule: Rule, buffer: f64, downloads: &[Download]) -> (Decision, Rule) {
        let video = video();
        let mut dynamic = Dynamic {
            rule,
            ..Dynamic::new(&video)
        };
        // The first decision ends BOLA's start, the stall empties the placeholder.
        dynamic.bola.decide(&state(&video, 5.0, &downloads[..1]));
        let stalled = PlayerState {
            stalls: 1,
            ..state(&video, buffer, downloads)
        };
        (dynamic.choose(&stalled), dynamic.rule)
    }

    #[test]
    fn it_changes_the_rule_only_where_that_does_not_lower_the_level() {
        let slow = [fetched(0, 12.0, 0.0); 2];
        for (rule, buffer, decision, next) in [
            // BOLA chooses 0, less than 4: the throughput goes on.
            (Rule::Throughput, 11.0, 4, Rule::Throughput),
            // A short buffer, and BOLA chooses less: the throughput rule takes over.
            (Rule::Bola, 9.0, 4, Rule::Throughput),
            // Enough of it: BOLA goes on, with its level 0.
            (Rule::Bola, 11.0, 0, Rule::Bola),
        ] {
            let outcome = without_placeholder(rule, buffer, &slow);
            assert_eq!(outcome, (Decision::Fetch(decision), next), "{rule:?}");
        }
        // 0.9 x 1 Mb/s: both choose the lowest level, and the buffer is long enough.
        let stuck = [fetched(0, 1.0, 0.0); 2];
        let (decision, rule) = without_placeholder(Rule::Throughput, 10.0, &stuck);
        assert_eq!((decision, rule), (Decision::Fetch(0), Rule::Bola));
    }

    #[test]
    fn it_waits_as_dash_js_does() {
        let (video, downloads) = (video(), [fetched(3, 20.0, 0.1)]);
        let mut dynamic = Dynamic::new(&video);
        let decision = dynamic.choose(&state(&video, 15.0, &downloads));
        let wait = std::time::Duration::from_secs(15) - STABLE_BUFFER;
        assert_eq!(decision, Decision::Wait(wait));
    }
}

//! A progress bar on a terminal, nothing in a pipe.

use std::io::{IsTerminal, Write, stderr};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Virtual time done, of all virtual time to do.
pub(super) struct Progress(ProgressBar);

impl Progress {
    /// A progress bar on stderr for a virtual time; none if stderr is not a terminal.
    pub(super) fn new(total: Duration) -> Self {
        Self::with(millis(total), TEMPLATE)
    }

    /// A progress bar for steps in real time.
    pub(super) fn of_steps(steps: u64) -> Self {
        Self::with(steps, STEPS_TEMPLATE)
    }

    fn with(length: u64, template: &str) -> Self {
        let target = if stderr().is_terminal() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(length), target);
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// One more of the steps is done.
    pub(super) fn advance_step(&self) {
        self.0.inc(1);
    }

    /// A bar for work that is counted in shares of the whole.
    pub(super) fn of_shares() -> Self {
        Self::new(WHOLE)
    }

    /// The same for one part of a command, which is named.
    pub(super) fn of_part(name: String) -> Self {
        let progress = Self::with(millis(WHOLE), PART_TEMPLATE);
        progress.0.set_prefix(name);
        progress
    }

    /// So large a share of the work is done, too.
    pub(super) fn advance_share(&self, share: f64) {
        self.advance(WHOLE.mul_f64(share.clamp(0.0, 1.0)));
    }

    /// So much more virtual time is done.
    pub(super) fn advance(&self, step: Duration) {
        self.0.inc(millis(step));
    }

    /// Removes the bar.
    pub(super) fn finish(self) {
        self.0.finish_and_clear();
    }
}

/// Prints a line on a terminal, nothing in a pipe.
pub(super) fn say(text: &str) {
    if stderr().is_terminal() {
        // An error there cannot be reported.
        let _ = writeln!(stderr(), "{text}");
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Stands for all the work, where that is not virtual time.
const WHOLE: Duration = Duration::from_secs(1_000_000);

const TEMPLATE: &str = "simulating {wide_bar} {percent:>3} %, {eta} left";

const PART_TEMPLATE: &str = "{prefix} {wide_bar} {percent:>3} %, {eta} left";

const STEPS_TEMPLATE: &str = "measuring {wide_bar} {pos}/{len}, {eta} left";

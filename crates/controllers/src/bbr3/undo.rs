//! Episodes of loss, and how to take back what was done about one that was none.

use super::Bbr3;
use super::bounds::Bounds;
use super::state::{Phase, State};
use crate::event::{AckEvent, CongestionEvent};
use crate::filter::BandwidthFilter;
use crate::model::FullPipe;
use crate::units::{Bytes, Timestamp};

/// What the controller was before the latest episode of loss (draft-ietf-ccwg-bbr, section "Undo State").
#[derive(Debug, Clone, Copy)]
pub(super) struct Undo {
    saved: Option<UndoState>,
}

#[derive(Debug, Clone, Copy)]
struct UndoState {
    /// When the episode began: losses of packets sent before belong to it.
    began: Timestamp,
    /// Until a packet sent since then is acknowledged.
    recovering: bool,
    window: Bytes,
    bounds: Bounds,
    left: Option<Left>,
}

/// The state that the episode ended (`undo_state`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    Startup,
    Up,
}

impl Undo {
    pub(super) const NOTHING: Self = Self { saved: None };

    /// Losses ended a state.
    pub(super) fn left(&mut self, state: Left) {
        if let Some(saved) = &mut self.saved {
            saved.left = Some(state);
        }
    }

    fn covers(&self, sent: Timestamp) -> bool {
        self.saved.is_some_and(|saved| sent <= saved.began)
    }
}

impl<F: BandwidthFilter> Bbr3<F> {
    /// Saves the state on the first loss of an episode; later ones would save what the first has done
    /// (`SaveStateUponLoss`).
    pub(super) fn save_undo_state(&mut self, event: &CongestionEvent) {
        if self.undo.covers(event.newest_sent) {
            return;
        }
        // An episode that runs into the next one has not given back its window yet.
        let still_recovering = self.undo.saved.filter(|saved| saved.recovering);
        let window = still_recovering.map_or(self.window, |saved| saved.window.max(self.window));
        self.undo.saved = Some(UndoState {
            began: event.now,
            recovering: true,
            window,
            bounds: self.bounds,
            left: None,
        });
    }

    /// The first acknowledgement of a packet sent after the losses ends recovery and gives the window back; the model
    /// bounds it as ever (section "Modulating cwnd in Loss Recovery").
    pub(super) fn check_recovered(&mut self, ack: &AckEvent) {
        if let Some(saved) = &mut self.undo.saved
            && saved.recovering
            && ack.newest_sent > saved.began
        {
            saved.recovering = false;
            self.window = self.window.max(saved.window);
        }
    }

    /// Everything in flight for long was lost: begin again from the smallest window, which grows with what is delivered
    /// and is not given back (RFC 9002, section 7.6.2).
    pub(super) fn on_persistent_congestion(&mut self) {
        if let Some(saved) = &mut self.undo.saved {
            saved.recovering = false;
        }
        self.window = self.min_window();
    }

    /// `HandleSpuriousLossDetection`.
    pub(super) fn undo(&mut self) {
        let Some(saved) = self.undo.saved.take() else {
            return;
        };
        self.window = self.window.max(saved.window);
        self.latest.congested = false;
        self.bounds.restore(&saved.bounds);
        match &mut self.state {
            State::Startup(search) => *search = FullPipe::default(),
            State::ProbeRtt(probe_rtt) => probe_rtt.search = FullPipe::default(),
            State::ProbeBw(Phase::Up(probe_up)) => probe_up.plateau = FullPipe::default(),
            _ => {}
        }
        match (saved.left, self.state) {
            (Some(Left::Startup), State::Drain { .. } | State::ProbeBw(_)) => {
                self.reopen_search();
                self.enter_startup(FullPipe::default());
            }
            // Silence leaves for Startup by itself then.
            (Some(Left::Startup), State::ProbeRtt(_)) => self.reopen_search(),
            (Some(Left::Up), State::ProbeBw(Phase::Down | Phase::Cruise | Phase::Refill)) => {
                self.start_refill();
            }
            _ => {}
        }
    }
}

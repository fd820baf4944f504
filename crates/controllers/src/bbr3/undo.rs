//! Recovery periods, and the undo of spurious losses.

use super::Bbr3;
use super::bounds::Bounds;
use super::state::State;
use crate::event::{AckEvent, CongestionEvent};
use crate::filter::BandwidthFilter;
use crate::model::FullPipe;
use crate::units::{Bytes, Timestamp};

/// The state before the latest recovery period (draft-ietf-ccwg-bbr, section "Undo State").
#[derive(Debug, Clone, Copy)]
pub(super) struct Undo {
    saved: Option<UndoState>,
}

#[derive(Debug, Clone, Copy)]
struct UndoState {
    /// When the recovery period began: losses of packets sent before belong to it.
    began: Timestamp,
    /// Whether no packet sent since then is acknowledged yet.
    recovering: bool,
    window: Bytes,
    bounds: Bounds,
    left: Option<Left>,
}

/// The state that the losses ended (`undo_state`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    Startup,
    Up,
}

impl Undo {
    pub(super) const NOTHING: Self = Self { saved: None };

    /// The losses have ended a state.
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
    /// Saves the state at the first loss of a recovery period (`SaveStateUponLoss`).
    pub(super) fn save_undo_state(&mut self, event: &CongestionEvent) {
        if self.undo.covers(event.newest_sent) {
            return;
        }
        // If the previous recovery has not ended, its window has not been restored yet.
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

    /// Ends recovery with the first acknowledgement of a packet sent after the losses, and restores the window, which
    /// the model still bounds (section "Modulating cwnd in Loss Recovery").
    pub(super) fn check_recovered(&mut self, ack: &AckEvent) {
        if let Some(saved) = &mut self.undo.saved
            && saved.recovering
            && ack.newest_sent > saved.began
        {
            saved.recovering = false;
            self.window = self.window.max(saved.window);
        }
    }

    /// Persistent congestion: restarts from the minimum window, which grows with the delivered bytes and is not
    /// restored (RFC 9002, section 7.6.2).
    pub(super) fn on_persistent_congestion(&mut self) {
        if let Some(saved) = &mut self.undo.saved {
            saved.recovering = false;
        }
        self.window = self.min_window;
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
            State::ProbeUp(probe_up) => probe_up.plateau = FullPipe::default(),
            _ => {}
        }
        match (saved.left, self.state) {
            (_, State::Startup(_)) => {}
            // ProbeRTT then ends in Startup.
            (Some(Left::Startup), State::ProbeRtt(_)) => self.reopen_search(),
            (Some(Left::Startup), _) => {
                self.reopen_search();
                self.enter_startup(FullPipe::default());
            }
            (Some(Left::Up), State::ProbeDown | State::ProbeCruise | State::ProbeRefill) => {
                self.start_refill();
            }
            _ => {}
        }
    }
}

//! The probe around quinn's controllers.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use quinn::congestion::{Controller, ControllerFactory, ControllerMetrics};
use quinn_proto::RttEstimator;

use super::{Recorder, probe};

/// A controller factory that may cross threads, as quinn's `TransportConfig` wants it.
pub type SharedFactory = Arc<dyn ControllerFactory + Send + Sync>;

probe! {
    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.recorder.note_acked(now, sent, bytes);
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        self.recorder.lock().lost_bytes += lost_bytes;
        self.inner
            .on_congestion_event(now, sent, is_persistent_congestion, lost_bytes);
        self.recorder.note_window(now, || window_of(&*self.inner));
    }
}

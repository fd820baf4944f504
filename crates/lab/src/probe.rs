//! A transparent probe around any congestion controller: what the transport tells it, recorded.
//!
//! Stock controllers and ours are measured alike: round-trip times are `now - sent` of every acknowledged packet, as
//! both stacks report them to their controllers.

pub mod noq;
mod over_quinn;

use std::fmt;
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use quinn::QlogConfig;

pub use self::over_quinn::SharedFactory;
use crate::metrics::stats::nanos;

/// The observations of one connection's controller.
#[derive(Debug, Clone, Default)]
pub struct Recording {
    /// The round-trip time of every acknowledged packet, in order of acknowledgement.
    pub rtts: Vec<RttSample>,
    /// Bytes acknowledged.
    pub acked_bytes: u64,
    /// Bytes declared lost.
    pub lost_bytes: u64,
    /// The congestion window of the controller's metrics, in bytes over time, at most one point every [`WINDOW_INTERVAL`].
    pub windows: Vec<(Duration, u64)>,
}

/// The round-trip time of one packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RttSample {
    /// When the acknowledgement arrived, in nanoseconds since the recording's beginning.
    pub at: u64,
    /// The round-trip time in nanoseconds.
    pub rtt: u64,
}

/// A handle on a [`Recording`] in progress. Clones share it.
#[derive(Clone)]
pub struct Recorder {
    epoch: Instant,
    recording: Arc<Mutex<Recording>>,
    /// The title, and where it goes.
    qlog: Arc<Mutex<Option<(String, QlogWriter)>>>,
}

/// Where a qlog goes.
pub type QlogWriter = Box<dyn Write + Send + Sync>;

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder")
            .field("epoch", &self.epoch)
            .field("recording", &self.recording)
            .finish_non_exhaustive()
    }
}

impl Recorder {
    /// An empty recording whose time starts at `epoch`.
    pub fn new(epoch: Instant) -> Self {
        Self {
            epoch,
            recording: Arc::default(),
            qlog: Arc::default(),
        }
    }

    /// Also writes what the first connection on quinn does, and when since the epoch.
    #[must_use]
    pub fn with_qlog(self, title: String, writer: QlogWriter) -> Self {
        let qlog = Some((title, writer));
        *self.qlog.lock().unwrap_or_else(PoisonError::into_inner) = qlog;
        self
    }

    /// The qlog of the next connection, if one is to be written.
    pub(crate) fn qlog(&self) -> Option<QlogConfig> {
        let (title, writer) = {
            let mut qlog = self.qlog.lock().unwrap_or_else(PoisonError::into_inner);
            qlog.take()?
        };
        let mut config = QlogConfig::default();
        config
            .writer(writer)
            .title(Some(title))
            .start_time(self.epoch);
        Some(config)
    }

    /// A factory that builds what `inner` builds, each under a probe that writes here.
    pub fn observe(&self, inner: SharedFactory) -> SharedFactory {
        Arc::new(over_quinn::ProbeFactory {
            inner,
            recorder: self.clone(),
        })
    }

    /// Wraps a factory of noq.
    pub fn observe_noq(&self, inner: noq::SharedFactory) -> noq::SharedFactory {
        Arc::new(noq::ProbeFactory {
            inner,
            recorder: self.clone(),
        })
    }

    /// Takes what was recorded so far, leaving an empty recording.
    pub fn take(&self) -> Recording {
        std::mem::take(&mut self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Recording> {
        // A recording is valid after every statement that writes to it, so a poisoned one is too.
        self.recording
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn note_acked(&self, now: Instant, sent: Instant, bytes: u64) {
        let sample = RttSample {
            at: nanos(now.saturating_duration_since(self.epoch)),
            rtt: nanos(now.saturating_duration_since(sent)),
        };
        let mut recording = self.lock();
        recording.rtts.push(sample);
        recording.acked_bytes += bytes;
    }

    /// `window` is read for points that are recorded only: a controller's metrics cost more than its window.
    fn note_window(&self, now: Instant, window: impl FnOnce() -> u64) {
        let at = now.saturating_duration_since(self.epoch);
        let windows = &mut self.lock().windows;
        if windows
            .last()
            .is_none_or(|&(last, _)| at.saturating_sub(last) >= WINDOW_INTERVAL)
        {
            windows.push((at, window()));
        }
    }
}

/// Writes the probe for a stack, whose names for this are in scope. What its trait has of its own is in the braces.
macro_rules! probe {
    ($($own:tt)*) => {
        pub(super) struct ProbeFactory {
            pub(super) inner: SharedFactory,
            pub(super) recorder: Recorder,
        }

        impl ControllerFactory for ProbeFactory {
            fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
                let inner = Arc::clone(&self.inner).build(now, current_mtu);
                self.recorder.note_window(now, || window_of(&*inner));
                Box::new(Probe {
                    inner,
                    recorder: self.recorder.clone(),
                })
            }
        }

        /// The controller's congestion window. `Controller::window` is what the stack is told, and differs where an adapter
        /// compensates the stack's pacer by it.
        fn window_of(controller: &dyn Controller) -> u64 {
            controller.metrics().congestion_window
        }

        /// Delegates every call. A clone shares the recording: the stack clones a controller to show its state, and then
        /// feeds the clone nothing, or to carry it over to a new path, and then feeds the original nothing more.
        struct Probe {
            inner: Box<dyn Controller>,
            recorder: Recorder,
        }

        impl Controller for Probe {
            $($own)*

            fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
                self.inner.on_sent(now, bytes, last_packet_number);
            }

            fn on_end_acks(
                &mut self,
                now: Instant,
                in_flight: u64,
                app_limited: bool,
                largest_packet_num_acked: Option<u64>,
            ) {
                self.inner
                    .on_end_acks(now, in_flight, app_limited, largest_packet_num_acked);
                self.recorder.note_window(now, || window_of(&*self.inner));
            }

            fn on_mtu_update(&mut self, new_mtu: u16) {
                self.inner.on_mtu_update(new_mtu);
            }

            fn window(&self) -> u64 {
                self.inner.window()
            }

            fn metrics(&self) -> ControllerMetrics {
                self.inner.metrics()
            }

            fn clone_box(&self) -> Box<dyn Controller> {
                Box::new(Self {
                    inner: self.inner.clone_box(),
                    recorder: self.recorder.clone(),
                })
            }

            fn initial_window(&self) -> u64 {
                self.inner.initial_window()
            }

            /// The controller under the probe, so that a downcast finds the type it asks for.
            fn into_any(self: Box<Self>) -> Box<dyn Any> {
                self.inner.into_any()
            }
        }

        impl fmt::Debug for Probe {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct("Probe")
                    .field("window", &self.inner.window())
                    .finish_non_exhaustive()
            }
        }
    };
}

use probe;

/// The least time between two points of a recorded window.
pub const WINDOW_INTERVAL: Duration = Duration::from_millis(20);

#[cfg(test)]
mod tests {
    use std::any::Any;

    use quinn::congestion::{Controller, ControllerFactory, ControllerMetrics, Cubic, CubicConfig};

    use super::*;

    const MILLISECOND: Duration = Duration::from_millis(1);

    /// A controller that only shows what reached it.
    #[derive(Clone, Default)]
    struct Echo {
        sent: u64,
        lost: u64,
        ended: u64,
        mtu: u16,
    }

    impl Controller for Echo {
        fn on_sent(&mut self, _: Instant, bytes: u64, _: u64) {
            self.sent += bytes;
        }
        fn on_end_acks(&mut self, _: Instant, in_flight: u64, _: bool, _: Option<u64>) {
            self.ended += in_flight;
        }
        fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, lost: u64) {
            self.lost += lost;
        }
        fn on_mtu_update(&mut self, mtu: u16) {
            self.mtu = mtu;
        }
        /// As of an adapter that compensates a pacer: more than its window.
        fn window(&self) -> u64 {
            12_000
        }
        fn metrics(&self) -> ControllerMetrics {
            let mut metrics = ControllerMetrics::default();
            metrics.congestion_window = 11_000;
            metrics
        }
        fn clone_box(&self) -> Box<dyn Controller> {
            Box::new(self.clone())
        }
        fn initial_window(&self) -> u64 {
            3
        }
        fn into_any(self: Box<Self>) -> Box<dyn Any> {
            self
        }
    }

    struct EchoFactory;

    impl ControllerFactory for EchoFactory {
        fn build(self: Arc<Self>, _: Instant, current_mtu: u16) -> Box<dyn Controller> {
            Box::new(Echo {
                mtu: current_mtu,
                ..Echo::default()
            })
        }
    }

    /// An arbitrary point in time: tests compute with differences only.
    #[allow(clippy::disallowed_methods, reason = "only differences to it are used")]
    fn epoch() -> Instant {
        Instant::now()
    }

    #[test]
    fn everything_is_delegated_and_losses_are_summed() {
        let epoch = epoch();
        let recorder = Recorder::new(epoch);
        let mut probe = recorder.observe(Arc::new(EchoFactory)).build(epoch, 1200);
        probe.on_sent(epoch, 100, 0);
        probe.on_end_acks(epoch + 50 * MILLISECOND, 7, false, Some(0));
        probe.on_congestion_event(epoch + 60 * MILLISECOND, epoch, false, 40);
        probe.on_congestion_event(epoch + 100 * MILLISECOND, epoch, false, 2);
        probe.on_mtu_update(1452);
        assert_eq!(probe.window(), 12_000);
        assert_eq!(probe.initial_window(), 3);
        assert_eq!(probe.metrics().congestion_window, 11_000);
        let echo = probe.clone_box().into_any().downcast::<Echo>().unwrap();
        assert_eq!(
            (echo.sent, echo.ended, echo.lost, echo.mtu),
            (100, 7, 42, 1452)
        );
        let recording = recorder.take();
        assert_eq!(recording.lost_bytes, 42);
        // The point at 60 ms comes too soon after the one at 50 ms.
        let times: Vec<_> = recording.windows.iter().map(|point| point.0).collect();
        assert_eq!(times, [0, 50, 100].map(|t| t * MILLISECOND));
        assert!(recording.windows.iter().all(|point| point.1 == 11_000));
        assert!(recorder.take().windows.is_empty());
    }

    #[test]
    fn a_downcast_finds_the_stock_controller() {
        let recorder = Recorder::new(epoch());
        let probe = recorder
            .observe(Arc::new(CubicConfig::default()))
            .build(epoch(), 1200);
        assert!(probe.clone_box().into_any().is::<Cubic>());
        assert!(probe.into_any().is::<Cubic>());
    }
}

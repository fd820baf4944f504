//! State changes as `tracing` events, where the feature of that name is on; nothing at all where it is not.

use crate::snapshot::Mode;

/// The controller goes from one mode to another.
#[cfg(feature = "tracing")]
pub(crate) fn transition(algorithm: &'static str, from: Mode, to: Mode) {
    if from != to {
        tracing::debug!(target: "kneepoint", algorithm, ?from, ?to, "state change");
    }
}

/// The controller goes from one mode to another.
#[cfg(not(feature = "tracing"))]
pub(crate) fn transition(_algorithm: &'static str, _from: Mode, _to: Mode) {}

#[cfg(all(test, feature = "tracing"))]
mod tests {
    use core::fmt::Debug;
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use tracing::callsite::rebuild_interest_cache;
    use tracing::field::{Field, Visit};
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber};

    use crate::algorithms::Algorithm;
    use crate::driver::{PLAIN, drive, environment};

    /// Writes down which fields the events have.
    #[derive(Clone, Default)]
    struct Recorder(Arc<Mutex<Vec<String>>>);

    impl Subscriber for Recorder {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            metadata.target() == "kneepoint"
        }
        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }
        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn event(&self, event: &Event<'_>) {
            let mut line = Line(String::new());
            event.record(&mut line);
            self.0.lock().expect("nothing panics here").push(line.0);
        }
        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
    }

    struct Line(String);

    impl Visit for Line {
        fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
            self.0 += &format!("{}={value:?} ", field.name());
        }
    }

    /// The events of ten seconds on a plain path.
    fn events(algorithm: Algorithm) -> Vec<String> {
        let recorder = Recorder::default();
        tracing::subscriber::with_default(recorder.clone(), || {
            let run = || {
                let mut driver = drive(algorithm.build(&environment()), PLAIN);
                driver.run_for(Duration::from_secs(10));
            };
            // A thread of another test may have asked, in the same instant, who wants this event, and heard of nobody.
            run();
            rebuild_interest_cache();
            recorder.0.lock().expect("nothing panics here").clear();
            run();
        });
        recorder.0.lock().expect("nothing panics here").clone()
    }

    #[test]
    fn every_change_of_state_is_an_event() {
        for (algorithm, first) in [
            (Algorithm::Bbr, "algorithm=\"bbr\" from=Startup to=Drain"),
            (Algorithm::Bbr3, "algorithm=\"bbr3\" from=Startup to=Drain"),
            (
                Algorithm::Knee,
                "algorithm=\"knee\" from=Startup to=ProbeRtt",
            ),
        ] {
            let lines = events(algorithm);
            let expected = format!("message=state change {first} ");
            assert_eq!(lines.first(), Some(&expected));
            assert!(lines.len() > 2, "{lines:?}");
        }
    }
}

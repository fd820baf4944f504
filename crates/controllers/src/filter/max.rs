//! The windowed maximum of delivery rates: BBR's filter.

use kneepoint_estimators::{ExactWindow, Max, WindowedFilter};

use super::{BandwidthFilter, FilterConfig, FilterContext};
use crate::config::ConfigError;
use crate::event::AckEvent;
use crate::snapshot::FilterSnapshot;
use crate::text::fields;
use crate::units::Bandwidth;

/// The length of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct MaxFilterConfig {
    /// The current epoch and those before it, 1 to 1000: packet-timed round trips in BBRv1, probing cycles in BBRv2 and
    /// BBRv3.
    pub epochs: u16,
}

fields!(MaxFilterConfig { epochs });

impl FilterConfig for MaxFilterConfig {
    type Filter = MaxFilter;

    fn build(&self) -> Result<MaxFilter, ConfigError> {
        ConfigError::require(
            (1..=1000).contains(&self.epochs),
            "epochs",
            self.epochs,
            "1 to 1000",
        )?;
        Ok(MaxFilter::new(u64::from(self.epochs)))
    }
}

/// The largest delivery rate of the last epochs: packet-timed round trips in BBRv1 (BBR paper, section "Characterizing
/// the bottleneck": six to ten RTTs), probing cycles in BBRv3 (draft-ietf-ccwg-bbr, section 5.5.6: two).
///
/// An application-limited sample counts only if it exceeds the estimate: it is a lower bound of the path's rate.
#[derive(Debug, Clone)]
pub(crate) struct MaxFilter {
    window: ExactWindow<u64, Max>,
    current: Option<Bandwidth>,
    /// The epoch of the last sample and its maximum: a smaller sample in the same epoch changes nothing.
    newest: Option<(u64, Bandwidth)>,
}

impl MaxFilter {
    /// A filter over this many epochs, including the current one.
    pub(crate) fn new(epochs: u64) -> Self {
        Self {
            // The window reaches back from the current one, which comes on top.
            window: ExactWindow::new(epochs.saturating_sub(1)),
            current: None,
            newest: None,
        }
    }

    /// Handles the sample of an acknowledgement. Returns whether the estimate changed.
    pub(super) fn take(&mut self, ack: &AckEvent, epoch: u64) -> bool {
        self.news(ack, epoch)
            .is_some_and(|rate| self.update(epoch, rate))
    }

    /// The sample of an acknowledgement, if it may change the estimate.
    pub(super) fn news(&self, ack: &AckEvent, epoch: u64) -> Option<Bandwidth> {
        let sample = ack.rate.as_ref()?;
        let rate = sample.delivery_rate;
        if sample.app_limited && self.current.is_some_and(|current| rate < current) {
            return None;
        }
        if let Some((newest, largest)) = self.newest
            && newest == epoch
            && rate <= largest
        {
            return None;
        }
        Some(rate)
    }

    fn update(&mut self, epoch: u64, rate: Bandwidth) -> bool {
        self.newest = Some((epoch, rate));
        let largest = self.window.update(epoch, rate.bytes_per_second());
        let before = self
            .current
            .replace(Bandwidth::from_bytes_per_second(largest));
        self.current != before
    }
}

impl BandwidthFilter for MaxFilter {
    fn on_ack(&mut self, ack: &AckEvent, context: &FilterContext) {
        self.take(ack, context.epoch);
    }

    fn bandwidth(&self) -> Option<Bandwidth> {
        self.current
    }

    fn reseed(&mut self, epoch: u64, rate: Bandwidth) {
        self.window.clear();
        self.window.update(epoch, rate.bytes_per_second());
        self.newest = Some((epoch, rate));
        self.current = Some(rate);
    }

    fn snapshot(&self) -> FilterSnapshot {
        FilterSnapshot::Max
    }
}

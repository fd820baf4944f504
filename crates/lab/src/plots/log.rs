//! A log over time: throughput against capacity, queueing delay.

use kneepoint_emulator::log_format::{Log, LogStatistics};
use plotters::prelude::DrawingBackend;

use super::canvas::{Area, DrawResult, Drawing};
use super::panel::{Panel, heading};
use super::scale::Scale;
use super::style::color;
use super::timeline::{
    ACROSS, HEADROOM, QUEUE_DELAY, THROUGHPUT, delay_scale, queue_delay, throughput,
};
use crate::metrics::Timeline;

/// The plot of one log.
#[derive(Debug)]
pub(super) struct Plot<'a> {
    name: &'a str,
    statistics: LogStatistics,
    /// In bins wide enough to average over the opportunities.
    rates: Timeline,
    /// In bins narrow enough to show bursts.
    delays: Timeline,
}

impl<'a> Plot<'a> {
    pub(super) fn new(log: &Log, name: &'a str) -> Self {
        Self {
            name,
            statistics: log.statistics(),
            rates: Timeline::of_log(log, RATE_BIN_MILLIS),
            delays: Timeline::of_log(log, DELAY_BIN_MILLIS),
        }
    }

    /// Rates, and delays.
    fn captions(&self) -> [String; 2] {
        let mbps = |rate: Option<f64>| rate.unwrap_or(0.0) * 8.0 / 1e6;
        let rates = format!(
            "capacity {:.2} Mb/s, throughput {:.2} Mb/s, utilization {:.1} %",
            mbps(self.statistics.capacity()),
            mbps(self.statistics.throughput()),
            self.statistics.utilization().unwrap_or(0.0) * 100.0
        );
        let millis = |delay: Option<u64>| delay.map_or("-".to_owned(), |ms| format!("{ms} ms"));
        let delays = format!(
            "95th percentiles: queueing delay {}, signal delay {}; dropped packets: {}",
            millis(self.statistics.queue_delay_p95_ms),
            millis(self.statistics.signal_delay_p95_ms),
            self.statistics.dropped_packets
        );
        [rates, delays]
    }

    fn panel(&self, down: (i32, i32), y: Scale) -> Panel {
        let high = self.rates.duration_seconds;
        Panel {
            across: ACROSS,
            down,
            x: Scale::Linear { low: 0.0, high },
            y,
        }
    }
}

impl Drawing for Plot<'_> {
    fn size(&self) -> (u32, u32) {
        (1200, 760)
    }

    fn title(&self) -> String {
        self.name.to_owned()
    }

    fn description(&self) -> String {
        self.captions().join("; ")
    }

    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>) -> DrawResult<DB> {
        heading(area, ACROSS.0, self.name, &self.captions())?;
        let rates = self.rates.bins.iter();
        let max = rates.fold(MIN_MBPS, |max, bin| {
            max.max(bin.capacity_mbps).max(bin.throughput_mbps)
        });
        let (low, high) = (0.0, max * HEADROOM);
        let panel = self.panel(THROUGHPUT, Scale::Linear { low, high });
        throughput(&panel, area, &self.rates, color(0))?;

        let spreads = self.delays.bins.iter().filter_map(|bin| bin.queue_delay_ms);
        let max = spreads.fold(0.0_f64, |max, spread| max.max(spread.max));
        let panel = self.panel(QUEUE_DELAY, delay_scale(max * HEADROOM));
        let p95 = self.statistics.queue_delay_p95_ms.map(|ms| ms as f64);
        queue_delay(&panel, area, &self.delays, p95, color(0))?;
        panel.x_labels(area, "time (s)")
    }
}

const RATE_BIN_MILLIS: u64 = 500;
const DELAY_BIN_MILLIS: u64 = 100;

/// The minimum of the rate axis's upper end, in Mb/s: the log may have no traffic.
const MIN_MBPS: f64 = 1e-3;

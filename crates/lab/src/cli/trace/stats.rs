//! `kneepoint trace stats`.

use std::io::Write;

use kneepoint_emulator::trace::{OUTAGE_MILLIS, RateBins, TraceStatistics};
use serde::Serialize;

use super::load;
use crate::cli::error::CliError;
use crate::cli::inspect::{StatsArguments, mbps, print};
use crate::metrics::stats::rounded;

/// One JSON object; the field names are a contract.
#[derive(Debug, Serialize)]
struct Numbers {
    duration_s: f64,
    opportunities: u64,
    mean_mbps: f64,
    rates_100ms_mbps: Rates,
    rates_1s_mbps: Rates,
    outages: u64,
    longest_gap_ms: f64,
    wrap_gap_ms: f64,
    wrap_coinciding: u64,
    wrap_before_mbps: f64,
    wrap_after_mbps: f64,
}

#[derive(Debug, Serialize)]
struct Rates {
    min: f64,
    p5: f64,
    p25: f64,
    p50: f64,
    p75: f64,
    p95: f64,
    max: f64,
}

impl From<RateBins> for Rates {
    fn from(bins: RateBins) -> Self {
        Self {
            min: mbps(bins.min),
            p5: mbps(bins.p5),
            p25: mbps(bins.p25),
            p50: mbps(bins.p50),
            p75: mbps(bins.p75),
            p95: mbps(bins.p95),
            max: mbps(bins.max),
        }
    }
}

impl Rates {
    fn text(&self) -> String {
        format!(
            "min {:.2}, p5 {:.2}, p25 {:.2}, p50 {:.2}, p75 {:.2}, p95 {:.2}, max {:.2} Mb/s",
            self.min, self.p5, self.p25, self.p50, self.p75, self.p95, self.max
        )
    }
}

impl From<TraceStatistics> for Numbers {
    fn from(statistics: TraceStatistics) -> Self {
        Self {
            duration_s: rounded(statistics.duration.as_secs_f64()),
            opportunities: statistics.opportunities,
            mean_mbps: mbps(statistics.mean_rate),
            rates_100ms_mbps: statistics.rates_100ms.into(),
            rates_1s_mbps: statistics.rates_1s.into(),
            outages: statistics.outages,
            longest_gap_ms: rounded(statistics.max_gap.as_millis_f64()),
            wrap_gap_ms: rounded(statistics.wrap.gap.as_millis_f64()),
            wrap_coinciding: statistics.wrap.coinciding,
            wrap_before_mbps: mbps(statistics.wrap.rate_before),
            wrap_after_mbps: mbps(statistics.wrap.rate_after),
        }
    }
}

impl Numbers {
    fn entries(&self) -> [(&'static str, String); 7] {
        let outages = format!(
            "{} longer than {OUTAGE_MILLIS} ms; the longest gap is {} ms",
            self.outages, self.longest_gap_ms
        );
        // What a reader of a looped trace has to know: whether the seam shows.
        let wrap = format!(
            "{} ms without an opportunity, {} on top of the last one; {:.2} Mb/s in the second before, {:.2} Mb/s after",
            self.wrap_gap_ms, self.wrap_coinciding, self.wrap_before_mbps, self.wrap_after_mbps
        );
        [
            ("duration", format!("{:.3} s", self.duration_s)),
            ("opportunities", self.opportunities.to_string()),
            ("mean rate", format!("{:.3} Mb/s", self.mean_mbps)),
            ("rates per 100 ms", self.rates_100ms_mbps.text()),
            ("rates per second", self.rates_1s_mbps.text()),
            ("outages", outages),
            ("at the wrap", wrap),
        ]
    }
}

pub(super) fn run(arguments: &StatsArguments, out: &mut dyn Write) -> Result<(), CliError> {
    let numbers = Numbers::from(load(&arguments.file)?.statistics());
    print(arguments.format, &numbers.entries(), &numbers, out)
}

//! Hosts as TOML, with units.

use std::fmt::Write;

use super::distribution::{Distribution, micros};
use super::{HostConfig, OtherWork};
use crate::time::Nanos;

impl HostConfig {
    /// The text that describes this host, with all keys: what the feature `serde` reads.
    pub fn to_toml(&self) -> String {
        let Self {
            name: _,
            receive,
            send,
            processor,
            timer_granularity,
        } = self;
        let mut text = String::new();
        let mut line = |line: String| _ = writeln!(text, "{line}");
        line("# Times are in microseconds, those of a byte in nanoseconds.".to_owned());
        line(format!("timer_granularity_us = {}", us(*timer_granularity)));
        line("\n[receive]".to_owned());
        line(format!("wakeup_us = {}", table(&receive.wakeup)));
        if let Some(datagrams) = receive.batch_datagrams {
            line(format!("batch_datagrams = {datagrams}"));
        }
        if let Some(span) = receive.batch_time {
            line(format!("batch_us = {}", us(span)));
        }
        line(format!("buffer_bytes = {}", receive.buffer_bytes));
        line("\n[send]".to_owned());
        line(format!("burst_datagrams = {}", send.burst_datagrams));
        line(format!("pause_us = {}", table(&send.pause)));
        line(format!("buffer_bytes = {}", send.buffer_bytes));
        line("\n[processor]".to_owned());
        line(format!("wakeup_us = {}", us(processor.wakeup)));
        line(format!(
            "receive_datagram_us = {}",
            us(processor.receive_datagram)
        ));
        line(format!(
            "receive_byte_ns = {:?}",
            processor.receive_byte_nanos
        ));
        line(format!("send_burst_us = {}", us(processor.send_burst)));
        line(format!(
            "send_datagram_us = {}",
            us(processor.send_datagram)
        ));
        line(format!("send_byte_ns = {:?}", processor.send_byte_nanos));
        if let Some(OtherWork { gap, slice }) = &processor.others {
            line("\n[processor.others]".to_owned());
            line(format!("gap_us = {}", table(gap)));
            line(format!("slice_us = {}", table(slice)));
        }
        text
    }
}

fn table(distribution: &Distribution) -> String {
    match distribution {
        Distribution::Fixed(span) => format!("{{ fixed = {} }}", us(*span)),
        Distribution::Exponential { mean, max } => {
            let (mean, max) = (us(*mean), us(*max));
            format!("{{ exponential = {{ mean = {mean}, max = {max} }} }}")
        }
        Distribution::Pareto { min, shape, max } => {
            let (min, max) = (us(*min), us(*max));
            format!("{{ pareto = {{ min = {min}, shape = {shape:?}, max = {max} }} }}")
        }
        Distribution::LogNormal { median, sigma, max } => {
            let (median, max) = (us(*median), us(*max));
            format!("{{ log-normal = {{ median = {median}, sigma = {sigma:?}, max = {max} }} }}")
        }
        Distribution::Quantiles(values) => {
            let values: Vec<String> = values.iter().map(|value| us(*value)).collect();
            format!("{{ quantiles = [{}] }}", values.join(", "))
        }
    }
}

/// With a decimal point, which TOML's numbers with fractions must have.
fn us(span: Nanos) -> String {
    format!("{:?}", micros(span))
}

//! The configuration of a host.

use super::HostError;
use super::distribution::{Distribution, number, time};
use super::error::Invalid;
use crate::time::Nanos;

/// A host: how long it takes to read, to send and to wake up.
///
/// [`ideal`](Self::ideal) takes no time. docs/HOSTS.md of the project says what is
/// modelled and when to use which preset.
///
/// ```
/// use kneepoint_emulator::host::{Distribution, HostConfig};
/// use kneepoint_emulator::time::Nanos;
///
/// let mut host = HostConfig::ideal();
/// host.name = "slow reader".to_owned();
/// host.receive.wakeup = Distribution::Exponential { mean: Nanos::from_micros(50), max: Nanos::from_millis(5) };
/// host.processor.receive_datagram = Nanos::from_micros(4);
/// assert!(host.validate().is_ok());
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct HostConfig {
    /// The host's name in results and errors: a preset's name, or a file's without `.toml`.
    pub name: String,
    /// How datagrams reach the application.
    pub receive: Receiving,
    /// How datagrams leave.
    pub send: Sending,
    /// The processor's costs.
    pub processor: Processor,
    /// Timers of QUIC endpoints expire at multiples of this, rounded up, from an instant that the seed chooses; exact if zero.
    /// Up to 10 s. tokio's is 1 ms.
    pub timer_granularity: Nanos,
}

/// How datagrams reach the application.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Receiving {
    /// From the arrival of a datagram at a processor that sleeps until the application runs.
    pub wakeup: Distribution,
    /// How many datagrams the application reads at most before it does something else; positive, or `None` for no limit.
    pub batch_datagrams: Option<u32>,
    /// The maximum time of a read batch: the application takes no further datagram after it, but always one. Positive,
    /// or `None` for no limit. quinn's is 50 us.
    pub batch_time: Option<Nanos>,
    /// The receive buffer of a socket, in bytes of UDP payload: up to 64 MiB. Datagrams that do not fit are dropped.
    pub buffer_bytes: u64,
}

/// How datagrams leave.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Sending {
    /// How many datagrams of one transmit leave at one instant (generic segmentation offload): from 1 to 64. It is also how many
    /// a QUIC stack is told that it may hand over at once.
    pub burst_datagrams: u32,
    /// The time between two bursts of the host, whatever its processor could do.
    pub pause: Distribution,
    /// The send buffer, in bytes of UDP payload: up to 64 MiB. A full socket accepts no datagram until another one has
    /// left.
    pub buffer_bytes: u64,
}

/// One processor, which all sockets of one IP address share: it does one thing at a time, in the order of request.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Processor {
    /// To begin a batch of received datagrams.
    pub wakeup: Nanos,
    /// To receive and process one datagram.
    pub receive_datagram: Nanos,
    /// To receive and process one byte of UDP payload, in nanoseconds, from 0 to 1000.
    pub receive_byte_nanos: f64,
    /// To hand one burst to the network.
    pub send_burst: Nanos,
    /// To make and send one datagram.
    pub send_datagram: Nanos,
    /// To make and send one byte of UDP payload, in nanoseconds, from 0 to 1000.
    pub send_byte_nanos: f64,
    /// Others that use the processor, if any do.
    pub others: Option<OtherWork>,
}

/// Work of others, which comes first: it interrupts what the host does for its sockets.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct OtherWork {
    /// How long the processor is left alone between two slices; its maximum is at least 1 us.
    pub gap: Distribution,
    /// How long a slice of other work takes.
    pub slice: Distribution,
}

impl HostConfig {
    /// The names of the presets.
    pub const PRESETS: [&str; 4] = ["ideal", "server", "busy", "phone"];

    /// A host that takes no time: what arrives is read, and what is sent leaves, at that instant.
    pub fn ideal() -> Self {
        Self {
            name: "ideal".to_owned(),
            receive: Receiving {
                wakeup: Distribution::ZERO,
                batch_datagrams: None,
                batch_time: None,
                buffer_bytes: IDEAL_BUFFER,
            },
            send: Sending {
                burst_datagrams: 1,
                pause: Distribution::ZERO,
                buffer_bytes: IDEAL_BUFFER,
            },
            processor: Processor::free(),
            timer_granularity: Nanos::ZERO,
        }
    }

    /// Whether it is the ideal host, whatever its name. It is not modelled at all, and so costs nothing.
    pub fn is_ideal(&self) -> bool {
        let ideal = Self::ideal();
        (&self.receive, &self.send, &self.processor)
            == (&ideal.receive, &ideal.send, &ideal.processor)
            && self.timer_granularity == ideal.timer_granularity
    }

    /// Checks every field.
    ///
    /// # Errors
    /// The first that is out of its range: [`HostError::Value`].
    pub fn validate(&self) -> Result<(), HostError> {
        self.check().map_err(|invalid| invalid.of(&self.name, None))
    }

    pub(super) fn check(&self) -> Result<(), Invalid> {
        let Receiving {
            wakeup,
            batch_datagrams,
            batch_time,
            buffer_bytes,
        } = &self.receive;
        wakeup.validate("receive.wakeup_us")?;
        if let Some(datagrams) = batch_datagrams {
            positive("receive.batch_datagrams", (*datagrams).into())?;
        }
        if let Some(span) = batch_time {
            time("receive.batch_us", *span)?;
            positive("receive.batch_us", span.0)?;
        }
        buffer("receive.buffer_bytes", *buffer_bytes)?;
        let Sending {
            burst_datagrams,
            pause,
            buffer_bytes,
        } = &self.send;
        let burst = f64::from(*burst_datagrams);
        number("send.burst_datagrams", burst, 1.0, 64.0, "between 1 and 64")?;
        pause.validate("send.pause_us")?;
        buffer("send.buffer_bytes", *buffer_bytes)?;
        self.processor.check()?;
        time("timer_granularity_us", self.timer_granularity)
    }
}

impl Receiving {
    /// Whether a batch of `datagrams`, which has taken `spent`, takes another one.
    pub(super) fn takes(&self, datagrams: usize, spent: Nanos) -> bool {
        let room = self
            .batch_datagrams
            .is_none_or(|max| datagrams < max as usize);
        let time = self.batch_time.is_none_or(|max| spent < max);
        datagrams == 0 || (room && time)
    }
}

impl Default for HostConfig {
    fn default() -> Self {
        Self::ideal()
    }
}

impl Processor {
    /// All work takes no time.
    pub fn free() -> Self {
        Self {
            wakeup: Nanos::ZERO,
            receive_datagram: Nanos::ZERO,
            receive_byte_nanos: 0.0,
            send_burst: Nanos::ZERO,
            send_datagram: Nanos::ZERO,
            send_byte_nanos: 0.0,
            others: None,
        }
    }

    /// The cost of receiving a datagram of `bytes`.
    pub(super) fn receiving(&self, bytes: usize) -> Nanos {
        self.receive_datagram + Nanos((self.receive_byte_nanos * bytes as f64) as u64)
    }

    /// The cost of sending a datagram of `bytes`.
    pub(super) fn sending(&self, bytes: usize) -> Nanos {
        self.send_datagram + Nanos((self.send_byte_nanos * bytes as f64) as u64)
    }

    fn check(&self) -> Result<(), Invalid> {
        time("processor.wakeup_us", self.wakeup)?;
        time("processor.receive_datagram_us", self.receive_datagram)?;
        per_byte("processor.receive_byte_ns", self.receive_byte_nanos)?;
        time("processor.send_burst_us", self.send_burst)?;
        time("processor.send_datagram_us", self.send_datagram)?;
        per_byte("processor.send_byte_ns", self.send_byte_nanos)?;
        let Some(OtherWork { gap, slice }) = &self.others else {
            return Ok(());
        };
        gap.validate("processor.others.gap_us")?;
        slice.validate("processor.others.slice_us")?;
        // A gap of nothing would never let a socket's work end.
        let max = gap.max().0 as f64 / 1e3;
        number(
            "maximum of processor.others.gap_us",
            max,
            1.0,
            f64::MAX,
            "at least 1",
        )
    }
}

fn per_byte(key: &str, nanos: f64) -> Result<(), Invalid> {
    number(key, nanos, 0.0, 1000.0, "between 0 and 1000")
}

fn buffer(key: &str, bytes: u64) -> Result<(), Invalid> {
    let max = IDEAL_BUFFER as f64;
    number(key, bytes as f64, 1.0, max, "between 1 and 67108864")
}

fn positive(key: &str, value: u64) -> Result<(), Invalid> {
    number(key, value as f64, 1.0, f64::MAX, "positive")
}

/// The socket buffers of a simulation without hosts: 64 MiB.
const IDEAL_BUFFER: u64 = 64 << 20;

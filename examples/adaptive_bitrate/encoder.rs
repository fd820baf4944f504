//! The rule of the encoder, and the padding with which it asks what a path carries: for any application on quinn.

use std::error::Error;
use std::future::pending;
use std::time::{Duration, Instant};

use kneepoint::BandwidthEstimate;
use quinn::{Connection, VarInt};
use tokio::time::sleep;

/// An encoder whose rate follows the connection's estimate. Rates are in bytes a second.
#[derive(Debug, Clone)]
pub(crate) struct Encoder {
    rate: f64,
    /// What its best quality takes.
    best: f64,
    /// When it may ask again, and how long it waits then.
    asks_at: Option<Instant>,
    pause: Duration,
}

impl Encoder {
    pub(crate) fn new(best: f64) -> Self {
        Self {
            rate: FIRST_RATE.min(best),
            best,
            asks_at: None,
            pause: FIRST_PAUSE,
        }
    }

    /// The rate of the frame that is captured now. The oldest frame that has not arrived yet has waited for so long.
    ///
    /// While frames are in time the rate grows, but not far above the estimate: what the encoder sends can raise it. Frames that are
    /// late wait in a queue that only less than the estimate drains.
    pub(crate) fn adapt(&mut self, estimate: Option<BandwidthEstimate>, waits: Duration) -> f64 {
        if let Some(estimate) = estimate {
            let known = estimate.rate.as_f64();
            let rate = if waits > estimate.min_rtt.unwrap_or_default() + LATE {
                (DECAY * self.rate).min(SHARE * known)
            } else {
                (GROWTH * self.rate).min(BEYOND * known).max(SHARE * known)
            };
            self.rate = rate.clamp(MIN_RATE, self.best);
        }
        self.rate
    }

    /// Whether padding would tell what the encoder needs to know: the path may carry more, and what it is known to carry is too little.
    pub(crate) fn wants_more(&self, estimate: Option<BandwidthEstimate>) -> bool {
        estimate.is_some_and(|estimate| {
            estimate.lower_bound && SHARE * estimate.rate.as_f64() < self.best
        })
    }

    /// Whether to send padding now. If it does not help, the next one waits for twice as long.
    pub(crate) fn asks(&mut self, estimate: Option<BandwidthEstimate>, now: Instant) -> bool {
        let asks = self.wants_more(estimate) && self.asks_at.is_none_or(|at| now >= at);
        if asks {
            self.asks_at = Some(now + self.pause);
            self.pause = (self.pause * 2).min(LAST_PAUSE);
        }
        asks
    }
}

/// Sends padding until `done`: at most so many bytes, for at most so long.
///
/// It goes in a stream behind all others, so that frames leave first. The reset drops what has not left by then.
pub(crate) async fn pad(
    connection: &Connection,
    bytes: usize,
    time: Duration,
    done: impl Fn() -> bool,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut padding = vec![0; bytes];
    if let Some(first) = padding.first_chunk_mut() {
        *first = PADDING;
    }
    let mut stream = connection.open_uni().await?;
    stream.set_priority(i32::MIN)?;
    let write = async {
        // It waits for the peer's flow control, and the connection's end is noticed elsewhere.
        let _ = stream.write_all(&padding).await;
        pending().await
    };
    let look = async {
        while !done() {
            sleep(LOOK).await;
        }
    };
    tokio::select! {
        () = write => {}
        () = look => {}
        () = sleep(time) => {}
    }
    stream.reset(VarInt::from_u32(0))?;
    Ok(())
}

/// How a stream of padding begins: no frame has this number.
pub(crate) const PADDING: [u8; 8] = u64::MAX.to_be_bytes();

/// In bytes a second: before there is an estimate, and the least that the encoder can do.
const FIRST_RATE: f64 = 125_000.0;
const MIN_RATE: f64 = 25_000.0;

/// The share of the estimate that the encoder takes: the rest is for what comes in bursts, and drains the queue.
const SHARE: f64 = 0.7;

/// The growth per frame, and its limit above the estimate.
const GROWTH: f64 = 1.02;
const BEYOND: f64 = 1.1;

/// A frame is late that is not acknowledged so long after a round-trip time: about two frames' time. What is left of the rate with each
/// frame then.
const LATE: Duration = Duration::from_millis(60);
const DECAY: f64 = 0.9;

/// Between two times of padding: twice as long after each.
const FIRST_PAUSE: Duration = Duration::from_secs(2);
const LAST_PAUSE: Duration = Duration::from_secs(32);

/// How often it is looked at what the padding has shown.
const LOOK: Duration = Duration::from_millis(5);

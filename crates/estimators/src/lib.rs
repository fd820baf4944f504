//! Estimators of a path's capacity, for congestion controllers.
//!
//! Pure mathematics: no clock, no random numbers, no I/O, no transport, no panic on any input. Times and
//! rates are passed in, so that every estimator runs the same in a simulator, in a test and on a socket.
//! The crate is `no_std` with `alloc`.
//!
//! | Estimator | Type | Bias | Follows a drop | Source |
//! |---|---|---|---|---|
//! | Windowed maximum, exact or with three samples | [`ExactWindow`], [`ApproximateWindow`] | high | after a window | BBR |
//! | Windowed maximum with a correction for the queue | [`QueueCorrection`] | less high | at once | BBRx |
//! | Percentile of a history | [`PercentileHistory`] | a little high | after part of the history | BBR-Sampled |
//! | Adaptive Tobit Kalman filter | [`Atkf`] | none | gradually | BBR-S |
//! | The same with drop, step and outage modes | [`Skip`] | none | after three samples | BBR-S |
//!
//! [`BusyRate`] stands apart: it is fed with acknowledgements and the time for which the link was busy.
//!
//! What the filters are fed with comes from [`capacity`]: one [`CapacitySample`] per interval, with the rate at
//! which the sender sent beside the rate at which the path delivered. The pair tells whether the sample was
//! *censored*: if the path delivered all that was sent, it could have delivered more, and an estimator that
//! averages such samples follows itself downwards.
//!
//! ```
//! use kneepoint_estimators::{CapacitySample, Skip, SkipConfig, SkipMode};
//!
//! let mut skip = Skip::new(&SkipConfig::tuned(), 1.25e6)?;
//! // A sender that probes at 1.25 times its estimate, on a path that delivers 1.3 MB/s.
//! for _ in 0..200 {
//!     let sent_rate = 1.25 * skip.mean();
//!     skip.sample(CapacitySample::new(sent_rate.min(1.3e6), sent_rate))?;
//! }
//! assert!((skip.mean() - 1.3e6).abs() < 1e4);
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! # Sources
//!
//! - BBR: N. Cardwell et al., "BBR: Congestion-Based Congestion Control", ACM Queue 14(5), 2016, and
//!   draft-ietf-ccwg-bbr.
//! - BBR-S: F. Chiariotti, A. Zanella, S. Kucera, H. Claussen, "BBR-S: A Low-Latency BBR Modification for
//!   Fast-Varying Connections", IEEE Access 9, 2021. Several of its equations are misprinted: see the
//!   "Errata" headings of [`TobitVariant`], [`Adaptation`], [`Skip`] and [`capacity`].
//! - BBR-Sampled: the history of samples that a study of BBR under DASH video proposes in its section 7.1.

#![no_std]
#![forbid(unsafe_code)]
// docs.rs shows which feature an item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

// So that its example compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod capacity;
pub mod normal;

mod atkf;
mod busy_rate;
mod decaying;
mod float;
mod percentile;
mod queue_correction;
mod sample;
mod skip;
mod sliding_mean;
mod tobit;
mod windowed;

pub use atkf::{Adaptation, Atkf, AtkfConfig, ConfigError, LowerBounds};
pub use busy_rate::{BusyRate, BusyRateConfig};
pub use decaying::DecayingRatio;
pub use percentile::{PercentileError, PercentileHistory};
pub use queue_correction::{QueueCorrection, QueueCorrectionError};
pub use sample::{CapacitySample, MAX_RATE, SampleError};
pub use skip::{Skip, SkipConfig, SkipMode};
pub use sliding_mean::SlidingMean;
pub use tobit::{TobitError, TobitUpdate, TobitVariant};
pub use windowed::{ApproximateWindow, ExactWindow, Extremum, Max, Min, WindowedFilter};

//! The laboratory: workloads over emulated links, what they measure, and the `kneepoint` command that shows it.
//!
//! A [`Scenario`](scenario::Scenario) is a link and the traffic over it. [`run`](run::run) carries it out with one
//! congestion controller, over real QUIC connections in virtual time; [`compare`](compare::compare) does so with many, in
//! parallel, and condenses each run to a [`Row`](metrics::Row) of numbers and a [`Timeline`](metrics::Timeline). The same
//! seed gives the same results, on every machine.

pub mod aqm;
pub mod calibrate;
pub mod cli;
pub mod compare;
pub mod controllers;
pub mod dash;
pub mod frontier;
pub mod ideal;
pub mod link_file;
pub mod loopback;
pub mod metrics;
pub mod output;
pub mod page;
pub mod plots;
pub mod probe;
pub mod qlog;
pub mod rates;
mod real_clock;
mod replace;
pub mod reproduce;
pub mod run;
pub mod scenario;
pub mod stack;
pub mod sweep;
pub mod token_bucket;
pub mod torture;
pub mod trial;
pub mod tune;
pub mod units;
pub mod watch;
pub mod workload;

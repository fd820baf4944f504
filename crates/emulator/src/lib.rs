//! A link emulator: mahimahi traces, queues, shapers and networks, without I/O, for virtual time and for real time.
//!
//! [`Network`](network::Network) and [`Link`](link::Link) are state machines. The caller passes the time in, offers
//! packets, asks when something happens next, and polls for what has arrived. Nothing reads a clock and everything
//! random comes from one seed, so the same calls give the same results on every machine.
//!
//! The features `quinn` and `noq` run these QUIC stacks over a network in virtual time, the feature `relay` a link in real time, between the UDP
//! sockets of any client and server.
//!
//! ```
//! use kneepoint_emulator::link::{LinkConfig, Shaper};
//! use kneepoint_emulator::network::{Network, NetworkConfig, Side};
//! use kneepoint_emulator::packet::Packet;
//! use kneepoint_emulator::time::Nanos;
//! use kneepoint_emulator::trace::Trace;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let trace = Trace::parse("10\n20\n30\n", "every 10 ms")?;
//! let link = LinkConfig { delay: Nanos::from_millis(5).into(), ..LinkConfig::new(Shaper::Trace(trace)) };
//! let mut network = Network::new(NetworkConfig { forward: link.clone(), reverse: link, seed: 1 })?;
//! let (client, server) = ("10.0.0.1:1".parse()?, "10.0.0.2:2".parse()?);
//! network.attach(Side::Left, client);
//! network.attach(Side::Right, server);
//!
//! network.send(Nanos::ZERO, Packet { source: client, destination: server, ecn: None, payload: vec![0; 1200] });
//! assert_eq!(network.next_event(), Some(Nanos::from_millis(10)));
//! let mut arrivals = Vec::new();
//! while let Some(now) = network.next_event() {
//!     network.poll(now, &mut |time, packet| arrivals.push((time, packet.payload.len())));
//! }
//! assert_eq!(arrivals, [(Nanos::from_millis(15), 1200)]);
//! # Ok(())
//! # }
//! ```

// docs.rs shows which feature an item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

// So that its example compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[macro_use]
mod debug_as_display;

mod addresses;
mod file;
pub mod generate;
pub mod host;
pub mod link;
pub mod log_format;
pub mod network;
mod number;
pub mod packet;
#[cfg(feature = "relay")]
pub mod relay;
#[cfg(feature = "quinn")]
pub mod sim;
pub mod time;
pub mod trace;

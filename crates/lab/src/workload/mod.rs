//! Applications, as plain asynchronous code over quinn or noq: they run in virtual time, and in real time over the relay.
//!
//! A sender lives through [`Phase`]s, each with a [`Load`]. A receiver ([`receive`]) reads all that comes. The only thing
//! that they take from their surroundings is a [`Clock`], which any [`quinn::Runtime`] provides. A [`Workload`] is the
//! application of every flow of a comparison, under a name such as `rpc:100kB@100ms`; [`Workload::phases`] are what its
//! sender lives through.
//!
//! A [`Trial`](crate::trial::Trial) runs them over any network. They run in a test of one's own, too: here 20 kB every
//! 100 ms over 10 Mb/s.
//!
//! ```
//! use std::collections::HashMap;
//! use std::time::Duration;
//!
//! use kneepoint_emulator::link::{LinkConfig, Shaper};
//! use kneepoint_emulator::sim::{Testbed, tls};
//! use kneepoint_lab::workload::{Clock, Received, Workload, receive, send};
//!
//! let link = LinkConfig {
//!     delay: Duration::from_millis(10).into(),
//!     ..LinkConfig::new(Shaper::ConstantRate {
//!         bytes_per_second: 1_250_000,
//!     })
//! };
//! let workload: Workload = "rpc:20kB@100ms".parse()?;
//! let phases = workload.phases(Duration::ZERO, Duration::from_secs(2));
//! let received = Received::expecting(&phases);
//! let seen = received.clone();
//! Testbed::symmetric(link, 1)?.run(async move |net| {
//!     let (server, client) = (net.server()?, net.client()?);
//!     let clock = Clock::new(net.handle().runtime());
//!     let connecting = client.connect(server.local_addr()?, tls::SERVER_NAME)?;
//!     let senders = HashMap::from([(client.local_addr()?, received)]);
//!     clock.spawn(receive(clock.clone(), server, senders));
//!     send(&clock, &connecting.await?, &phases).await;
//!     Ok::<_, Box<dyn std::error::Error>>(())
//! })??;
//! let messages = seen.messages();
//! assert!(messages.len() >= 19);
//! // 16 ms of sending and a round trip.
//! let took = messages.iter().map(|message| message.arrived - message.began);
//! assert!(took.skip(1).all(|time| time.as_millis() < 50));
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

mod clock;
mod due;
mod load;
mod receiver;
mod spec;

pub use clock::{Clock, Elapsed};
pub use due::{Due, Series};
pub(crate) use load::write;
pub use load::{Load, Phase, send, send_noting};
pub(crate) use receiver::read_streams;
pub use receiver::{Message, Received, receive};
pub use spec::{IFrames, Media, Rpc, Workload, WorkloadError};

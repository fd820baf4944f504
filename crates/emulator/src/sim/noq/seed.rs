//! Seeds for everything that noq would draw at random.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use noq::crypto::{CryptoError, HmacKey};
use noq::{ConnectionId, ConnectionIdGenerator, EndpointConfig, TimeSource};

use crate::sim::seed::{ResetKey, SeededCids, Seeds, VirtualTime};

/// An endpoint configuration with which every packet has the same size and the same time in every
/// run. Give each endpoint of a simulation a seed of its own.
///
/// What is seeded, what stays random and what the caller has to see to is what
/// [quinn's](crate::sim::endpoint_config) says: noq has kept its one generator for each endpoint, which the generators of
/// its connections and paths are seeded from. There are two things to add.
///
/// - noq's own `Bbr3Config` draws from the thread's generator when it next probes, and has no public seed: two runs with it
///   differ. Its CUBIC and NewReno draw nothing.
/// - The feature `bloom` of noq keeps tokens of earlier connections in a filter whose hash is seeded at random.
pub fn endpoint_config(seed: u64) -> EndpointConfig {
    let Seeds {
        reset_key,
        cids,
        rng,
    } = Seeds::new(seed);
    let mut config = EndpointConfig::new(Arc::new(reset_key));
    config
        .rng_seed(Some(rng))
        .cid_generator(Arc::new(move || Box::new(cids.clone())));
    config
}

impl ConnectionIdGenerator for SeededCids {
    fn generate_cid(&mut self) -> ConnectionId {
        ConnectionId::new(&quinn::ConnectionIdGenerator::generate_cid(self))
    }

    fn cid_len(&self) -> usize {
        quinn::ConnectionIdGenerator::cid_len(self)
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

impl HmacKey for ResetKey {
    fn sign(&self, data: &[u8], signature_out: &mut [u8]) {
        quinn::crypto::HmacKey::sign(self, data, signature_out);
    }

    fn signature_len(&self) -> usize {
        quinn::crypto::HmacKey::signature_len(self)
    }

    fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), CryptoError> {
        quinn::crypto::HmacKey::verify(self, data, signature).map_err(|_| CryptoError)
    }
}

impl TimeSource for VirtualTime {
    fn now(&self) -> SystemTime {
        quinn::TimeSource::now(self)
    }
}

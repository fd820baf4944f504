//! Seeds for everything that quinn would draw at random.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use quinn::crypto::{CryptoError, HmacKey};
use quinn::{ConnectionId, ConnectionIdGenerator, EndpointConfig, TimeSource};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::handle::Handle;

/// An endpoint configuration with which every packet has the same size and the same time in every
/// run. Give each endpoint of a simulation a seed of its own.
///
/// # What is seeded
///
/// quinn draws from the endpoint's generator whatever changes sizes and times: skipped packet
/// numbers, the length of the reserved transport parameter, the order of transport parameters, key
/// update intervals, the spin bit, grease, stateless resets, path challenges and tokens. Connection
/// IDs and the key of stateless resets are seeded too, so that they can be recognized.
/// [`Handle::endpoint`] gives servers the virtual clock for the age of tokens.
///
/// # What stays random
///
/// - Keys, nonces and everything encrypted or signed with them: the first destination connection ID
///   (always 20 bytes), the random values, key shares and tickets of TLS, the server's token key.
///   Their lengths are fixed and quinn decides nothing by their bytes. The order of extensions in
///   the TLS hello changes, but not their sum.
/// - rustls reads the wall clock for the validity of certificates and for the age of tickets. It
///   enters packets in fields of fixed length.
///
/// # What the caller has to see to
///
/// - Certificates: ECDSA signatures vary in length, and so do certificates made on the fly. Use
///   [`tls`](super::tls), or a fixed Ed25519 key.
/// - quinn's own `BbrConfig` draws from the thread's generator; `tokio::select!` does unless it is
///   `biased`, or in a task of `tokio::spawn` and compiled with `--cfg tokio_unstable`.
/// - Other threads: a task that waits for one waits for the wall clock.
pub fn endpoint_config(seed: u64) -> EndpointConfig {
    let Seeds {
        reset_key,
        cids,
        rng,
    } = Seeds::new(seed);
    let mut config = EndpointConfig::new(Arc::new(reset_key));
    config
        .rng_seed(Some(rng))
        .cid_generator(move || Box::new(cids.clone()));
    config
}

/// The random values of an endpoint, for every QUIC stack.
pub(super) struct Seeds {
    pub(super) reset_key: ResetKey,
    pub(super) cids: SeededCids,
    /// For the endpoint's own generator.
    pub(super) rng: [u8; 32],
}

impl Seeds {
    pub(super) fn new(seed: u64) -> Self {
        let mut seeds = Pcg64Mcg::seed_from_u64(seed);
        let reset_key = ResetKey(seeds.next_u64());
        let cids = SeededCids(Pcg64Mcg::seed_from_u64(seeds.next_u64()));
        let mut rng = [0; 32];
        seeds.fill_bytes(&mut rng);
        Self {
            reset_key,
            cids,
            rng,
        }
    }
}

/// Connection IDs of the length that quinn's default generator gives them.
#[derive(Clone)]
pub(super) struct SeededCids(Pcg64Mcg);

impl ConnectionIdGenerator for SeededCids {
    fn generate_cid(&mut self) -> ConnectionId {
        ConnectionId::new(&self.0.next_u64().to_le_bytes())
    }

    fn cid_len(&self) -> usize {
        size_of::<u64>()
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

/// Signs stateless resets: reproducible, and of no cryptographic strength.
pub(super) struct ResetKey(u64);

impl HmacKey for ResetKey {
    fn sign(&self, data: &[u8], signature_out: &mut [u8]) {
        let seed = data.iter().fold(self.0, |state, &byte| {
            Pcg64Mcg::seed_from_u64(state ^ u64::from(byte)).next_u64()
        });
        Pcg64Mcg::seed_from_u64(seed).fill_bytes(signature_out);
    }

    fn signature_len(&self) -> usize {
        SIGNATURE_LEN
    }

    fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), CryptoError> {
        let mut expected = [0; SIGNATURE_LEN];
        self.sign(data, &mut expected);
        if signature == expected {
            Ok(())
        } else {
            Err(CryptoError)
        }
    }
}

/// The wall clock of servers: tokens age in virtual time.
pub(super) struct VirtualTime(Handle);

impl VirtualTime {
    pub(super) fn new(handle: Handle) -> Self {
        Self(handle)
    }
}

impl fmt::Debug for VirtualTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("VirtualTime").field(&self.0.now()).finish()
    }
}

impl TimeSource for VirtualTime {
    fn now(&self) -> SystemTime {
        UNIX_EPOCH + START + Duration::from(self.0.now())
    }
}

/// As long as the output of the HMAC-SHA256 that quinn uses.
const SIGNATURE_LEN: usize = 32;
/// The start of every simulation: 2025-01-01T00:00:00Z.
const START: Duration = Duration::from_secs(1_735_689_600);

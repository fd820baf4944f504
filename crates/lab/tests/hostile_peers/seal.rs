//! A TLS server that changes the plaintext of its packets before it seals them, so that an unmodified stack sends forged frames.

use std::any::Any;
use std::sync::Arc;

use bytes::BytesMut;
use quinn::ServerConfig;
use quinn_proto::crypto::{
    self, CryptoError, ExportKeyingMaterialError, HeaderKey, KeyPair, Keys, PacketKey, Session,
    UnsupportedVersion,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectionId, Side, TransportError};

/// Makes another payload of a packet's payload, at most [`SPARE`] bytes longer.
pub(crate) type Forger = Arc<dyn Fn(&[u8]) -> Vec<u8> + Send + Sync>;

/// From now on the server forges the packets that it sends after the handshake.
pub(crate) fn forge(config: &mut ServerConfig, forger: Forger) {
    let inner = Arc::clone(&config.crypto);
    config.crypto = Arc::new(Server { inner, forger });
}

struct Server {
    inner: Arc<dyn crypto::ServerConfig>,
    forger: Forger,
}

impl crypto::ServerConfig for Server {
    fn initial_keys(&self, version: u32, cid: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        self.inner.initial_keys(version, cid)
    }

    fn retry_tag(&self, version: u32, cid: &ConnectionId, packet: &[u8]) -> [u8; 16] {
        self.inner.retry_tag(version, cid, packet)
    }

    fn start_session(
        self: Arc<Self>,
        version: u32,
        params: &TransportParameters,
    ) -> Box<dyn Session> {
        Box::new(Forging {
            inner: Arc::clone(&self.inner).start_session(version, params),
            forger: Arc::clone(&self.forger),
            handshake_keys: false,
        })
    }
}

struct Forging {
    inner: Box<dyn Session>,
    forger: Forger,
    /// Whether it has given out the first of its two sets of keys.
    handshake_keys: bool,
}

impl Forging {
    fn with_forger(&self, mut keys: KeyPair<Box<dyn PacketKey>>) -> KeyPair<Box<dyn PacketKey>> {
        keys.local = Box::new(Key {
            inner: keys.local,
            forger: Arc::clone(&self.forger),
        });
        keys
    }
}

impl Session for Forging {
    fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        let mut keys = self.inner.write_handshake(buf)?;
        if std::mem::replace(&mut self.handshake_keys, true) {
            keys.packet = self.with_forger(keys.packet);
        }
        Some(keys)
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        let keys = self.inner.next_1rtt_keys()?;
        Some(self.with_forger(keys))
    }

    fn initial_keys(&self, cid: &ConnectionId, side: Side) -> Keys {
        self.inner.initial_keys(cid, side)
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        self.inner.handshake_data()
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        self.inner.peer_identity()
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        self.inner.early_crypto()
    }

    fn early_data_accepted(&self) -> Option<bool> {
        self.inner.early_data_accepted()
    }

    fn is_handshaking(&self) -> bool {
        self.inner.is_handshaking()
    }

    fn read_handshake(&mut self, buf: &[u8]) -> Result<bool, TransportError> {
        self.inner.read_handshake(buf)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        self.inner.transport_parameters()
    }

    fn is_valid_retry(&self, cid: &ConnectionId, header: &[u8], payload: &[u8]) -> bool {
        self.inner.is_valid_retry(cid, header, payload)
    }

    fn export_keying_material(
        &self,
        output: &mut [u8],
        label: &[u8],
        context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        self.inner.export_keying_material(output, label, context)
    }
}

struct Key {
    inner: Box<dyn PacketKey>,
    forger: Forger,
}

impl PacketKey for Key {
    /// The stack has left room for a longer tag: the forged payload is padded to that length.
    fn encrypt(&self, packet: u64, buf: &mut [u8], header_len: usize) {
        let end = buf.len() - self.inner.tag_len();
        let mut forged = (self.forger)(&buf[header_len..end - SPARE]);
        forged.resize(end - header_len, 0);
        buf[header_len..end].copy_from_slice(&forged);
        self.inner.encrypt(packet, buf, header_len);
    }

    fn decrypt(
        &self,
        packet: u64,
        header: &[u8],
        payload: &mut BytesMut,
    ) -> Result<(), CryptoError> {
        self.inner.decrypt(packet, header, payload)
    }

    fn tag_len(&self) -> usize {
        self.inner.tag_len() + SPARE
    }

    fn confidentiality_limit(&self) -> u64 {
        self.inner.confidentiality_limit()
    }

    fn integrity_limit(&self) -> u64 {
        self.inner.integrity_limit()
    }
}

/// What a forged payload may be longer by: every number of an ACK frame of one range at its longest.
const SPARE: usize = 64;

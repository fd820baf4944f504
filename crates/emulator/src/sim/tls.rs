//! A TLS identity for simulations: the same bytes in every run.
//!
//! Certificates made on the fly and ECDSA signatures vary in length, and with them the flights of
//! the handshake. This one is fixed, and signed with Ed25519.

use std::sync::Arc;

use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::rustls::crypto::{CryptoProvider, ring};
use quinn::rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use quinn::rustls::{self, RootCertStore};
use quinn::{ClientConfig, ServerConfig};

/// The name in the certificate, for [`Endpoint::connect`](quinn::Endpoint::connect).
pub const SERVER_NAME: &str = "localhost";

/// A server of the fixed identity. Anyone can impersonate it: for simulations only.
pub fn server_config() -> ServerConfig {
    let crypto = QuicServerConfig::try_from(server_crypto());
    ServerConfig::with_crypto(Arc::new(crypto.expect(INITIAL_SUITE)))
}

/// The TLS half of a server, whichever its QUIC stack.
pub(super) fn server_crypto() -> rustls::ServerConfig {
    rustls::ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("the provider has a cipher suite of TLS 1.3")
        .with_no_client_auth()
        .with_single_cert(
            vec![CertificateDer::from(CERTIFICATE)],
            PrivatePkcs8KeyDer::from(KEY).into(),
        )
        .expect("the bundled key belongs to the bundled certificate")
}

/// A client that trusts the fixed identity, and nothing else.
pub fn client_config() -> ClientConfig {
    let crypto = QuicClientConfig::try_from(client_crypto());
    ClientConfig::new(Arc::new(crypto.expect(INITIAL_SUITE)))
}

/// The TLS half of a client, whichever its QUIC stack.
pub(super) fn client_crypto() -> rustls::ClientConfig {
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from(CERTIFICATE))
        .expect("the bundled certificate is well-formed");
    rustls::ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("the provider has a cipher suite of TLS 1.3")
        .with_root_certificates(roots)
        .with_no_client_auth()
}

/// AES-128-GCM only: the fastest suite, and the one that QUIC's initial packets need.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(CryptoProvider {
        cipher_suites: vec![ring::cipher_suite::TLS13_AES_128_GCM_SHA256],
        ..ring::default_provider()
    })
}

/// Why a QUIC stack takes these configurations.
pub(super) const INITIAL_SUITE: &str = "the provider has the initial suite";

/// Self-signed, for [`SERVER_NAME`], valid from 1975 to 4096.
const CERTIFICATE: &[u8] = include_bytes!("identity/certificate.der");
/// An Ed25519 key in PKCS #8, whose secret is 32 bytes of 0x4b.
const KEY: &[u8] = include_bytes!("identity/key.der");

//! Certificates: the server makes one and writes it to a file, the client trusts that file and nothing else.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{ClientConfig, ServerConfig};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::{KeyLogFile, RootCertStore};

use super::Result;
use super::controller::Choice;

/// A server with a fresh certificate for `localhost`, which it writes to the file in PEM.
pub(crate) fn server_config(certificate: &Path, controller: Choice) -> Result<ServerConfig> {
    let identity = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    if let Some(folder) = certificate.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(certificate, identity.cert.pem())?;
    let key = PrivatePkcs8KeyDer::from(identity.signing_key.serialize_der());
    let mut crypto = rustls::ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_no_client_auth()
        .with_single_cert(vec![identity.cert.into()], key.into())?;
    crypto.alpn_protocols = vec![ALPN.to_vec()];
    // Nothing is written unless the variable SSLKEYLOGFILE names a file.
    crypto.key_log = Arc::new(KeyLogFile::new());
    let mut config = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(crypto)?));
    config.transport_config(Arc::new(controller.transport()));
    Ok(config)
}

/// A client that trusts the certificate in the file.
pub(crate) fn client_config(certificate: &Path, controller: Choice) -> Result<ClientConfig> {
    let read = CertificateDer::from_pem_file(certificate);
    let mut roots = RootCertStore::empty();
    roots.add(read.map_err(|error| format!("{}: {error}", certificate.display()))?)?;
    let mut crypto = rustls::ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_root_certificates(roots)
        .with_no_client_auth();
    crypto.alpn_protocols = vec![ALPN.to_vec()];
    crypto.key_log = Arc::new(KeyLogFile::new());
    let mut config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(crypto)?));
    config.transport_config(Arc::new(controller.transport()));
    Ok(config)
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// HTTP/0.9, as the QUIC interop runner names it.
const ALPN: &[u8] = b"hq-interop";

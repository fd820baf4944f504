//! The bundled TLS identity is what its documentation says.
#![cfg(feature = "quinn")]

use kneepoint_emulator::sim::tls;
use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::PrivatePkcs8KeyDer;

/// Ed25519 signs deterministically, so the same key always makes the same certificate.
#[test]
fn certificate_follows_from_key() {
    let mut key = vec![
        0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04,
        0x20,
    ];
    key.extend([0x4b; 32]);
    assert_eq!(key, include_bytes!("../src/sim/identity/key.der"));

    let key =
        KeyPair::from_pkcs8_der_and_sign_algo(&PrivatePkcs8KeyDer::from(key), &rcgen::PKCS_ED25519)
            .unwrap();
    let certificate = CertificateParams::new([tls::SERVER_NAME.to_owned()])
        .unwrap()
        .self_signed(&key)
        .unwrap();

    assert_eq!(
        &certificate.der()[..],
        include_bytes!("../src/sim/identity/certificate.der")
    );
}

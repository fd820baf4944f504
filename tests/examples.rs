//! The examples do what they say.

#![allow(clippy::unwrap_used, reason = "this is test code")]

#[path = "../examples/adaptive_bitrate.rs"]
#[allow(dead_code, reason = "main is")]
mod adaptive_bitrate;
#[path = "../examples/custom_controller.rs"]
#[allow(dead_code, reason = "main is")]
mod custom_controller;
#[path = "../examples/loopback.rs"]
#[allow(dead_code, reason = "main is")]
mod loopback;
#[path = "../examples/net/mod.rs"]
mod net;

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use quinn::Endpoint;

#[test]
fn the_encoder_uses_most_of_the_link_without_a_long_queue() {
    let seconds = adaptive_bitrate::video("bbr3-s".parse().unwrap()).unwrap();
    // It begins at a fraction of a megabit per second.
    let settled = &seconds[10..];
    let capacity: u64 = settled.iter().map(|second| second.capacity).sum();
    let encoded: u64 = settled.iter().map(|second| second.encoded).sum();
    let share = encoded as f64 / capacity as f64;
    assert!((0.6..0.95).contains(&share), "{share}");

    let mut delays: Vec<_> = settled.iter().flat_map(|second| &second.delays).collect();
    delays.sort_unstable();
    assert!(delays.len() > 1400, "{}", delays.len());
    let median = delays[delays.len() / 2].as_millis();
    assert!((20..120).contains(&median), "{median} ms");
}

#[test]
fn an_encoder_without_a_model_stays_where_it_began() {
    let seconds = adaptive_bitrate::video("cubic".parse().unwrap()).unwrap();
    assert!(seconds.iter().all(|second| second.estimate == 0));
    assert!(seconds.iter().all(|second| second.encoded > 100_000));
}

#[test]
fn a_download_in_virtual_time_is_whole() {
    for controller in ["knee", "cubic"] {
        let bytes = loopback::download(controller.parse().unwrap(), |_| {}).unwrap();
        assert_eq!(bytes, loopback::DOWNLOAD);
    }
}

#[test]
fn a_custom_controller_holds_its_target() {
    let ledbat = custom_controller::ledbat(Duration::from_millis(25)).unwrap();
    let (rate, rtt) = custom_controller::upload(ledbat).unwrap();
    let (other, _) =
        custom_controller::upload("knee".parse::<kneepoint::Algorithm>().unwrap().into()).unwrap();
    assert!(rate > 0.7 * other, "{rate} Mb/s, knee {other} Mb/s");
    // 40 ms of path; the link itself varies by more than the target. CUBIC has a second here.
    assert!(rtt < Duration::from_millis(200), "{rtt:?}");
    assert!(custom_controller::ledbat(Duration::ZERO).is_err());
}

/// A server on a real socket with a folder of its own; returns where it is, and the certificate's file.
fn server(name: &str, controller: &str) -> (SocketAddr, std::path::PathBuf) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let certificate = folder.join("server.pem");
    let config = net::tls::server_config(&certificate, controller.parse().unwrap()).unwrap();
    let endpoint = Endpoint::server(config, "127.0.0.1:0".parse().unwrap()).unwrap();
    let address = endpoint.local_addr().unwrap();
    let bytes: Vec<u8> = (0..300_000u32).map(|index| (index % 251) as u8).collect();
    fs::write(folder.join("file.bin"), bytes).unwrap();
    tokio::spawn(net::serve::serve(endpoint, folder, |_| {}));
    (address, certificate)
}

async fn download(from: &(SocketAddr, std::path::PathBuf), path: &str) -> net::Result<Vec<u8>> {
    let config = net::tls::client_config(&from.1, "knee".parse()?)?;
    let mut received = Vec::new();
    let take = |bytes: &[u8]| {
        received.extend_from_slice(bytes);
        Ok(())
    };
    let count = net::download::download(config, from.0, path, take, |_| {}).await?;
    assert_eq!(count, received.len() as u64);
    Ok(received)
}

#[tokio::test]
async fn a_file_arrives_intact_over_real_sockets() {
    for controller in ["knee", "bbr:tuned", "quinn-cubic"] {
        let server = server("intact", controller);
        let received = download(&server, "/file.bin").await.unwrap();
        assert!(received == fs::read(server.1.with_file_name("file.bin")).unwrap());
        let made_up = download(&server, "/70000").await.unwrap();
        assert_eq!(made_up.len(), 70_000);
    }
}

#[tokio::test]
async fn files_outside_the_folder_are_rejected() {
    let server = server("refused", "knee");
    for path in ["/../server.pem", "/missing", "//etc/hosts", "file.bin"] {
        assert!(download(&server, path).await.is_err(), "{path}");
    }
}

#[tokio::test]
async fn another_certificate_is_not_trusted() {
    let (address, _) = server("trusted", "knee");
    let (_, certificate) = server("other", "knee");
    assert!(download(&(address, certificate), "/1").await.is_err());
}

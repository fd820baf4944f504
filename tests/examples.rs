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

use adaptive_bitrate::Scene;
use kneepoint::emulator::time::Nanos;
use quinn::Endpoint;

/// An encoder that goes by the estimate alone, without padding and without a look at its own frames, takes 78 % of the link with `knee`.
/// Frames are then 70 ms late in the median and 498 ms at the 95th percentile. With `bbr3` it takes 96 %, and they are 2.7 and 3.9 s late.
#[test]
fn the_encoder_uses_most_of_a_link_that_varies_without_a_long_queue() {
    for (controller, least, median, p95) in [
        ("knee", 0.75, 75, 350),
        ("bbr3-s", 0.7, 90, 400),
        ("bbr3", 0.85, 200, 600),
    ] {
        let scene = Scene::lte();
        let video = scene.video(controller.parse().unwrap()).unwrap();
        // It begins at a fraction of a megabit per second.
        let (share, ours, worst) = video.since(&scene, 10);
        assert!((least..0.95).contains(&share), "{controller}: {share}");
        assert!(ours.as_millis() < median, "{controller}: {ours:?}");
        assert!(worst.as_millis() < p95, "{controller}: {worst:?}");
        let arrived = video.frames.iter().filter(|frame| frame.delay.is_some());
        assert!(arrived.count() > 1780, "{controller}");
        let padding: u64 = video.padding.iter().map(|(_, bytes)| bytes).sum();
        let encoded: u64 = video.frames.iter().map(|frame| frame.bytes).sum();
        assert!(padding * 50 < encoded, "{controller}: {padding}");
    }
}

/// 10 Mb/s on 20 Mb/s, from 1 Mb/s. Without padding the estimate is what the encoder sends, and grows with it: that takes three to
/// five seconds.
#[test]
fn the_encoder_reaches_its_best_quality_within_two_seconds() {
    for controller in ["knee", "bbr3"] {
        for rtt in [20, 40, 100, 200].map(Duration::from_millis) {
            let scene = Scene::steady(2_500_000, rtt);
            let video = scene.video(controller.parse().unwrap()).unwrap();
            let what = format!("{controller}, {rtt:?}");
            let (first, best) = (&video.frames[0], (scene.best / 30.0) as u64);
            assert!(first.bytes < best / 5, "{what}: {}", first.bytes);
            let after = video.best_after(&scene).expect("it gets there");
            assert!(after < Duration::from_millis(2000), "{what}: {after:?}");
            // The last frames are on their way when the film ends.
            let arrived = &video.frames[..video.frames.len() - 5];
            for frame in arrived {
                let delay = frame.delay.expect("it arrives");
                let (since, queued) = (frame.captured - first.captured, delay - rtt / 2);
                let settled = since >= Nanos::from_millis(2000);
                assert!(
                    !settled || frame.bytes == best,
                    "{what}, {since}: {}",
                    frame.bytes
                );
                // 17 ms are what a frame of 10 Mb/s takes. At first a frame waits for the window that padding has filled.
                let on_time = if settled { Duration::ZERO } else { rtt };
                let on_time = on_time + Duration::from_millis(25);
                assert!(queued < on_time, "{what}, {since}: {queued:?}");
            }
            let padding: u64 = video.padding.iter().map(|(_, bytes)| bytes).sum();
            assert!((1..1_000_000).contains(&padding), "{what}: {padding}");
        }
    }
}

#[test]
fn an_encoder_without_a_model_stays_where_it_began() {
    let scene = Scene::lte();
    let video = scene.video("cubic".parse().unwrap()).unwrap();
    let first = video.frames[0].bytes;
    for frame in &video.frames {
        assert_eq!((frame.estimate, frame.bytes), (None, first));
    }
    // Padding would tell it nothing.
    assert!(video.padding.is_empty());
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
    let controller: net::controller::Choice = controller.parse().unwrap();
    let config = net::tls::server_config(&certificate, controller.clone()).unwrap();
    let qlog = net::qlog::Qlog::new(folder.join("qlog"), config.clone(), controller).unwrap();
    let endpoint = Endpoint::server(config, "127.0.0.1:0".parse().unwrap()).unwrap();
    let address = endpoint.local_addr().unwrap();
    let bytes: Vec<u8> = (0..300_000u32).map(|index| (index % 251) as u8).collect();
    fs::write(folder.join("file.bin"), bytes).unwrap();
    tokio::spawn(net::serve::serve(endpoint, folder, Some(qlog), |_| {}));
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
async fn each_connection_writes_a_qlog_file_with_its_windows() {
    let server = server("qlog", "knee");
    for number in 1..=2 {
        download(&server, "/300000").await.unwrap();
        let file = server
            .1
            .with_file_name(format!("qlog/server-{number}.sqlog"));
        let events = fs::read_to_string(&file).unwrap();
        assert!(events.contains("congestion_window"), "{}", file.display());
    }
}

#[tokio::test]
async fn another_certificate_is_not_trusted() {
    let (address, _) = server("trusted", "knee");
    let (_, certificate) = server("other", "knee");
    assert!(download(&(address, certificate), "/1").await.is_err());
}

//! HTTP/3 by `h3` and `h3-quinn`, unchanged, over LTE: a page and what it links to, with tasks, timeouts and channels of tokio.

mod lte;

use std::error::Error;
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf as _, Bytes};
use http::{Request, Response};
use kneepoint::Algorithm;
use kneepoint::emulator::network::Side;
use kneepoint::emulator::sim::{Net, Testbed, tls};
use kneepoint::emulator::time::Nanos;
use kneepoint::quinn::IntoFactory as _;
use lte::lte;
use quinn::{Endpoint, TransportConfig};
use tokio::sync::mpsc;
use tokio::time::{interval, timeout};

type Failure = Box<dyn Error + Send + Sync>;

/// An endpoint whose connections send with `knee`.
fn server(net: &Net) -> Result<Endpoint, Failure> {
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Algorithm::Knee.factory());
    let mut config = tls::server_config();
    config.transport_config(Arc::new(transport));
    Ok(net.server_at(Side::Right, config)?)
}

/// Answers `/bytes/N` with N bytes, each request in a task of its own.
async fn serve(endpoint: Endpoint) -> Result<(), Failure> {
    while let Some(incoming) = endpoint.accept().await {
        let connection = h3_quinn::Connection::new(incoming.await?);
        // Grease is drawn from the thread's generator.
        let mut connection = h3::server::builder()
            .send_grease(false)
            .build(connection)
            .await?;
        while let Some(resolver) = connection.accept().await? {
            tokio::spawn(async move {
                let (request, mut stream) = resolver.resolve_request().await?;
                let size: usize = request.uri().path().trim_start_matches("/bytes/").parse()?;
                stream.send_response(Response::new(())).await?;
                stream.send_data(Bytes::from(vec![b'.'; size])).await?;
                stream.finish().await?;
                Ok::<_, Failure>(())
            });
        }
    }
    Ok(())
}

/// Gets a page of 300 kB, then what it links to, all at once; a ticker counts meanwhile. Returns when each had arrived, and the
/// ticks.
async fn browse(
    net: &Net,
    client: Endpoint,
    server: &Endpoint,
) -> Result<(Vec<Nanos>, u32), Failure> {
    let connecting = client.connect(server.local_addr()?, tls::SERVER_NAME)?;
    let connection = h3_quinn::Connection::new(timeout(Duration::from_secs(2), connecting).await??);
    let (mut driver, requests) = h3::client::builder()
        .send_grease(false)
        .build::<_, _, Bytes>(connection)
        .await?;
    let driver = tokio::spawn(async move { poll_fn(|cx| driver.poll_close(cx)).await });
    let (arrived, mut arrivals) = mpsc::unbounded_channel();
    let get = |size: usize| {
        let (mut requests, arrived, net) = (requests.clone(), arrived.clone(), net.clone());
        async move {
            let request = Request::get(format!("https://localhost/bytes/{size}")).body(())?;
            let mut stream = requests.send_request(request).await?;
            stream.finish().await?;
            stream.recv_response().await?;
            let mut received = 0;
            while let Some(data) = stream.recv_data().await? {
                received += data.remaining();
            }
            assert_eq!(received, size);
            arrived.send(net.now())?;
            Ok::<_, Failure>(())
        }
    };
    timeout(Duration::from_secs(10), get(300_000)).await??;
    let links: Vec<_> = (1..=8).map(|n| tokio::spawn(get(n * 20_000))).collect();
    drop(arrived);
    drop(requests);
    let (mut ticker, mut ticks, mut times) = (interval(Duration::from_millis(10)), 0, Vec::new());
    loop {
        tokio::select! {
            biased;
            arrival = arrivals.recv() => match arrival {
                Some(time) => times.push(time),
                None => break,
            },
            _ = ticker.tick() => ticks += 1,
        }
        if times.len() == 9 {
            break;
        }
    }
    for link in links {
        link.await??;
    }
    let end = driver.await?;
    assert!(end.is_h3_no_error(), "{end}");
    Ok((times, ticks))
}

fn load() -> Result<(Vec<Nanos>, u32), Failure> {
    Testbed::new(lte(), 1).run(async |net| {
        let (server, client) = (server(&net)?, net.client()?);
        tokio::spawn(serve(server.clone()));
        browse(&net, client, &server).await
    })?
}

#[test]
fn a_page_and_what_it_links_to_load_within_two_seconds() -> Result<(), Failure> {
    let (times, ticks) = load()?;
    assert_eq!(times.len(), 9);
    assert!(
        times.is_sorted() && times[8] < Nanos::from_millis(2000),
        "{times:?}"
    );
    let loading = (times[8] - times[0]).0 / 10_000_000;
    assert!(
        ticks > 10 && u64::from(ticks).abs_diff(loading) <= 2,
        "{ticks} ticks, {times:?}"
    );
    assert_eq!((times, ticks), load()?);
    Ok(())
}

#[tokio::test]
async fn inside_of_a_runtime_it_takes_the_same_nanoseconds() -> Result<(), Failure> {
    let outside = std::thread::spawn(load).join().expect("no panic")?;
    assert_eq!(load()?, outside);
    Ok(())
}

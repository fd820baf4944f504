//! The application over LTE, in virtual time.

use std::sync::Arc;
use std::time::Duration;

use kneepoint::Algorithm;
use kneepoint::emulator::link::{Limit, LinkConfig, Queue, Shaper};
use kneepoint::emulator::network::{Network, NetworkConfig, Side};
use kneepoint::emulator::sim::{Net, Testbed, tls};
use kneepoint::emulator::time::Nanos;
use kneepoint::quinn::IntoFactory as _;
use kneepoint::traces;
use quinn::TransportConfig;
use tokio::task::JoinSet;
use tokio::time::timeout;
use web_transport_over_lte::{Failure, ask, join, news, serve};
use web_transport_quinn::{Server, Session};

/// 12.5 MB/s up, and the LTE-like trace down.
fn lte() -> Result<Testbed, Failure> {
    let up = LinkConfig {
        delay: Nanos::from_millis(20).into(),
        ..LinkConfig::constant(12_500_000)
    };
    let down = LinkConfig {
        shaper: Shaper::Trace(traces::lte_driving_fast()),
        queue: Queue::DropTail(Limit::bytes(3_000_000)),
        ..up.clone()
    };
    let network = NetworkConfig {
        forward: up,
        reverse: down,
        seed: 1,
    };
    Ok(Testbed::new(Network::new(network)?, 1))
}

/// A transport that sends with `knee`.
fn transport() -> Arc<TransportConfig> {
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Algorithm::Knee.factory());
    Arc::new(transport)
}

/// A session with the server of a network. Both sides send with `knee`.
async fn session(net: &Net) -> Result<Session, Failure> {
    let (mut serving, mut connecting) = (tls::server_config(), tls::client_config());
    serving.transport_config(transport());
    connecting.transport_config(transport());
    let server = net.server_at(Side::Right, serving)?;
    let client = net.client_at(Side::Left, connecting)?;
    let address = server.local_addr()?;
    tokio::spawn(serve(Server::new(server), news()));
    let connection = client.connect(address, tls::SERVER_NAME)?.await?;
    join(connection, "https://localhost/").await
}

/// When each of twenty answers had arrived, and how many items of news.
fn run() -> Result<(Vec<(u64, Nanos)>, u32), Failure> {
    lte()?.run(async |net| {
        let session = timeout(Duration::from_secs(2), session(&net)).await??;
        let mut answers = JoinSet::new();
        for number in 1..=20 {
            let (session, net) = (session.clone(), net.clone());
            answers.spawn(async move {
                let length = number * 10_000;
                assert_eq!(ask(&session, length).await?, length as usize);
                Ok::<_, Failure>((number, net.now()))
            });
        }
        let mut items = 0;
        let mut times = Vec::new();
        while times.len() < 20 {
            tokio::select! {
                biased;
                Some(answer) = answers.join_next() => times.push(answer??),
                item = session.read_datagram() => {
                    assert_eq!(item?.len(), 4);
                    items += 1;
                }
            }
        }
        session.close(7, b"enough");
        session.closed().await;
        Ok((times, items))
    })?
}

#[test]
fn answers_arrive_within_three_seconds() -> Result<(), Failure> {
    let (times, items) = run()?;
    let last = times.iter().map(|(_, time)| *time).max();
    assert!(last < Some(Nanos::from_millis(3000)), "{times:?}");
    assert!(items > 5, "{items}");
    Ok(())
}

#[tokio::test]
async fn a_seed_gives_the_same_nanoseconds_wherever_it_runs() -> Result<(), Failure> {
    let outside = std::thread::spawn(run).join().expect("no panic")?;
    assert_eq!(run()?, outside);
    assert_eq!(run()?, outside);
    Ok(())
}

#[test]
fn a_minute_of_lte_is_a_transfer_of_more_than_fifty_megabytes() -> Result<(), Failure> {
    let bytes = lte()?.run(async |net| {
        let session = session(&net).await?;
        let mut bytes = 0;
        while net.now() < Nanos::from_millis(60_000) {
            bytes += ask(&session, 2_000_000).await?;
        }
        let seen = kneepoint::quinn::snapshot(session.congestion_state());
        assert_eq!(seen.map(|seen| seen.algorithm), Some("knee"));
        Ok::<_, Failure>(bytes)
    })??;
    assert!(bytes > 50_000_000, "{bytes}");
    Ok(())
}

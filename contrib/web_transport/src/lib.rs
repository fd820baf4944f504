//! An application over WebTransport that knows no emulator: a server that answers, a client that asks.

use std::error::Error;
use std::time::Duration;

use tokio::sync::broadcast;
use tokio::time::{interval, sleep};
use web_transport_quinn::proto::ConnectRequest;
use web_transport_quinn::{Server, Session};

/// Any error.
pub type Failure = Box<dyn Error + Send + Sync>;

/// Accepts sessions. Sends each what `news` has, and answers its streams, each in a task of its own.
pub async fn serve(mut server: Server, news: broadcast::Sender<u32>) -> Result<(), Failure> {
    while let Some(request) = server.accept().await {
        let (session, mut news) = (request.ok().await?, news.subscribe());
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    stream = session.accept_bi() => {
                        let (send, recv) = stream?;
                        tokio::spawn(answer(send, recv));
                    }
                    item = news.recv() => session.send_datagram(item?.to_be_bytes().to_vec().into())?,
                }
            }
            #[expect(unreachable_code, reason = "the type of the errors")]
            Ok::<_, Failure>(())
        });
    }
    Ok(())
}

/// Answers a stream with as many bytes as it asks for.
async fn answer(
    mut send: web_transport_quinn::SendStream,
    mut recv: web_transport_quinn::RecvStream,
) -> Result<(), Failure> {
    let request = recv.read_to_end(8).await?;
    let length = u64::from_be_bytes(request.as_slice().try_into()?);
    // Time to think.
    sleep(Duration::from_millis(5)).await;
    send.write_all(&vec![b'.'; length as usize]).await?;
    send.finish()?;
    Ok(())
}

/// A server's news: a number every 50 ms.
pub fn news() -> broadcast::Sender<u32> {
    let (sender, _) = broadcast::channel(16);
    let news = sender.clone();
    tokio::spawn(async move {
        let mut ticks = interval(Duration::from_millis(50));
        for number in 0.. {
            ticks.tick().await;
            // Nobody may listen.
            let _ = news.send(number);
        }
    });
    sender
}

/// A session over a connection.
pub async fn join(connection: quinn::Connection, url: &str) -> Result<Session, Failure> {
    let request = ConnectRequest::new(url.parse::<url::Url>()?);
    Ok(Session::connect(connection, request).await?)
}

/// Asks for `length` bytes.
pub async fn ask(session: &Session, length: u64) -> Result<usize, Failure> {
    let (mut send, mut recv) = session.open_bi().await?;
    send.write_all(&length.to_be_bytes()).await?;
    send.finish()?;
    Ok(recv.read_to_end(usize::MAX).await?.len())
}

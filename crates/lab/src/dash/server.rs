//! The server: one request and one segment on each bidirectional stream, as in HTTP/3.

use std::sync::Arc;

use bytes::Bytes;
use quinn::{Connection, Endpoint, RecvStream, Runtime, SendStream};

use super::video::Video;

/// A player's request, on a stream of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Request {
    /// Which segment, from 0.
    pub(super) segment: u32,
    /// At which level.
    pub(super) level: u32,
}

impl Request {
    pub(super) fn encode(self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        let (segment, level) = bytes.split_at_mut(LENGTH / 2);
        segment.copy_from_slice(&self.segment.to_be_bytes());
        level.copy_from_slice(&self.level.to_be_bytes());
        bytes
    }

    fn decode(bytes: [u8; LENGTH]) -> Self {
        let [a, b, c, d, e, f, g, h] = bytes;
        Self {
            segment: u32::from_be_bytes([a, b, c, d]),
            level: u32::from_be_bytes([e, f, g, h]),
        }
    }
}

/// Serves a film to whoever connects, until the endpoint closes. Hands every connection to `accepted`.
///
/// A request for a segment or a level that the film does not have gets an empty answer.
pub async fn serve(
    runtime: Arc<dyn Runtime>,
    endpoint: Endpoint,
    video: Arc<Video>,
    accepted: impl Fn(Connection) + Send,
) {
    while let Some(incoming) = endpoint.accept().await {
        let Ok(connecting) = incoming.accept() else {
            continue;
        };
        // A handshake that fails is the player's to report.
        if let Ok(connection) = connecting.await {
            accepted(connection.clone());
            let answers = answer_all(Arc::clone(&runtime), connection, Arc::clone(&video));
            runtime.spawn(Box::pin(answers));
        }
    }
}

async fn answer_all(runtime: Arc<dyn Runtime>, connection: Connection, video: Arc<Video>) {
    while let Ok((send, receive)) = connection.accept_bi().await {
        let video = Arc::clone(&video);
        runtime.spawn(Box::pin(async move {
            // A cancelled request or connection needs no answer.
            let _ = answer(send, receive, &video).await;
        }));
    }
}

async fn answer(mut send: SendStream, mut receive: RecvStream, video: &Video) -> Option<()> {
    let mut bytes = [0; LENGTH];
    receive.read_exact(&mut bytes).await.ok()?;
    let request = Request::decode(bytes);
    let level = usize::try_from(request.level).ok()?;
    let known = usize::try_from(request.segment).is_ok_and(|n| n < video.segments());
    let mut rest = match known && level <= video.top() {
        true => video.segment_bytes(level),
        false => 0,
    };
    while rest > 0 {
        let size = rest.min(CHUNK.len() as u64);
        let chunk = Bytes::from_static(&CHUNK).slice(..usize::try_from(size).ok()?);
        send.write_chunk(chunk).await.ok()?;
        rest -= size;
    }
    send.finish().ok()
}

/// A request's bytes: two 32-bit numbers.
const LENGTH: usize = 8;

/// The content of segments.
static CHUNK: [u8; 256 * 1024] = [0; 256 * 1024];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_survive_the_wire() {
        let request = Request {
            segment: 126,
            level: 0x0102_0304,
        };
        assert_eq!(request.encode()[4..], [1, 2, 3, 4]);
        assert_eq!(Request::decode(request.encode()), request);
    }
}

//! The server: one request and one segment on each bidirectional stream, as in HTTP/3.

use std::sync::Arc;

use bytes::BytesMut;

use super::video::Video;
use crate::stack::{Connection, Endpoint, ReceiveStream, SendStream};
use crate::workload::{Clock, write};

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
pub async fn serve<E: Endpoint>(
    clock: Clock,
    endpoint: E,
    video: Arc<Video>,
    accepted: impl Fn(E::Connection) + Send,
) {
    while let Some((_, handshake)) = endpoint.accept().await {
        // A handshake that fails is the player's to report.
        if let Ok(connection) = handshake.await {
            accepted(connection.clone());
            clock.spawn(answer_all(clock.clone(), connection, Arc::clone(&video)));
        }
    }
}

async fn answer_all<C: Connection>(clock: Clock, connection: C, video: Arc<Video>) {
    while let Ok((send, receive)) = connection.accept_bi().await {
        let video = Arc::clone(&video);
        clock.spawn(async move {
            // A cancelled request or connection needs no answer.
            let _ = answer(send, receive, &video).await;
        });
    }
}

async fn answer(
    mut send: impl SendStream,
    mut receive: impl ReceiveStream,
    video: &Video,
) -> Option<()> {
    let mut bytes = BytesMut::new();
    while bytes.len() < LENGTH {
        bytes.extend_from_slice(&receive.read().await.ok()??);
    }
    let request = Request::decode(*bytes.first_chunk()?);
    let level = usize::try_from(request.level).ok()?;
    let known = usize::try_from(request.segment).is_ok_and(|n| n < video.segments());
    let size = match known && level <= video.top() {
        true => video.segment_bytes(level),
        false => 0,
    };
    write(&mut send, size).await?;
    send.finish().ok()
}

/// A request's bytes: two 32-bit numbers.
const LENGTH: usize = 8;

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

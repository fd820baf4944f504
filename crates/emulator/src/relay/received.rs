//! One call that reads a batch of datagrams.

use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr};

use quinn_udp::{BATCH_SIZE, EcnCodepoint, UdpSocketState};

use crate::time::Nanos;

/// The state of a buffer's content.
#[derive(Debug, Clone, Copy)]
pub(super) struct Received {
    pub(super) source: SocketAddr,
    /// The address it was sent to.
    pub(super) local: Option<IpAddr>,
    pub(super) ecn: Option<EcnCodepoint>,
    pub(super) length: usize,
    /// The system may have joined datagrams of this length; the last one may be shorter.
    pub(super) stride: usize,
    /// How long it had waited in the socket's receive buffer; `None` where the system does not say.
    pub(super) waited: Option<Nanos>,
}

/// Has the system stamp what arrives from now on; where it does not, nothing is known of the waiting.
#[cfg(target_os = "linux")]
pub(super) fn stamp_arrivals(socket: &std::net::UdpSocket) {
    use nix::sys::socket::{setsockopt, sockopt::ReceiveTimestampns};

    let _ = setsockopt(socket, ReceiveTimestampns, &true);
}

/// Reads what has come, up to a datagram for each buffer, or several if the system has joined them.
///
/// This does what quinn-udp's `recv` does, which has no room for stamps beside the other control messages.
#[cfg(target_os = "linux")]
pub(super) fn receive(
    socket: &mio::net::UdpSocket,
    _: &UdpSocketState,
    buffers: &mut [IoSliceMut<'_>; BATCH_SIZE],
    each: &mut Vec<Received>,
) -> io::Result<()> {
    use std::os::fd::AsRawFd;

    use nix::sys::socket::{MsgFlags, MultiHeaders, SockaddrStorage, recvmmsg};

    let mut slices = buffers.each_mut().map(|buffer| [IoSliceMut::new(buffer)]);
    let mut headers = MultiHeaders::<SockaddrStorage>::preallocate(
        BATCH_SIZE,
        Some(Vec::with_capacity(linux::CONTROL)),
    );
    let flags = MsgFlags::MSG_DONTWAIT;
    let messages = recvmmsg(
        socket.as_raw_fd(),
        &mut headers,
        slices.iter_mut(),
        flags,
        None,
    )?;
    let now = linux::now();
    each.extend(messages.filter_map(|message| linux::describe(&message, now)));
    Ok(())
}

#[cfg(target_os = "linux")]
mod linux {
    use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
    use std::time::{Duration, SystemTime};

    use nix::sys::socket::{ControlMessageOwned, RecvMsg, SockaddrStorage};
    use quinn_udp::EcnCodepoint;

    use super::Received;

    /// On the clock of the kernel's stamps.
    pub(super) fn now() -> Option<Duration> {
        #[expect(
            clippy::disallowed_methods,
            reason = "the kernel's stamps are of the system's clock"
        )]
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        now.ok()
    }

    /// `None` for what has no address of the internet.
    pub(super) fn describe(
        message: &RecvMsg<'_, '_, SockaddrStorage>,
        now: Option<Duration>,
    ) -> Option<Received> {
        let mut received = Received {
            source: address(message.address.as_ref()?)?,
            local: None,
            ecn: None,
            length: message.bytes,
            stride: message.bytes,
            waited: None,
        };
        for control in message.cmsgs().ok()? {
            match control {
                ControlMessageOwned::ScmTimestampns(arrived) => {
                    // A clock that was set back has nothing wait.
                    let waited = now.map(|now| now.saturating_sub(arrived.into()));
                    received.waited = waited.map(Into::into);
                }
                ControlMessageOwned::UdpGroSegments(stride) => {
                    received.stride = usize::try_from(stride).unwrap_or(received.stride);
                }
                ControlMessageOwned::Ipv4Tos(class) => {
                    received.ecn = EcnCodepoint::from_bits(class);
                }
                ControlMessageOwned::Ipv6TClass(class) => {
                    let [low, ..] = class.to_le_bytes();
                    received.ecn = EcnCodepoint::from_bits(low);
                }
                ControlMessageOwned::Ipv4PacketInfo(info) => {
                    let octets = info.ipi_addr.s_addr.to_ne_bytes();
                    received.local = Some(IpAddr::V4(Ipv4Addr::from(octets)));
                }
                ControlMessageOwned::Ipv6PacketInfo(info) => {
                    received.local = Some(IpAddr::V6(Ipv6Addr::from(info.ipi6_addr.s6_addr)));
                }
                _ => {}
            }
        }
        Some(received)
    }

    fn address(storage: &SockaddrStorage) -> Option<SocketAddr> {
        let v4 = storage.as_sockaddr_in();
        let v4 = v4.map(|address| SocketAddr::V4(SocketAddrV4::from(*address)));
        v4.or_else(|| {
            let v6 = storage.as_sockaddr_in6()?;
            Some(SocketAddr::V6(SocketAddrV6::from(*v6)))
        })
    }

    /// Room for what comes beside a datagram, in bytes: stamp, address, traffic class, segment size take 24 to 40 each.
    pub(super) const CONTROL: usize = 256;
}

#[cfg(not(target_os = "linux"))]
pub(super) fn stamp_arrivals(_: &std::net::UdpSocket) {}

/// Reads what has come, up to a datagram for each buffer, or several if the system has joined them.
#[cfg(not(target_os = "linux"))]
pub(super) fn receive(
    socket: &mio::net::UdpSocket,
    state: &UdpSocketState,
    buffers: &mut [IoSliceMut<'_>; BATCH_SIZE],
    each: &mut Vec<Received>,
) -> io::Result<()> {
    let mut metas = [quinn_udp::RecvMeta::default(); BATCH_SIZE];
    let count = state.recv(quinn_udp::UdpSockRef::from(socket), buffers, &mut metas)?;
    each.extend(metas.iter().take(count).map(|meta| Received {
        source: meta.addr,
        local: meta.dst_ip,
        ecn: meta.ecn,
        length: meta.len,
        stride: meta.stride,
        waited: None,
    }));
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use quinn_udp::UdpSockRef;

    use super::*;

    #[test]
    fn unread_packets_have_waited() {
        for loopback in ["127.0.0.1:0", "[::1]:0"] {
            let socket = std::net::UdpSocket::bind(loopback).unwrap();
            let state = UdpSocketState::new(UdpSockRef::from(&socket)).unwrap();
            stamp_arrivals(&socket);
            let address = socket.local_addr().unwrap();
            let socket = mio::net::UdpSocket::from_std(socket);
            let mut content = vec![[0; 2000]; BATCH_SIZE];
            let mut chunks = content.iter_mut();
            let mut buffers: [IoSliceMut<'_>; BATCH_SIZE] =
                std::array::from_fn(|_| IoSliceMut::new(chunks.next().unwrap()));
            let mut received = Vec::new();
            let nothing = receive(&socket, &state, &mut buffers, &mut received);
            assert_eq!(nothing.unwrap_err().kind(), io::ErrorKind::WouldBlock);

            let sender = std::net::UdpSocket::bind(loopback).unwrap();
            for length in [0, 1000, 1] {
                sender.send_to(&vec![7; length], address).unwrap();
            }
            receive(&socket, &state, &mut buffers, &mut received).unwrap();
            let lengths: Vec<usize> = received.iter().map(|received| received.length).collect();
            assert_eq!(lengths, [0, 1000, 1]);
            for received in &received {
                assert_eq!(received.source, sender.local_addr().unwrap());
                assert_eq!(received.local, Some(address.ip()));
            }
            // The first packet has waited longest.
            let waited: Vec<_> = received
                .iter()
                .map(|received| received.waited.unwrap())
                .collect();
            assert!(waited.is_sorted_by(|a, b| a >= b), "{waited:?}");
        }
    }
}

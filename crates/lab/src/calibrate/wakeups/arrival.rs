//! How long a datagram has waited in the socket: from the system's time stamp of its arrival.

use std::io::{self, IoSliceMut};
use std::os::fd::AsRawFd;
use std::time::Duration;

use nix::cmsg_space;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};
use tokio::io::Interest;
use tokio::net::UdpSocket;

/// Asks for time stamps.
pub(super) fn prepare(socket: &UdpSocket) -> io::Result<()> {
    Ok(setsockopt(socket, sockopt::ReceiveTimestampns, &true)?)
}

/// Reads a datagram. Returns how long it has waited; `None` if it has no time stamp.
pub(super) fn read(socket: &UdpSocket, buffer: &mut [u8]) -> io::Result<Option<Duration>> {
    socket.try_io(Interest::READABLE, || {
        let mut slices = [IoSliceMut::new(buffer)];
        let mut control = cmsg_space!(TimeSpec);
        let message = recvmsg::<()>(
            socket.as_raw_fd(),
            &mut slices,
            Some(&mut control),
            MsgFlags::MSG_DONTWAIT,
        )?;
        // The time stamps are of this clock.
        let now = Duration::from(clock_gettime(ClockId::CLOCK_REALTIME)?);
        let arrival = message.cmsgs()?.find_map(|message| match message {
            ControlMessageOwned::ScmTimestampns(time) => Some(Duration::from(time)),
            _ => None,
        });
        Ok(arrival.map(|arrival| now.saturating_sub(arrival)))
    })
}

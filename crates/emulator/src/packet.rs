//! The packets of a link.

use std::net::SocketAddr;

/// An explicit congestion notification codepoint (RFC 3168, section 5). `Option::None` is Not-ECT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Ecn {
    /// ECN-capable transport, codepoint 0b01.
    Ect1,
    /// ECN-capable transport, codepoint 0b10.
    Ect0,
    /// Congestion experienced, codepoint 0b11.
    Ce,
}

/// One UDP datagram on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// The sender's address.
    pub source: SocketAddr,
    /// The receiver's address.
    pub destination: SocketAddr,
    /// The ECN codepoint; `None` is Not-ECT.
    pub ecn: Option<Ecn>,
    /// The UDP payload, in bytes. Its size on the wire is larger by the link's overhead.
    pub payload: Vec<u8>,
}

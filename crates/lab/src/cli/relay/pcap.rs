//! A capture in the format of libpcap (draft-ietf-opsawg-pcap), with IP and UDP headers around each datagram.

use std::io::{self, Write};
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use etherparse::{IpEcn, IpNumber, Ipv4Header, Ipv6Header, UdpHeader};
use kneepoint_emulator::packet::{Ecn, Packet};
use kneepoint_emulator::relay::CaptureSink;
use kneepoint_emulator::time::Nanos;

/// Writes a capture.
pub(super) struct Pcap<W> {
    out: W,
    /// The relay's start, since 1970.
    start: Duration,
}

impl<W: Write> Pcap<W> {
    /// A capture without datagrams, of a relay that starts at a time since 1970.
    pub(super) fn new(mut out: W, start: Duration) -> io::Result<Self> {
        // Times zone and accuracy are zero by convention.
        for word in [
            MAGIC,
            u32::from_le_bytes(VERSION),
            0,
            0,
            SNAPLEN,
            LINKTYPE_RAW,
        ] {
            out.write_all(&word.to_le_bytes())?;
        }
        Ok(Self { out, start })
    }
}

impl<W: Write + Send> CaptureSink for Pcap<W> {
    fn datagram(&mut self, at: Nanos, packet: &Packet) -> io::Result<()> {
        let bytes = enclose(packet)?;
        let time = self.start.saturating_add(at.into());
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        // Seconds since 1970 take 32 bits until 2106.
        let seconds = u32::try_from(time.as_secs()).unwrap_or(u32::MAX);
        for word in [seconds, time.subsec_nanos(), length, length] {
            self.out.write_all(&word.to_le_bytes())?;
        }
        self.out.write_all(&bytes)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The IP packet that the datagram was in, but for what a relay does not see: TTL, flow label and the like.
fn enclose(packet: &Packet) -> io::Result<Vec<u8>> {
    let ecn = match packet.ecn {
        None => IpEcn::NotEct,
        Some(Ecn::Ect0) => IpEcn::Ect0,
        Some(Ecn::Ect1) => IpEcn::Ect1,
        Some(Ecn::Ce) => IpEcn::CongestionExperienced,
    };
    let (source, destination) = (packet.source, packet.destination);
    let (from, to) = (source.port(), destination.port());
    let payload = packet.payload.as_slice();
    let length = u16::try_from(payload.len() + UdpHeader::LEN).map_err(io::Error::other)?;
    let mut bytes = Vec::with_capacity(payload.len() + HEADERS);
    let addresses = [source, destination].map(|address| address.ip().to_canonical());
    let udp = if let [IpAddr::V4(source), IpAddr::V4(destination)] = addresses {
        let ends = [source, destination].map(|address| address.octets());
        let ip = Ipv4Header::new(length, HOP_LIMIT, IpNumber::UDP, ends[0], ends[1]);
        let mut ip = ip.map_err(io::Error::other)?;
        ip.ecn = ecn;
        ip.write(&mut bytes)?;
        UdpHeader::with_ipv4_checksum(from, to, &ip, payload)
    } else {
        let ends = addresses.map(|address| match address {
            IpAddr::V4(address) => address.to_ipv6_mapped(),
            IpAddr::V6(address) => address,
        });
        let ends = ends.map(|address: Ipv6Addr| address.octets());
        let mut ip = Ipv6Header {
            payload_length: length,
            next_header: IpNumber::UDP,
            hop_limit: HOP_LIMIT,
            source: ends[0],
            destination: ends[1],
            ..Ipv6Header::default()
        };
        ip.set_ecn(ecn);
        ip.write(&mut bytes)?;
        UdpHeader::with_ipv6_checksum(from, to, &ip, payload)
    };
    udp.map_err(io::Error::other)?.write(&mut bytes)?;
    bytes.extend_from_slice(payload);
    Ok(bytes)
}

/// Times have nanoseconds.
const MAGIC: u32 = 0xa1b2_3c4d;
/// Version 2.4, two bytes each.
const VERSION: [u8; 4] = [2, 0, 4, 0];
/// The largest packet.
const SNAPLEN: u32 = 65_575;
/// Packets begin with an IPv4 or an IPv6 header.
const LINKTYPE_RAW: u32 = 101;
/// The usual one of a host.
const HOP_LIMIT: u8 = 64;
/// The largest headers: IPv6 and UDP.
const HEADERS: usize = 48;

#[cfg(test)]
mod tests {
    use etherparse::{SlicedPacket, TransportSlice};

    use super::*;

    fn packet(source: &str, destination: &str) -> Packet {
        Packet {
            source: source.parse().unwrap(),
            destination: destination.parse().unwrap(),
            ecn: Some(Ecn::Ce),
            payload: b"datagram".to_vec(),
        }
    }

    #[test]
    fn headers_are_those_of_the_datagram() {
        for (source, destination, version) in [
            ("127.0.0.1:5", "127.0.0.1:6", 4),
            ("[::ffff:127.0.0.1]:5", "127.0.0.1:6", 4),
            ("[::1]:5", "[::1]:6", 6),
            ("[::1]:5", "127.0.0.1:6", 6),
        ] {
            let bytes = enclose(&packet(source, destination)).unwrap();
            assert_eq!(bytes[0] >> 4, version, "{source}");
            let sliced = SlicedPacket::from_ip(&bytes).unwrap();
            let Some(TransportSlice::Udp(udp)) = sliced.transport else {
                panic!("{source}");
            };
            assert_eq!((udp.source_port(), udp.destination_port()), (5, 6));
            assert_eq!(udp.payload(), b"datagram");
            let ecn = match version {
                4 => bytes[1] & 3,
                _ => bytes[1] >> 4 & 3,
            };
            assert_eq!(ecn, 3, "{source}");
        }
    }

    #[test]
    fn a_file_has_a_header_and_records() {
        let mut file = Vec::new();
        let mut pcap = Pcap::new(&mut file, Duration::from_secs(1_700_000_000)).unwrap();
        let packet = packet("127.0.0.1:5", "127.0.0.1:6");
        pcap.datagram(Nanos::from_millis(1500), &packet).unwrap();
        pcap.finish().unwrap();
        assert_eq!(file.len(), 24 + 16 + 36);
        let word = |place: usize| u32::from_le_bytes(file[place..place + 4].try_into().unwrap());
        assert_eq!((word(0), word(20)), (0xa1b2_3c4d, 101));
        assert_eq!((word(24), word(28)), (1_700_000_001, 500_000_000));
        assert_eq!((word(32), word(36)), (36, 36));
    }
}

//! Which packets go out together.

use super::socket::LARGEST_PAYLOAD;
use crate::packet::Packet;
use crate::time::Nanos;

/// How many packets at the beginning can be sent as one train: of the same way and mark, of one size but the last, which
/// may be smaller. At least one, if there is any.
pub(super) fn length(due: &[(Nanos, Packet)], max: usize) -> usize {
    let Some((_, first)) = due.first() else {
        return 0;
    };
    let size = first.payload.len();
    let mut total = 0;
    let mut ended = false;
    let fits = |(_, packet): &&(Nanos, Packet)| {
        let joins = !ended
            && packet.payload.len() <= size
            && (packet.source, packet.destination, packet.ecn)
                == (first.source, first.destination, first.ecn);
        total += packet.payload.len();
        // Nothing can follow an empty datagram, and one cannot be part of a train.
        ended = packet.payload.len() < size;
        joins && !packet.payload.is_empty() && total <= LARGEST_PAYLOAD
    };
    due.iter().take(max).take_while(fits).count().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;

    fn packet(size: usize) -> (Nanos, Packet) {
        let address = |port| ([127, 0, 0, 1], port).into();
        let packet = Packet {
            source: address(1),
            destination: address(2),
            ecn: None,
            payload: vec![0; size],
        };
        (Nanos::ZERO, packet)
    }

    fn lengths(sizes: &[usize]) -> usize {
        let packets: Vec<_> = sizes.iter().map(|size| packet(*size)).collect();
        length(&packets, 5)
    }

    #[test]
    fn a_train_has_one_size_but_for_its_end() {
        assert_eq!(lengths(&[]), 0);
        assert_eq!(lengths(&[10]), 1);
        assert_eq!(lengths(&[0, 0]), 1);
        assert_eq!(lengths(&[10, 10, 11]), 2);
        assert_eq!(lengths(&[10, 10, 3, 3]), 3);
        assert_eq!(lengths(&[10, 10, 3, 10]), 3);
        assert_eq!(lengths(&[10, 0, 10]), 1);
    }

    #[test]
    fn a_train_is_no_longer_than_the_system_takes() {
        assert_eq!(lengths(&[10; 9]), 5);
        assert_eq!(lengths(&[30_000; 4]), 2);
        assert_eq!(lengths(&[65_507; 4]), 1);
    }

    #[test]
    fn a_train_goes_one_way_with_one_mark() {
        let mut packets = vec![packet(10); 4];
        packets[2].1.ecn = Some(Ecn::Ce);
        assert_eq!(length(&packets, 9), 2);
        packets[1].1.source = packets[1].1.destination;
        assert_eq!(length(&packets, 9), 1);
    }
}

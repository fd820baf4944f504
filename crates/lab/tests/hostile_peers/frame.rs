//! ACK frames (RFC 9000, section 19.3).

use std::ops::RangeInclusive;

use quinn_proto::VarInt;
use quinn_proto::coding::Codec;

/// What an ACK frame says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ack {
    delay: u64,
    /// From the largest numbers to the smallest.
    pub(crate) ranges: Vec<RangeInclusive<u64>>,
    /// The counts of ECT(0), ECT(1) and CE.
    pub(crate) ecn: Option<[u64; 3]>,
}

impl Ack {
    /// The largest number.
    pub(crate) fn largest(&self) -> u64 {
        self.ranges.first().map_or(0, |range| *range.end())
    }

    /// Takes a frame off the beginning of a packet's payload, if there is one.
    fn take(payload: &mut &[u8]) -> Option<Self> {
        let mut rest = *payload;
        let kind = number(&mut rest).filter(|kind| [ACK, ACK_ECN].contains(kind))?;
        let (largest, delay) = (number(&mut rest)?, number(&mut rest)?);
        let further = number(&mut rest)?;
        let mut smallest = largest.checked_sub(number(&mut rest)?)?;
        let mut ranges = vec![smallest..=largest];
        for _ in 0..further {
            let end = smallest.checked_sub(number(&mut rest)? + 2)?;
            smallest = end.checked_sub(number(&mut rest)?)?;
            ranges.push(smallest..=end);
        }
        let mut ecn = None;
        if kind == ACK_ECN {
            let mut count = || number(&mut rest);
            ecn = Some([count()?, count()?, count()?]);
        }
        *payload = rest;
        Some(Self { delay, ranges, ecn })
    }

    fn put(&self, payload: &mut Vec<u8>) {
        let mut put = |number| VarInt::from_u64(number).unwrap().encode(payload);
        put(if self.ecn.is_some() { ACK_ECN } else { ACK });
        put(self.largest());
        put(self.delay);
        put(self.ranges.len() as u64 - 1);
        let mut before = None;
        for range in &self.ranges {
            if let Some(smallest) = before {
                put(smallest - range.end() - 2);
            }
            put(range.end() - range.start());
            before = Some(*range.start());
        }
        self.ecn.iter().flatten().for_each(|count| put(*count));
    }
}

/// A packet's payload with another ACK frame, or with none, if it has one. quinn writes it before all other frames but three of
/// one byte.
pub(crate) fn rewrite(mut payload: &[u8], change: impl FnOnce(Ack) -> Option<Ack>) -> Vec<u8> {
    let mut out = Vec::new();
    while let [kind @ (PADDING | PING | HANDSHAKE_DONE), rest @ ..] = payload {
        out.push(*kind);
        payload = rest;
    }
    if let Some(ack) = Ack::take(&mut payload).and_then(change) {
        ack.put(&mut out);
    }
    out.extend_from_slice(payload);
    out
}

fn number(payload: &mut &[u8]) -> Option<u64> {
    VarInt::decode(payload).ok().map(VarInt::into_inner)
}

const PADDING: u8 = 0x00;
const PING: u8 = 0x01;
const ACK: u64 = 0x02;
const ACK_ECN: u64 = 0x03;
const HANDSHAKE_DONE: u8 = 0x1e;

#[test]
fn a_frame_is_found_and_replaced() {
    let ack = Ack {
        delay: 7,
        ranges: vec![90..=20_000, 50..=60, 0..=3],
        ecn: Some([400, 0, 2]),
    };
    let mut frame = Vec::new();
    ack.put(&mut frame);
    let stream = [0x08, 0x00, 0x55];
    let payload = [&[HANDSHAKE_DONE, PING][..], &frame, &stream].concat();
    let mut seen = None;
    let same = rewrite(&payload, |ack| {
        seen = Some(ack.clone());
        Some(ack)
    });
    assert_eq!((seen, same), (Some(ack), payload.clone()));
    let none = rewrite(&payload, |_| None);
    assert_eq!(none, [HANDSHAKE_DONE, PING, 0x08, 0x00, 0x55]);
    assert_eq!(rewrite(&stream, |_| unreachable!()), stream);
}

//! What may happen, and how a word of 64 bits says so. Spans and ages are in nanoseconds.

/// Something that happens to a sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants say what their fields are")]
pub enum Event {
    /// Time passes. The controller's timers fire as they come due, or late.
    Wait { nanos: u64, timers: bool },
    /// The clock runs backwards, as that of a transport with a fault may.
    Back { nanos: u64 },
    /// Packets leave as far as the window has room. A packet without a size is a full one.
    Send { packets: u8, bytes: Option<u16> },
    /// A packet leaves whatever the window says: a probe.
    Probe { bytes: Option<u16> },
    /// Packets in flight are acknowledged: so many after the oldest `skip`.
    Ack {
        skip: u8,
        packets: u8,
        /// The newest packet is reported first.
        newest_first: bool,
        /// The transport reports the end of the acknowledgement.
        ends: bool,
    },
    /// The packets that were acknowledged last are acknowledged again.
    AckAgain { packets: u8 },
    /// A packet is acknowledged that never left.
    AckUnsent { age: u64, bytes: u16 },
    /// Packets in flight are declared lost: so many after the oldest `skip`.
    Lose {
        skip: u8,
        packets: u8,
        persistent: bool,
    },
    /// More is declared lost than ever left.
    LoseUnsent {
        age: u64,
        bytes: u32,
        persistent: bool,
    },
    /// The packets declared lost last have arrived after all.
    Spurious,
    /// The path marked a packet: the oldest in flight but `skip`.
    Mark { skip: u8 },
    /// Packets leave the flight without a report: keys are discarded.
    Discard { packets: u8 },
    /// Whether the application limits the sender from now on.
    Application { limits: bool },
    /// The path carries other datagrams.
    Mtu { bytes: u16 },
    /// The peer's address changes: a clone of the controller goes on, the original waits.
    Rebind,
    /// The path changes: a new controller goes on, the old one waits.
    Migrate,
    /// The new path fails: the controller that waits is back.
    Return,
}

/// The events of one run. Each run has some of the kinds only: a sender to which everything happens all the time never leaves
/// its first states (swarm testing: A. Groce et al., ISSTA 2012).
#[derive(Debug, Clone, Copy)]
pub struct Alphabet {
    /// One bit for each kind but `Wait`, `Send` and `Ack`.
    kinds: u16,
    /// The longest span, as a power of two nanoseconds.
    longest: u32,
}

impl Alphabet {
    /// The kinds are the word's lowest 16 bits. Time, sending and acknowledgements are always part of it.
    pub fn from_word(word: u64) -> Self {
        let [low, high, longest, ..] = word.to_le_bytes();
        Self {
            kinds: u16::from_le_bytes([low, high]),
            longest: MAX_SPAN_BITS - u32::from(longest) % 28,
        }
    }

    /// The event that a word stands for.
    pub fn event(self, word: u64) -> Event {
        let [kind, first, second, flags, wide @ ..] = word.to_le_bytes();
        let wide = u32::from_le_bytes(wide);
        let nanos = self.span(first, wide);
        let size = 1 + (wide % u32::from(MAX_DATAGRAM)) as u16;
        let bytes = (flags & 1 != 0).then_some(size);
        // Mostly few, so that windows fill, and runs of acknowledgements stay short.
        let packets = first >> (flags >> 6);
        let skip = if flags & 6 == 6 { second } else { second & 3 };
        let (persistent, limits) = (flags & 8 != 0, flags & 8 != 0);
        let rare = match kind {
            0..64 => None,
            64..128 => return Event::Send { packets, bytes },
            128..192 => {
                return Event::Ack {
                    skip,
                    packets,
                    newest_first: flags & 24 == 24,
                    ends: flags & 56 != 32,
                };
            }
            192..208 => Some((
                0,
                Event::Lose {
                    skip,
                    packets,
                    persistent,
                },
            )),
            208..212 => Some((
                1,
                Event::LoseUnsent {
                    age: nanos,
                    bytes: wide,
                    persistent,
                },
            )),
            212..216 => Some((2, Event::Spurious)),
            216..220 => Some((3, Event::Mark { skip })),
            220..224 => Some((4, Event::Discard { packets })),
            224..228 => Some((5, Event::Application { limits })),
            228..232 => Some((
                6,
                Event::Mtu {
                    bytes: MIN_MTU.max(size),
                },
            )),
            232..236 => Some((7, Event::AckAgain { packets })),
            236..240 => Some((
                8,
                Event::AckUnsent {
                    age: nanos,
                    bytes: size,
                },
            )),
            240..248 => Some((9, Event::Probe { bytes })),
            248..252 => Some((10, Event::Back { nanos: nanos >> 10 })),
            252 => Some((11, Event::Rebind)),
            253 => Some((12, Event::Migrate)),
            254.. => Some((13, Event::Return)),
        };
        match rare {
            Some((bit, event)) if self.kinds >> bit & 1 == 1 => event,
            _ => Event::Wait {
                nanos,
                timers: flags & 1 == 0,
            },
        }
    }

    /// Nothing, or a span of any order of magnitude up to a minute.
    fn span(self, magnitude: u8, fraction: u32) -> u64 {
        if magnitude >= 240 {
            return 0;
        }
        let unit: u64 = 1 << (u32::from(magnitude) % (self.longest + 1));
        (unit + ((unit * u64::from(fraction >> 4)) >> 28)).min(MAX_SPAN)
    }
}

/// The largest payload of a UDP datagram over IPv6, without jumbograms.
const MAX_DATAGRAM: u16 = 65_527;

/// RFC 9000, section 14.1.
const MIN_MTU: u16 = 1200;

/// A minute, in nanoseconds.
const MAX_SPAN: u64 = 60_000_000_000;
const MAX_SPAN_BITS: u32 = 36;

//! The attacks, by name.

use std::ops::Range;
use std::time::Duration;

use crate::lie::Lie;
use crate::meddler::Meddling;

/// What a receiver, or the path to it, does to a sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Attack {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// Whether the bottleneck marks packets.
    pub(crate) marks: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing.
    None,
    /// ACK frames lie.
    Lie(Lie),
    /// The path to the receiver meddles.
    Path(Meddling),
    /// The receiver's application does not read.
    NotReading,
    /// Nothing comes through to the receiver.
    Blackout,
    /// Acknowledgements take so much longer, in the first so many seconds.
    Late(Duration, u32),
}

impl Attack {
    const fn new(name: &'static str, kind: Kind) -> Self {
        Self {
            name,
            kind,
            marks: false,
        }
    }

    const fn on_marking_link(self) -> Self {
        Self {
            marks: true,
            ..self
        }
    }

    pub(crate) fn named(name: &str) -> Self {
        let known = ALL.into_iter().find(|attack| attack.name == name);
        known.unwrap_or_else(|| panic!("no attack {name}"))
    }

    /// How much longer acknowledgements take.
    pub(crate) fn delay(&self) -> Duration {
        match self.kind {
            Kind::Late(delay, _) => delay,
            _ => Duration::ZERO,
        }
    }

    /// When.
    pub(crate) fn during(&self) -> Range<Duration> {
        let length = match self.kind {
            Kind::Late(_, seconds) => SECOND * seconds,
            _ => 10 * SECOND,
        };
        START..START + length + self.delay()
    }
}

pub(crate) const ALL: [Attack; 20] = [
    Attack::new("none", Kind::None),
    Attack::new("none, marking link", Kind::None).on_marking_link(),
    Attack::new("ACK of unsent", Kind::Lie(Lie::Unsent)),
    Attack::new("ACKs ahead", Kind::Lie(Lie::Ahead)),
    Attack::new("losses concealed", Kind::Lie(Lie::NoLoss)),
    Attack::new("ACKs withheld", Kind::Lie(Lie::Silence)),
    Attack::new("ACK per 1000", Kind::Lie(Lie::Every(1000))),
    Attack::new("CE claimed for all", Kind::Lie(Lie::AllMarked)),
    Attack::new("CE concealed", Kind::Lie(Lie::NoneMarked)).on_marking_link(),
    Attack::new("ECN counts left out", Kind::Lie(Lie::NoCounts)).on_marking_link(),
    Attack::new("nothing read", Kind::NotReading),
    Attack::new("duplicates", Kind::Path(Meddling::Duplicate)),
    Attack::new("corruption, 5 %", Kind::Path(Meddling::Corrupt(20))),
    Attack::new("reordering by 50", Kind::Path(Meddling::Reorder(50))),
    Attack::new("ECN bleached", Kind::Path(Meddling::Bleach)).on_marking_link(),
    Attack::new("CE on all", Kind::Path(Meddling::Mark)),
    Attack::new("MTU falls to 1250", Kind::Path(Meddling::Mtu(1250))),
    Attack::new("one-way blackout", Kind::Blackout),
    Attack::new("RTT spike, 30 s", Kind::Late(Duration::from_secs(30), 1)),
    Attack::new("ACKs 2 s late", Kind::Late(Duration::from_secs(2), 10)),
];

const SECOND: Duration = Duration::from_secs(1);
/// quinn skips one packet number between every power of two and the next. By this time an attack that the next one would betray
/// has half a chance to last to its end, alone on the link and with half of it.
const START: Duration = Duration::from_secs(18);

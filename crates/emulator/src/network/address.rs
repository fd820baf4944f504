//! Hosts whose address changes during a run.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use crate::time::Nanos;

/// A change of a host's address by a network address translator, of which the host does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Rebinding {
    /// From when on it holds, until the host's next one.
    pub at: Nanos,
    /// The host's own address.
    pub inside: SocketAddr,
    /// The address that others see from then on. The host's own address ends the translation.
    pub outside: SocketAddr,
}

/// All translations.
#[derive(Debug, Default)]
pub(super) struct Translations {
    /// For every host, since when it has which address; in the order of time.
    outside: BTreeMap<SocketAddr, Vec<(Nanos, SocketAddr)>>,
    inside: BTreeMap<SocketAddr, SocketAddr>,
}

impl Translations {
    pub(super) fn is_empty(&self) -> bool {
        self.outside.is_empty()
    }

    pub(super) fn add(&mut self, rebinding: Rebinding) {
        let Rebinding {
            at,
            inside,
            outside,
        } = rebinding;
        let changes = self.outside.entry(inside).or_default();
        let place = changes.partition_point(|(time, _)| *time <= at);
        changes.insert(place, (at, outside));
        self.inside.insert(outside, inside);
    }

    /// The address that others see.
    pub(super) fn outside(&self, now: Nanos, inside: SocketAddr) -> SocketAddr {
        let changes = self.outside.get(&inside).map_or(&[][..], Vec::as_slice);
        let begun = changes.partition_point(|(time, _)| *time <= now);
        let latest = begun.checked_sub(1).and_then(|place| changes.get(place));
        latest.map_or(inside, |(_, outside)| *outside)
    }

    /// The host that has, or had, or will have an address.
    pub(super) fn host(&self, address: SocketAddr) -> SocketAddr {
        self.inside.get(&address).copied().unwrap_or(address)
    }

    /// The host that an address leads to; `None` if its translation does not hold.
    pub(super) fn inside(&self, now: Nanos, address: SocketAddr) -> Option<SocketAddr> {
        let host = self.host(address);
        (self.outside(now, host) == address).then_some(host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_translation_holds_until_the_next() {
        let [host, first, second] = [1, 2, 3].map(|last| SocketAddr::from(([10, 0, 0, last], 1)));
        let mut translations = Translations::default();
        for (at, outside) in [(20, second), (10, first), (30, host)] {
            let (at, inside) = (Nanos(at), host);
            translations.add(Rebinding {
                at,
                inside,
                outside,
            });
        }
        for (now, outside) in [
            (9, host),
            (10, first),
            (19, first),
            (20, second),
            (30, host),
        ] {
            assert_eq!(translations.outside(Nanos(now), host), outside);
            for address in [host, first, second] {
                let inside = translations.inside(Nanos(now), address);
                assert_eq!(
                    inside,
                    (address == outside).then_some(host),
                    "{now} {address}"
                );
            }
        }
        let other = SocketAddr::from(([10, 0, 0, 9], 1));
        assert_eq!(translations.inside(Nanos(0), other), Some(other));
    }
}

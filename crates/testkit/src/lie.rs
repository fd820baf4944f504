//! Receivers that report something else than what has arrived.

/// What a lying receiver reports. It reports when its [`AckPolicy`](crate::AckPolicy) says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lie {
    /// Every packet up to so many after the last that has arrived: optimistic acknowledgements.
    Ahead(u64),
    /// Every packet up to the last that has arrived, lost ones included.
    NoLoss,
    /// What has arrived, all of it marked.
    AllMarked,
    /// What has arrived, none of it marked.
    NoneMarked,
}

impl Lie {
    /// Changes a report, given the first number that no report has reached.
    pub(crate) fn change(self, report: &mut Vec<(u64, bool)>, first: u64) {
        let ahead = match self {
            Self::Ahead(packets) => packets,
            Self::NoLoss => 0,
            Self::AllMarked | Self::NoneMarked => {
                let marked = self == Self::AllMarked;
                report.iter_mut().for_each(|packet| packet.1 = marked);
                return;
            }
        };
        let Some(largest) = report.iter().map(|packet| packet.0).max() else {
            return;
        };
        let marked = report.iter().any(|packet| packet.1);
        let end = largest.saturating_add(ahead).saturating_add(1);
        report.extend((first..end).map(|number| (number, marked)));
        report.sort_unstable();
        report.dedup_by_key(|packet| packet.0);
    }
}

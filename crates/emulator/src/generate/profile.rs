//! The kinds of links.

use std::fmt;
use std::str::FromStr;

use crate::time::Nanos;

/// A kind of link that [`generate`](super::generate) imitates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Profile {
    /// LTE in a car in town.
    LteDrivingSlow,
    /// LTE in a fast car.
    LteDrivingFast,
    /// LTE on foot.
    LteWalking,
    /// Third-generation cellular.
    ThreeG,
    /// A Wi-Fi network that many share.
    WifiBusy,
    /// Millimetre-wave 5G on foot.
    FiveGMmwaveWalking,
    /// 60 GHz Wi-Fi that people walk through.
    WigigBlockage,
    /// 60 GHz Wi-Fi in a crowd, which blocks it most of the time.
    WigigCrowd,
}

impl Profile {
    /// All profiles.
    pub const ALL: [Self; 8] = [
        Self::LteDrivingSlow,
        Self::LteDrivingFast,
        Self::LteWalking,
        Self::ThreeG,
        Self::WifiBusy,
        Self::FiveGMmwaveWalking,
        Self::WigigBlockage,
        Self::WigigCrowd,
    ];

    /// The name that [`FromStr`] reads, and that the trace gets.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LteDrivingSlow => "lte-driving-slow",
            Self::LteDrivingFast => "lte-driving-fast",
            Self::LteWalking => "lte-walking",
            Self::ThreeG => "3g",
            Self::WifiBusy => "wifi-busy",
            Self::FiveGMmwaveWalking => "5g-mmwave-walking",
            Self::WigigBlockage => "wigig-blockage",
            Self::WigigCrowd => "wigig-crowd",
        }
    }

    /// How long the bundled trace of this profile is. It was made with [`BUNDLED_SEED`](super::BUNDLED_SEED).
    pub const fn bundled_duration(self) -> Nanos {
        Nanos::from_millis(match self {
            Self::FiveGMmwaveWalking => 30_000,
            Self::WigigBlockage | Self::WigigCrowd => 20_000,
            Self::WifiBusy => 60_000,
            _ => 120_000,
        })
    }

    /// One line for a reader.
    pub const fn description(self) -> &'static str {
        match self {
            Self::LteDrivingSlow => "LTE, driving in town: median 4.4 Mb/s, an outage every 11 s",
            Self::LteDrivingFast => "LTE, driving fast: median 9 Mb/s with deep swings over 10 s",
            Self::LteWalking => "LTE, walking: median 8.2 Mb/s, hardly an outage",
            Self::ThreeG => "3G: median 0.42 Mb/s, an outage every 5 s",
            Self::WifiBusy => "Wi-Fi, busy: median 19 Mb/s, outages of 1.5 s",
            Self::FiveGMmwaveWalking => {
                "5G mmWave, walking: switches between 27 and 84 Mb/s every 3 s"
            }
            Self::WigigBlockage => "WiGig: 155 Mb/s, blocked for 300 ms 40 times a minute",
            Self::WigigCrowd => {
                "WiGig in a crowd: 100 to 150 Mb/s for 0.1 to 0.3 s, then blocked for 0.2 to 1.5 s"
            }
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Profile {
    type Err = UnknownProfile;

    fn from_str(name: &str) -> Result<Self, UnknownProfile> {
        let found = Self::ALL.into_iter().find(|profile| profile.name() == name);
        found.ok_or_else(|| UnknownProfile {
            name: name.to_owned(),
        })
    }
}

/// No profile has this name.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown trace profile {name:?}; there are: {names}", names = Profile::ALL.map(Profile::name).join(", "))]
pub struct UnknownProfile {
    /// The name.
    pub name: String,
}

debug_as_display!(UnknownProfile);

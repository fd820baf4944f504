//! The profiles' parameters.

use super::Profile;

/// Everything a profile consists of. Rates in Mb/s, times in milliseconds.
#[derive(Debug)]
pub(super) struct Model {
    /// The states between which the link changes in turn; at least one.
    pub(super) states: &'static [State],
    /// The mean time in a state, if there are several.
    pub(super) dwell_millis: f64,
    /// The standard deviation of the log-rate's white noise, drawn every [`STEP_MILLIS`].
    pub(super) white_sd: f64,
    /// The minimum rate outside outages.
    pub(super) floor_mbps: f64,
    /// The maximum rate.
    pub(super) cap_mbps: f64,
    /// How often an outage begins.
    pub(super) outages_per_minute: f64,
    /// The mean duration of an outage, before it is bounded.
    pub(super) outage_millis: f64,
    /// How durations of outages and of the times between them are bounded.
    pub(super) spells: Spells,
    /// The mean number of opportunities that come at once.
    pub(super) batch: f64,
}

/// The durations of outages, and of the times between them.
#[derive(Debug)]
pub(super) enum Spells {
    /// Between outages lies an exponential time. Outages are of any duration.
    Unbounded,
    /// Both are bounded. Between outages lies a uniform time.
    Bounded {
        /// The least and the most time between two outages.
        open_millis: (f64, f64),
        /// The least and the most duration of an outage: others are drawn again.
        blocked_millis: (f64, f64),
    },
}

/// The centre of the rate's swings.
#[derive(Debug)]
pub(super) struct State {
    pub(super) median_mbps: f64,
    pub(super) swings: &'static [Swing],
}

/// An Ornstein-Uhlenbeck term of the log-rate.
#[derive(Debug)]
pub(super) struct Swing {
    /// The standard deviation of its stationary distribution.
    pub(super) sd: f64,
    /// Its correlation time.
    pub(super) tau_millis: f64,
}

impl Profile {
    pub(super) fn model(self) -> &'static Model {
        match self {
            Self::LteDrivingSlow => &LTE_DRIVING_SLOW,
            Self::LteDrivingFast => &LTE_DRIVING_FAST,
            Self::LteWalking => &LTE_WALKING,
            Self::ThreeG => &THREE_G,
            Self::WifiBusy => &WIFI_BUSY,
            Self::FiveGMmwaveWalking => &FIVE_G_MMWAVE_WALKING,
            Self::WigigBlockage => &WIGIG_BLOCKAGE,
            Self::WigigCrowd => &WIGIG_CROWD,
        }
    }
}

/// How long a rate holds, in milliseconds.
pub(super) const STEP_MILLIS: f64 = 100.0;

/// The standard deviation of the logarithm of an outage's duration, in every profile.
pub(super) const OUTAGE_LN_SD: f64 = 0.6;

// The parameters below define the profiles. They describe the kind of link seen in steps of 100 ms, no particular network.

const LTE_DRIVING_SLOW: Model = Model {
    states: &[State {
        median_mbps: 4.4,
        swings: &[
            Swing {
                sd: 0.30,
                tau_millis: 1_200.0,
            },
            Swing {
                sd: 0.60,
                tau_millis: 33_000.0,
            },
        ],
    }],
    dwell_millis: f64::INFINITY,
    white_sd: 0.35,
    floor_mbps: 0.0,
    cap_mbps: 14.0,
    outages_per_minute: 5.3,
    outage_millis: 650.0,
    spells: Spells::Unbounded,
    batch: 1.6,
};

const LTE_DRIVING_FAST: Model = Model {
    states: &[State {
        median_mbps: 9.0,
        swings: &[
            Swing {
                sd: 0.48,
                tau_millis: 400.0,
            },
            Swing {
                sd: 0.84,
                tau_millis: 10_000.0,
            },
        ],
    }],
    dwell_millis: f64::INFINITY,
    white_sd: 0.40,
    floor_mbps: 0.0,
    cap_mbps: 27.0,
    outages_per_minute: 2.6,
    outage_millis: 375.0,
    spells: Spells::Unbounded,
    batch: 2.0,
};

const LTE_WALKING: Model = Model {
    states: &[State {
        median_mbps: 8.2,
        swings: &[
            Swing {
                sd: 0.44,
                tau_millis: 1_500.0,
            },
            Swing {
                sd: 0.46,
                tau_millis: 50_000.0,
            },
        ],
    }],
    dwell_millis: f64::INFINITY,
    white_sd: 0.46,
    floor_mbps: 0.0,
    cap_mbps: 26.0,
    outages_per_minute: 0.5,
    outage_millis: 700.0,
    spells: Spells::Unbounded,
    batch: 2.0,
};

const THREE_G: Model = Model {
    states: &[State {
        median_mbps: 0.42,
        swings: &[
            Swing {
                sd: 0.62,
                tau_millis: 5_000.0,
            },
            Swing {
                sd: 0.38,
                tau_millis: 80_000.0,
            },
        ],
    }],
    dwell_millis: f64::INFINITY,
    white_sd: 0.55,
    floor_mbps: 0.0,
    cap_mbps: 3.0,
    outages_per_minute: 12.0,
    outage_millis: 700.0,
    spells: Spells::Unbounded,
    batch: 1.6,
};

const WIFI_BUSY: Model = Model {
    states: &[State {
        median_mbps: 19.0,
        swings: &[
            Swing {
                sd: 0.51,
                tau_millis: 1_600.0,
            },
            Swing {
                sd: 0.45,
                tau_millis: 60_000.0,
            },
        ],
    }],
    dwell_millis: f64::INFINITY,
    white_sd: 0.35,
    floor_mbps: 0.0,
    cap_mbps: 42.0,
    outages_per_minute: 2.5,
    outage_millis: 1_500.0,
    spells: Spells::Unbounded,
    batch: 4.0,
};

/// The mean outage is a guess: a blockage lasts about as long as in LTE. There is no white noise, and no cap.
const FIVE_G_MMWAVE_WALKING: Model = Model {
    states: &[
        State {
            median_mbps: 27.0,
            swings: &[Swing {
                sd: 0.73,
                tau_millis: 300.0,
            }],
        },
        State {
            median_mbps: 84.0,
            swings: &[Swing {
                sd: 0.22,
                tau_millis: 460.0,
            }],
        },
    ],
    dwell_millis: 2_800.0,
    white_sd: 0.0,
    floor_mbps: 0.0,
    cap_mbps: f64::INFINITY,
    outages_per_minute: 0.9,
    outage_millis: 500.0,
    spells: Spells::Unbounded,
    batch: 4.0,
};

/// Either on at a constant rate, or blocked. 40 blockages of 300 ms in a minute leave 1.2 s between them on average.
const WIGIG_BLOCKAGE: Model = Model {
    states: &[State {
        median_mbps: 155.0,
        swings: &[],
    }],
    dwell_millis: f64::INFINITY,
    white_sd: 0.0,
    floor_mbps: 0.0,
    cap_mbps: 155.0,
    outages_per_minute: 40.0,
    outage_millis: 300.0,
    spells: Spells::Unbounded,
    batch: 12.0,
};

/// People stand in the line of sight most of the time. 80 blockages in a minute leave 200 ms for an open link and 550 ms for
/// a blockage on average. The bounds change the mean blockage by 1 ms only: they cut off as much above as below.
const WIGIG_CROWD: Model = Model {
    states: &[State {
        median_mbps: 125.0,
        swings: &[],
    }],
    dwell_millis: f64::INFINITY,
    white_sd: 0.12,
    floor_mbps: 100.0,
    cap_mbps: 150.0,
    outages_per_minute: 80.0,
    outage_millis: 550.0,
    spells: Spells::Bounded {
        open_millis: (100.0, 300.0),
        blocked_millis: (200.0, 1_500.0),
    },
    batch: 12.0,
};

//! The bundled traces: links that vary as cellular and other wireless links do.
//!
//! They are in mahimahi's format, and were made by `kneepoint_emulator::generate` with
//! its `BUNDLED_SEED`.
//!
//! ```
//! use kneepoint::emulator::link::{LinkConfig, Shaper};
//! use kneepoint::emulator::time::Nanos;
//! use kneepoint::traces;
//!
//! let trace = traces::lte_driving_fast();
//! assert_eq!(trace.period(), Nanos::from_millis(120_000));
//! let link = LinkConfig::new(Shaper::Trace(trace));
//! ```

use kneepoint_emulator::trace::Trace;

macro_rules! bundle {
    ($($(#[$documentation:meta])+ $function:ident = $name:literal,)+) => {
        /// The names of all bundled traces, for [`by_name`].
        pub const ALL: &[&str] = &[$($name),+];

        /// The bundled trace of this name; `None` if there is none.
        #[must_use]
        pub fn by_name(name: &str) -> Option<Trace> {
            match name {
                $($name => Some($function()),)+
                _ => None,
            }
        }

        $(
            $(#[$documentation])+
            #[must_use]
            pub fn $function() -> Trace {
                let text = include_str!(concat!("../traces/", $name, ".trace"));
                Trace::parse(text, $name).expect("the bundled trace is valid")
            }
        )+
    };
}

bundle! {
    /// LTE in a car in town: a median of 4.4 Mb/s, an outage every 11 s. Two minutes.
    lte_driving_slow = "lte-driving-slow",
    /// LTE in a fast car: a median of 9 Mb/s with deep swings over 10 s. Two minutes.
    lte_driving_fast = "lte-driving-fast",
    /// LTE on foot: a median of 8.2 Mb/s, hardly an outage. Two minutes.
    lte_walking = "lte-walking",
    /// Third-generation cellular: a median of 0.42 Mb/s, an outage every 5 s. Two minutes.
    three_g = "3g",
    /// A Wi-Fi network that many share: a median of 19 Mb/s, outages of 1.5 s. One minute.
    wifi_busy = "wifi-busy",
    /// Millimetre-wave 5G on foot: switches between 27 and 84 Mb/s every 3 s. Half a minute.
    five_g_mmwave_walking = "5g-mmwave-walking",
    /// 60 GHz Wi-Fi that people walk through: 155 Mb/s, blocked for 300 ms 40 times a minute. 20 seconds.
    wigig_blockage = "wigig-blockage",
    /// 60 GHz Wi-Fi in a crowd: 100 to 150 Mb/s for 0.1 to 0.3 s, then blocked for 0.2 to 1.5 s, 80 times a minute. 20 seconds.
    wigig_crowd = "wigig-crowd",
}

//! The controllers' configurations, and the trait to write one of your own on.
//!
//! Names, presets and snapshots are at the top of this crate. What adapters to other QUIC stacks are made of (the accounting of
//! packets, clocks, timers) is in `kneepoint-controllers`, the filters alone are in `kneepoint-estimators`.

pub use kneepoint_controllers::{
    // The trait, what it is told, and what it answers.
    AckEvent,
    CongestionEvent,
    CongestionSignal,
    Control,
    Controller,
    FlightSample,
    RateSample,
    Refill,
    SentEvent,
};
pub use kneepoint_controllers::{
    // Model-based: a core on a filter.
    Bbr2Config,
    Bbr2SampledConfig,
    Bbr3Config,
    Bbr3SConfig,
    BbrFairConfig,
    BbrSampledConfig,
    BbrXConfig,
};
pub use kneepoint_controllers::{
    Bbr3CoreConfig, BbrCoreConfig, EcnRule, HeavyLossRule, ProbeRttWindow, Probing, RecoveryRule,
    UpExit, WindowPolicy,
};
pub use kneepoint_controllers::{Bytes, FilterSnapshot, Gain, Mode, Timestamp};
pub use kneepoint_controllers::{
    // Window-based.
    CompoundConfig,
    CubicConfig,
    EbccConfig,
    EbccCongestion,
    KneeConfig,
    NewRenoConfig,
    VegasConfig,
};
pub use kneepoint_controllers::{ConfigError, ControllerConfig, Environment, Transport};
pub use kneepoint_controllers::{
    CorrectedMaxFilterConfig, MaxFilterConfig, PercentileFilterConfig, SkipFilterConfig,
};
pub use kneepoint_estimators::capacity::{IntervalConfig, Method};
pub use kneepoint_estimators::{
    Adaptation, AtkfConfig, LowerBounds, SkipConfig, SkipMode, TobitVariant,
};

//! Tests of the whole core: over paths, event by event, and against known bugs of other implementations.

mod congestion;
mod filter;
mod states;
mod traps;

use super::*;
use crate::config::ControllerConfig;
use crate::{Bbr2Config, Bbr3Config, Bbr3SConfig};

const SECOND: core::time::Duration = core::time::Duration::from_secs(1);

fn controllers() -> [Box<dyn ControllerConfig>; 6] {
    [
        Box::new(Bbr3Config::paper()),
        Box::new(Bbr3Config::tuned()),
        Box::new(Bbr2Config::paper()),
        Box::new(Bbr2Config::tuned()),
        Box::new(Bbr3SConfig::paper()),
        Box::new(Bbr3SConfig::tuned()),
    ]
}

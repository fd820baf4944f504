//! A sender without a transport, to feed controllers scripted histories: [`host::Host`] takes single events,
//! [`journey::Journey`] takes a script of phases on an ideal path.
//!
//! Only what the crate makes public is used, so that this is also how any other host would drive a controller.

#![allow(dead_code, reason = "each test binary uses a part of it")]

pub(crate) mod host;
pub(crate) mod journey;
pub(crate) mod path;

//! Results as people and programs read them.

pub mod csv;
pub mod json;
pub mod table;

//! Results as people and programs read them.

pub mod csv;
pub mod json;
pub mod list;
pub mod table;

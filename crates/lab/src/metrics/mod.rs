//! From what was observed during a run to the numbers of a table and the points of a plot.

mod log;
mod messages;
mod observation;
mod row;
pub mod stats;
mod timeline;

pub use observation::{Delivery, FlowObservation, Observation};
pub use row::{FlowRow, Row};
pub use timeline::{Bin, Spread, Timeline};

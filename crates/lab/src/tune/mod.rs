//! A controller's values over the [`frontier`](crate::frontier)'s suite: which ones to choose, and what each of them does.
//!
//! A [`Bench`] runs each set of values once over the whole suite, and keeps a [`Pass`]. [`choose`] searches with a fixed budget.
//! [`leave_one_out`] chooses values without one family after the other, from the same passes, and scores them on that family.
//! [`ablation`] tables half, twice and none of each value.

mod ablation;
mod folds;
mod pass;
mod search;
mod values;

pub use self::ablation::{ablation, variations};
pub use self::folds::{Fold, Reached, leave_one_out, report};
pub use self::pass::{Bench, Pass, Runner};
pub use self::search::choose;
pub use self::values::{Change, Parameter, parameters, set};

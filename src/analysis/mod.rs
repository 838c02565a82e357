//! What routes cost when parts fail: pairs lost until somebody reroutes, and what further failures would take.

mod expected;
mod groups;
mod marked;
mod paths;
mod struck;
mod users;

pub use expected::{Expected, expected_over};
pub use groups::{GroupsCut, groups_cut};
pub use marked::Marked;
pub use paths::{ElementLoss, Lost, Paths};
pub use users::Use;

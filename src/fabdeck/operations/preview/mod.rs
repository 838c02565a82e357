//! Elements marked as failed, the paths that they cost, and the routes that engines propose.

pub(crate) mod assume;
pub(crate) mod choice_loss;
pub(crate) mod comparison;
pub(crate) mod engine_names;
pub mod mark_loss;
pub mod path_changes;
pub mod path_preview;
pub mod proposals;
pub(crate) mod transition;
pub mod victims;
pub mod whatif;

pub(crate) mod engine_preview;
pub(crate) mod engine_request;
pub mod engine_table;

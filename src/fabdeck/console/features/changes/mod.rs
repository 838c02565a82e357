//! Changes in a session: offers of plans, questions before an action, the states of changes, and the access
//! to them.

pub(crate) mod apply_actions;
mod apply_rows;
pub mod apply_state;
pub(crate) mod change_actions;
mod change_effect;
mod change_effects;
mod change_messages;
pub mod change_requests;
pub(crate) mod changes_model;
mod changes_panes;
mod choices;
pub mod comparison;
pub mod comparison_state;
mod confirm_rows;
pub mod detail;
pub mod dialogue;
pub(crate) mod dialogue_keys;
mod dialogue_row;
pub mod dialogue_size;
mod draw_course;
pub(crate) mod draw_dialogue;
mod feature;
mod mode_actions;
mod mode_rows;
mod roll_back_rows;
pub(crate) mod screen;
pub mod write_marks;

pub(crate) use feature::FEATURE;

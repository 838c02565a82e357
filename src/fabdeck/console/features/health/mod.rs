//! The screen Health: charts of the whole fabric, and its problems as cards in the order of `fabdeck health`.

pub mod acknowledging;
pub(crate) mod card_text;
pub(crate) mod detail;
mod draw;
mod draw_cards;
mod draw_change_card;
pub(crate) mod draw_charts;
mod draw_lists;
mod draw_wide;
mod feature;
pub mod health_layout;
pub mod health_model;
pub(crate) mod loop_finding;
mod loop_search;
mod pane_frame;
mod problem_actions;
mod problem_age;
pub mod ranking;
mod recorded_events;
pub mod screen;
pub(crate) mod wait_role;

pub(crate) use feature::FEATURE;
